import Glibc
import TaskRuntime

// The metrics of this process that the kernel provides in /proc.
extension ProcessMetrics {
    /// Reads the current metrics; `nil` if /proc is not available. Takes about ten microseconds, and one more for every
    /// few open descriptors.
    static func read() -> ProcessMetrics? {
        guard let descriptors = countOpenDescriptors(), let pages = fields(of: "/proc/self/statm"), pages.count >= 2,
            let status = fields(of: "/proc/self/stat"), status.count > startTimeField
        else { return nil }
        let pageBytes = UInt64(sysconf(Int32(_SC_PAGESIZE)))
        return ProcessMetrics(
            cpuSeconds: cpuSeconds, residentBytes: (UInt64(pages[1]) ?? 0) * pageBytes,
            virtualBytes: (UInt64(pages[0]) ?? 0) * pageBytes, openDescriptors: descriptors,
            maximumDescriptors: maximumDescriptors,
            startSeconds: startSeconds(ticksAfterBoot: Double(status[startTimeField]) ?? 0))
    }

    /// The index of `starttime` (proc(5)), counted after the program's name, which may contain any character.
    private static let startTimeField = 19

    private static var cpuSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static var maximumDescriptors: UInt64? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur != .max else {
            return nil
        }
        return UInt64(limit.rlim_cur)
    }

    private static func startSeconds(ticksAfterBoot ticks: Double) -> Double {
        var (wall, sinceBoot) = (timespec(), timespec())
        clock_gettime(CLOCK_REALTIME, &wall)
        clock_gettime(CLOCK_BOOTTIME, &sinceBoot)
        let boot = Double(wall.tv_sec - sinceBoot.tv_sec) + Double(wall.tv_nsec - sinceBoot.tv_nsec) / 1e9
        // The precision of the kernel's ticks.
        return ((boot + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))) * 100).rounded() / 100
    }

    private static func countOpenDescriptors() -> UInt64? {
        guard let folder = opendir("/proc/self/fd") else { return nil }
        defer { closedir(folder) }
        var count: UInt64 = 0
        while let entry = readdir(folder) {
            if entry.pointee.d_name.0 != CChar(bitPattern: UInt8(ascii: ".")) { count += 1 }
        }
        // Excludes the descriptor of `/proc/self/fd` itself.
        return count > 0 ? count - 1 : nil
    }

    /// Returns the words of a small file, after the last `)` if there is one.
    private static func fields(of path: String) -> [Substring]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        let text = withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            let count = Glibc.read(file, buffer.baseAddress, buffer.count)
            return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        }
        let start = text.lastIndex(of: ")").map { text.index(after: $0) } ?? text.startIndex
        return text[start...].split { $0 == " " || $0 == "\n" }
    }
}
