import CProcess
import Glibc

/// How a process ended.
public enum ProcessEnd: Equatable, Sendable {
    /// With a status.
    case exited(Int32)
    /// By a signal.
    case killed(by: Int32)

    fileprivate init(status: Int32) {
        self = status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .killed(by: status & 0x7F)
    }
}

/// A process that a test started. Killed and reaped when this goes, if it still runs.
///
/// Tests start processes with this and not with Foundation's `Process`, which can crash where more than about 1,300
/// descriptors are open: it reads past the end of the list of them. It also hands the test program's own output on, so
/// that a process which is left behind after a crash keeps the reader of that output waiting.
public final class SpawnedProcess {
    /// Where one of its standard streams leads.
    public enum Stream {
        /// To `/dev/null`.
        case nowhere
        /// Read from the start, or appended to.
        case file(String)
        /// To the same open file as a descriptor of this process.
        case descriptor(Int32)
    }

    /// Its process id; not another's before this goes.
    public let pid: pid_t
    /// The program and its arguments, for a failure's sentence.
    public let command: String
    /// Refers to the process: readable once it has ended.
    private let descriptor: Int32
    private var end: ProcessEnd?
    /// Whether it left a core file, or would have, had that been its place.
    public private(set) var hasDumpedCore = false

    /// - Parameters:
    ///   - file: the program's path.
    ///   - environment: variables, NAME=VALUE. PATH is this process's where it is not among them.
    ///   - folder: where it runs; nil: where this process does.
    ///   - handedOver: descriptors that it gets as 3 and upwards, as systemd hands over sockets.
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
        // By way of numbers above all of theirs, lest one take the place of another. Those that systemd hands over
        // start at 3.
        let above = max(handedOver.max() ?? 0, Int32(2 + handedOver.count)) + 1
        for (index, descriptor) in handedOver.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, above + Int32(index))
        }
        for index in handedOver.indices {
            posix_spawn_file_actions_adddup2(&actions, above + Int32(index), Int32(3 + index))
        }
        // Nothing else is inherited: other tests, which run meanwhile, open descriptors that are not closed at exec.
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
        // Nobody else reaps it, so the number is its own until `reap`.
        descriptor = pidfd_open(pid, 0)
        guard descriptor >= 0 else {
            Glibc.kill(pid, SIGKILL)
            waitpid(pid, nil, 0)
            throw TestFailure("\(file) cannot be watched: \(String(cString: strerror(errno)))")
        }
    }

    /// It takes the signals that the tests ignore, as all do that nohup(1) starts.
    private static func takeSignals(_ attributes: inout posix_spawnattr_t) {
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
    }

    private static func closeAll(from first: Int32, _ actions: inout posix_spawn_file_actions_t) {
        typealias CloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
        // Looked up by name, because the header declares it for _GNU_SOURCE alone; glibc has had it since 2.34.
        guard let symbol = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else { return }
        // The type is that of the header.
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

    /// Sends it a signal; does nothing once it has ended.
    public func signal(_ number: Int32) {
        if end == nil { Glibc.kill(pid, number) }
    }

    /// Whether it ends within so many milliseconds.
    public func hasEnded(within milliseconds: Int32) -> Bool {
        guard end == nil else { return true }
        var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&state, 1, milliseconds) == 1 && reap(WNOHANG)
    }

    /// Waits for its end.
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

/// Two sockets that are connected to each other. No process that is started at the same time gets them.
public func connectedPair() throws -> (ours: Int32, theirs: Int32) {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw TestFailure("no socket pair can be made") }
    return (ends[0], ends[1])
}

/// Hands `body` the texts as a null-terminated array of C strings.
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
