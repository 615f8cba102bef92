import Glibc

/// A program that this one started. It ends with this program at the latest.
final class ChildProcess {
    let pid: pid_t
    private let name: String
    private var output: Int32?
    private var status: Int32?

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - core: The one core on which it may run; `nil` for any.
    ///   - environment: Variables in addition to the default ones.
    ///   - log: The file for its output; `nil` if ``finish()`` returns its standard output.
    ///   - tidiesUp: Whether it is started even while this program is ending.
    init(
        _ arguments: [String], core: Int? = nil, environment: [String: String] = [:], log: String? = nil,
        tidiesUp: Bool = false
    ) throws {
        if Interruption.hasCome, !tidiesUp { throw Failure("interrupted") }
        let arguments = (core.map { ["taskset", "-c", String($0)] } ?? []) + arguments
        name = arguments[core == nil ? 0 : 3].split(separator: "/").last.map(String.init) ?? "?"
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var ends: [Int32] = [-1, -1]
        if let log {
            posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            posix_spawn_file_actions_adddup2(&actions, 1, 2)
        } else {
            guard pipe(&ends) == 0 else { throw Failure("no pipe: \(lastError())") }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
            output = ends[0]
        }
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        var settings: [UnsafeMutablePointer<CChar>?] = Self.environment(environment).map { strdup($0) } + [nil]
        defer { for text in words + settings { free(text) } }
        var pid: pid_t = 0
        let error = posix_spawnp(&pid, arguments[0], &actions, nil, &words, &settings)
        if log == nil { close(ends[1]) }
        self.pid = pid
        guard error == 0 else { throw Failure("\(arguments[0]) does not start: \(String(cString: strerror(error)))") }
        Interruption.add(pid)
    }

    private static func environment(_ added: [String: String]) -> [String] {
        var lines: [String] = []
        var next = environ
        while let line = next.pointee {
            lines.append(String(cString: line))
            next += 1
        }
        return lines.filter { line in !added.keys.contains { line.hasPrefix($0 + "=") } }
            + added.map { "\($0.key)=\($0.value)" }
    }

    /// Waits for a program that ends by itself, and returns its output.
    ///
    /// - Throws: a ``Failure`` if its status is not 0.
    func finish() throws -> String {
        let text = readOutput(until: nil)
        let status = wait()
        if Interruption.hasCome, status != 0 { throw Failure("interrupted") }
        guard status == 0 else { throw Failure("\(name) ended with status \(status) \(text)") }
        return text
    }

    /// Returns the first line of the program's output, as soon as it is complete.
    func firstLine() -> String { readOutput(until: UInt8(ascii: "\n")) }

    private func readOutput(until end: UInt8?) -> String {
        guard let output else { return "" }
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while read(output, &byte, 1) == 1, byte != end { bytes.append(byte) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the output that was not read before; does not wait.
    func readAvailable() -> [UInt8] {
        guard let output else { return [] }
        _ = fcntl(output, F_SETFL, O_NONBLOCK)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(output, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
        return bytes
    }

    /// Ends a program that does not end by itself: SIGTERM, and after ten seconds SIGKILL.
    func stop() {
        guard status == nil else { return }
        kill(pid, SIGTERM)
        for _ in 0..<1000 where !hasEnded { usleep(10_000) }
        if !hasEnded { kill(pid, SIGKILL) }
        _ = wait()
    }

    /// Whether the program has ended.
    var hasEnded: Bool {
        if status == nil {
            var raw: Int32 = 0
            if waitpid(pid, &raw, WNOHANG) == pid { note(raw) }
        }
        return status != nil
    }

    func wait() -> Int32 {
        var raw: Int32 = 0
        while status == nil {
            if waitpid(pid, &raw, 0) == pid { note(raw) } else if errno != EINTR { note(0xFF00) }
        }
        return status ?? 0
    }

    private func note(_ raw: Int32) {
        status = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : 128 + (raw & 0x7F)
        Interruption.remove(pid)
    }

    deinit {
        stop()
        if let output { close(output) }
    }
}

/// The error of a measurement, as a sentence.
struct Failure: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

func lastError() -> String { String(cString: strerror(errno)) }
