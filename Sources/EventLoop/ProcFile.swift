import CLibuv
import Glibc

/// Files whose text the kernel generates when they are read: those of /proc and of control groups.
enum ProcFile {
    /// Returns the whole text.
    ///
    /// - Returns: The text; `nil` if the file cannot be opened or read, for example because its process has ended.
    static func text(_ path: String) -> String? {
        let file = clibuv_open(path, O_RDONLY, 0)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var text: [UInt8] = []
        let isWhole = withUnsafeTemporaryAllocation(byteCount: 8 << 10, alignment: 1) { buffer in
            while true {
                let count = read(file, buffer.baseAddress, buffer.count)
                guard count > 0 else { return count == 0 }
                text += buffer[..<count]
            }
        }
        return isWhole ? String(decoding: text, as: UTF8.self) : nil
    }

    /// Whether a debugger or another tracer is attached to a process.
    static func isTraced(_ pid: Int32) -> Bool {
        let lines = text("/proc/\(pid)/status")?.split(separator: "\n") ?? []
        guard let line = lines.first(where: { $0.hasPrefix("TracerPid:") }) else { return false }
        return line.split(separator: "\t").last != "0"
    }

    /// Writes to an existing file.
    ///
    /// - Returns: Whether the kernel accepted the text.
    @discardableResult
    static func write(_ text: String, to path: String) -> Bool {
        let file = clibuv_open(path, O_WRONLY, 0)
        guard file >= 0 else { return false }
        defer { close(file) }
        return Glibc.write(file, text, text.utf8.count) == text.utf8.count
    }
}
