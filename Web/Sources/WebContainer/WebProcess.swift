internal import EventLoop
internal import Glibc

/// A process that shows pages: below this one, in the engine's sandbox.
public struct WebProcess: Sendable, Hashable {
    /// Its number.
    public let pid: Int32
    /// Its part of the memory that it shares, and its own, in bytes; nil: the kernel does not say.
    public let memory: Int?

    /// What the kernel calls it: 15 bytes of its name.
    private static let name = "WebKitWebProces"
    /// How many processes are looked at.
    private static let maximum = 1_024
    /// The longest text of /proc that is read.
    private static let maximumBytes = 64 << 10

    /// Those that there are, by their numbers. The kernel looks at all of their memory: this takes milliseconds, off
    /// the main thread.
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

    /// Each thread has children of its own.
    private static func children(of pid: Int32) -> [Int32] {
        let threads = (try? FolderContents.names(in: "/proc/\(pid)/task")) ?? []
        return threads.flatMap { text("/proc/\(pid)/task/\($0)/children").split(separator: " ") }
            .compactMap { Int32($0) }
    }

    private static func memory(of pid: Int32) -> Int? {
        let line = text("/proc/\(pid)/smaps_rollup").split(separator: "\n").first { $0.hasPrefix("Pss:") }
        return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 1_024 }
    }

    /// Empty: it cannot be read, as where the process has ended.
    private static func text(_ path: String) -> String {
        guard let file = fopen(path, "re") else { return "" }
        defer { fclose(file) }
        let bytes = [UInt8](unsafeUninitializedCapacity: maximumBytes) { buffer, count in
            count = fread(buffer.baseAddress, 1, buffer.count, file)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
