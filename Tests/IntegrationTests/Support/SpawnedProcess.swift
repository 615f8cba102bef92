import Glibc

/// How a process ended.
enum ProcessEnd: Equatable {
    case exited(Int32)
    case killed(by: Int32)

    fileprivate init(status: Int32) {
        self = status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .killed(by: status & 0x7F)
    }
}

/// A process that a test started. Killed and reaped when this goes, if it still runs.
final class SpawnedProcess {
    /// Where one of its standard streams leads.
    enum Stream {
        case nowhere
        /// Read from the start, or appended to.
        case file(String)
        case descriptor(Int32)
    }

    let pid: pid_t
    let command: String
    /// One end of a socket pair whose other end only the process has: it hangs up when the process has ended.
    private let lifeline: Int32
    private var end: ProcessEnd?
    /// Whether it left a core file, or would have, had that been its place.
    private(set) var hasDumpedCore = false

    init(
        _ file: String, _ arguments: [String] = [], environment: [String] = [], input: Stream = .nowhere,
        output: Stream = .nowhere, errors: Stream = .nowhere, handedOver: [Int32] = []
    ) throws {
        command = ([file] + arguments).joined(separator: " ")
        let ends = try connectedPair()
        defer { close(ends.theirs) }
        lifeline = ends.ours

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        Self.connect(input, to: STDIN_FILENO, &actions)
        Self.connect(output, to: STDOUT_FILENO, &actions)
        Self.connect(errors, to: STDERR_FILENO, &actions)
        // By way of numbers above all of theirs, lest one take the place of another, or the lifeline that of one of
        // them.
        let above = max(handedOver.max() ?? 0, ends.theirs, Self.lifelineInChild) + 1
        posix_spawn_file_actions_adddup2(&actions, ends.theirs, above)
        for (index, descriptor) in handedOver.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, above + 1 + Int32(index))
        }
        posix_spawn_file_actions_adddup2(&actions, above, Self.lifelineInChild)
        for index in handedOver.indices {
            posix_spawn_file_actions_adddup2(&actions, above + 1 + Int32(index), Int32(3 + index))
        }
        for index in 0...handedOver.count { posix_spawn_file_actions_addclose(&actions, above + Int32(index)) }

        let path = getenv("PATH").map { ["PATH=" + String(cString: $0)] } ?? []
        var pid = pid_t()
        let code = withCStrings([file] + arguments) { arguments in
            withCStrings(path + environment) { posix_spawn(&pid, file, &actions, nil, arguments, $0) }
        }
        guard code == 0 else {
            close(lifeline)
            throw Failure("\(file) cannot be started: \(String(cString: strerror(code)))")
        }
        self.pid = pid
    }

    /// High enough to be nobody's: descriptors that systemd hands over start at 3.
    private static let lifelineInChild: Int32 = 99

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
        close(lifeline)
    }

    func signal(_ number: Int32) {
        if end == nil { Glibc.kill(pid, number) }
    }

    /// Whether it ends within so many milliseconds.
    func hasEnded(within milliseconds: Int32) -> Bool {
        guard end == nil else { return true }
        var state = pollfd(fd: lifeline, events: 0, revents: 0)
        guard poll(&state, 1, milliseconds) == 1 else { return false }
        if reap(WNOHANG) { return true }
        // It has closed what it did not know, as systemd-socket-activate does, or is about to end.
        usleep(UInt32(clamping: milliseconds) * 1_000)
        return reap(WNOHANG)
    }

    /// Waits for its end.
    @discardableResult
    func wait(_ deadline: Deadline = Deadline()) throws -> ProcessEnd {
        while !hasEnded(within: min(20, deadline.millisecondsLeft)) {
            if deadline.isOver { throw Failure("\(command) does not end") }
        }
        // Set by `hasEnded`.
        guard let end else { throw Failure("\(command) ended, nobody knows how") }
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
func connectedPair() throws -> (ours: Int32, theirs: Int32) {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Failure("no socket pair can be made") }
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

/// What a program said and how it ended.
struct ProgramRun {
    var end: ProcessEnd
    var output: String
    var errors: String
}

/// Runs a program to its end.
func run(_ file: String, _ arguments: [String] = [], environment: [String] = [], input: String = "") throws
    -> ProgramRun
{
    let folder = try TemporaryFolder()
    let process = try SpawnedProcess(
        file, arguments, environment: environment, input: .file(folder.write(input, to: "input")),
        output: .file(folder.file("output")), errors: .file(folder.file("errors")))
    let end = try process.wait()
    return ProgramRun(
        end: end, output: contents(of: folder.file("output")), errors: contents(of: folder.file("errors")))
}
