internal import EventLoop
internal import Glibc

/// A process that shows pages: a descendant of this process, in the engine's sandbox.
public struct WebProcess: Sendable, Hashable {
    /// The process id.
    public let pid: Int32
    /// Its share of shared memory plus its own memory, in bytes; `nil` if the kernel does not report it.
    public let memory: Int?

    /// The kernel's name of the process: the first 15 bytes.
    private static let name = "WebKitWebProces"
    /// The maximum number of examined processes.
    private static let maximum = 1_024
    /// The maximum number of bytes that are read from a file of /proc.
    private static let maximumBytes = 64 << 10

    /// Returns the web processes, ordered by process id. The kernel examines all of their memory: this takes
    /// milliseconds, off the main thread.
    @concurrent
    public static func all() async -> [WebProcess] {
        var processes = children(of: getpid())
        var index = 0
        while index < processes.count, processes.count < maximum {
            processes += children(of: processes[index])
            index += 1
        }
        return processes.filter { text("/proc/\($0)/comm").hasPrefix(name) }.sorted()
            .map { WebProcess(pid: $0, memory: memory(of: $0)) }
    }

    /// Returns the children of a process; each of its threads has children of its own.
    private static func children(of pid: Int32) -> [Int32] {
        let threads = (try? FolderContents.names(in: "/proc/\(pid)/task")) ?? []
        return threads.flatMap { text("/proc/\(pid)/task/\($0)/children").split(separator: " ") }
            .compactMap { Int32($0) }
    }

    private static func memory(of pid: Int32) -> Int? {
        let line = text("/proc/\(pid)/smaps_rollup").split(separator: "\n").first { $0.hasPrefix("Pss:") }
        return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 1_024 }
    }

    /// Returns the text of a file; empty if it cannot be read, for example because the process has ended.
    private static func text(_ path: String) -> String {
        guard let file = fopen(path, "re") else { return "" }
        defer { fclose(file) }
        let bytes = [UInt8](unsafeUninitializedCapacity: maximumBytes) { buffer, count in
            count = fread(buffer.baseAddress, 1, buffer.count, file)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
