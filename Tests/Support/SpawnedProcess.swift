import CProcess
import Glibc

/// How a process ended.
public enum ProcessEnd: Equatable, Sendable {
    /// It exited with a status.
    case exited(Int32)
    /// It was killed by a signal.
    case killed(by: Int32)

    fileprivate init(status: Int32) {
        self = status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .killed(by: status & 0x7F)
    }
}

/// A process that a test started. `deinit` kills and reaps it if it still runs.
///
/// Tests use this instead of Foundation's `Process`, which can crash if more than about 1,300 descriptors are open: it
/// reads past the end of their list. It also passes on the output of the test program, so that a process that remains
/// after a crash keeps the reader of that output waiting.
public final class SpawnedProcess {
    /// The target of a standard stream.
    public enum Stream {
        /// `/dev/null`.
        case nowhere
        /// A file that is read from the start, or appended to.
        case file(String)
        /// The same open file as a descriptor of this process.
        case descriptor(Int32)
    }

    /// The process ID. It is not reused during the lifetime of this object.
    public let pid: pid_t
    /// The program and its arguments, for error messages.
    public let command: String
    /// A pidfd, which is readable when the process has ended.
    private let descriptor: Int32
    private var end: ProcessEnd?
    /// Whether the process dumped core, even if no file was written.
    public private(set) var hasDumpedCore = false

    /// - Parameters:
    ///   - file: The path of the program.
    ///   - environment: Variables as NAME=VALUE. Without PATH among them, that of this process is added.
    ///   - folder: The working directory; `nil` for the one of this process.
    ///   - handedOver: Descriptors that the process gets as 3 and upwards, as systemd passes sockets.
    public init(
        _ file: String, _ arguments: [String] = [], environment: [String] = [], folder: String? = nil,
        input: Stream = .nowhere, output: Stream = .nowhere, errors: Stream = .nowhere, handedOver: [Int32] = []
    ) throws {
        command = ([file] + arguments).joined(separator: " ")
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        Self.connect(input, to: STDIN_FILENO, &actions)
        Self.connect(output, to: STDOUT_FILENO, &actions)
        Self.connect(errors, to: STDERR_FILENO, &actions)
        // Duplicates them first to numbers above all of them, so that none overwrites another. Descriptors from systemd
        // start at 3.
        let above = max(handedOver.max() ?? 0, Int32(2 + handedOver.count)) + 1
        for (index, descriptor) in handedOver.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, above + Int32(index))
        }
        for index in handedOver.indices {
            posix_spawn_file_actions_adddup2(&actions, above + Int32(index), Int32(3 + index))
        }
        // No other descriptor is inherited: other tests, which run at the same time, open descriptors without
        // close-on-exec.
        Self.closeAll(from: Int32(3 + handedOver.count), &actions)

        if let folder { posix_spawn_file_actions_addchdir_np(&actions, folder) }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        Self.takeSignals(&attributes)

        let hasPath = environment.contains { $0.hasPrefix("PATH=") }
        let path = hasPath ? [] : getenv("PATH").map { ["PATH=" + String(cString: $0)] } ?? []
        var pid = pid_t()
        let code = try SpawnGate.pass {
            withCStrings([file] + arguments) { arguments in
                withCStrings(path + environment) { posix_spawn(&pid, file, &actions, &attributes, arguments, $0) }
            }
        }
        guard code == 0 else { throw TestFailure("\(file) cannot be started: \(String(cString: strerror(code)))") }
        self.pid = pid
        // Only this object reaps the process, so its ID is not reused before `reap`.
        descriptor = pidfd_open(pid, 0)
        guard descriptor >= 0 else {
            Glibc.kill(pid, SIGKILL)
            waitpid(pid, nil, 0)
            throw TestFailure("\(file) cannot be watched: \(String(cString: strerror(errno)))")
        }
    }

    /// Restores the default actions of signals that the tests may ignore, for example under nohup(1).
    private static func takeSignals(_ attributes: inout posix_spawnattr_t) {
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
    }

    private static func closeAll(from first: Int32, _ actions: inout posix_spawn_file_actions_t) {
        typealias CloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
        // Found by name, because the header declares it only with _GNU_SOURCE; glibc has it since 2.34.
        guard let symbol = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else { return }
        // The type matches the header.
        _ = unsafeBitCast(symbol, to: CloseFrom.self)(&actions, first)
    }

    private static func connect(_ stream: Stream, to number: Int32, _ actions: inout posix_spawn_file_actions_t) {
        switch stream {
        case .nowhere: posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
        case .file(let path):
            let flags = number == STDIN_FILENO ? O_RDONLY : O_WRONLY | O_CREAT | O_APPEND
            posix_spawn_file_actions_addopen(&actions, number, path, flags, 0o644)
        case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, number)
        }
    }

    deinit {
        if end == nil {
            Glibc.kill(pid, SIGKILL)
            reap(0)
        }
        close(descriptor)
    }

    /// Sends a signal to the process; does nothing if it has ended.
    public func signal(_ number: Int32) {
        if end == nil { Glibc.kill(pid, number) }
    }

    /// Whether the process ends within the specified number of milliseconds.
    public func hasEnded(within milliseconds: Int32) -> Bool {
        guard end == nil else { return true }
        var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&state, 1, milliseconds) == 1 && reap(WNOHANG)
    }

    /// Waits for the end of the process.
    @discardableResult
    public func wait(_ deadline: Deadline = Deadline()) throws -> ProcessEnd {
        while !hasEnded(within: deadline.millisecondsLeft) {
            if deadline.isOver { throw TestFailure("\(command) does not end") }
        }
        // Set by `hasEnded`.
        guard let end else { throw TestFailure("\(command) ended, nobody knows how") }
        return end
    }

    @discardableResult
    private func reap(_ options: Int32) -> Bool {
        var status: Int32 = 0
        var found = waitpid(pid, &status, options)
        while found < 0, errno == EINTR { found = waitpid(pid, &status, options) }
        guard found == pid else { return false }
        end = ProcessEnd(status: status)
        hasDumpedCore = status & 0x80 != 0
        return true
    }
}

/// Creates two connected sockets. Processes that start at the same time do not inherit them.
public func connectedPair() throws -> (ours: Int32, theirs: Int32) {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw TestFailure("no socket pair can be made") }
    return (ends[0], ends[1])
}

/// Calls `body` with the texts as a null-terminated array of C strings.
private func withCStrings<R>(
    _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> R
) -> R {
    var pointers = texts.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    return pointers.withUnsafeMutableBufferPointer { buffer in
        guard let start = buffer.baseAddress else { preconditionFailure("the array holds at least its end") }
        return body(start)
    }
}
