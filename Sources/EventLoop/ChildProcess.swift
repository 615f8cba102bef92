import CLibuv
import Glibc

/// The way in which a process ended.
public enum ExitStatus: Sendable, Hashable, CustomStringConvertible {
    /// It exited with this code, from 0 to 255.
    case exited(Int32)
    /// This signal ended it.
    case signalled(Int32)

    /// "exit status 1", "signal 9".
    public var description: String {
        switch self {
        case .exited(let code): "exit status \(code)"
        case .signalled(let signal): "signal \(signal)"
        }
    }

    /// Whether it exited with 0.
    public var isSuccess: Bool { self == .exited(0) }
}

/// The process that started this one.
public enum ParentProcess {
    /// Requests that the kernel kill this process when its parent ends, or the parent's thread that started it. For a
    /// process that is useless without its parent, and may not be able to end by itself. Ends this process immediately
    /// if the parent ends in the meantime.
    public static func endWithIt() {
        if clibuv_end_with(getppid()) == 0 { _exit(0) }
    }
}

/// A process that this one started.
///
/// The loop keeps a running one alive; it needs no closing. Its pipes are streams, which must be closed.
@LoopActor
public final class ChildProcess {
    /// The target of one of the three standard streams.
    public enum StandardStream: Sendable, Hashable {
        /// The same as that of this process.
        case inherit
        /// /dev/null.
        case null
        /// A pipe, whose other end is the property with the stream's name.
        case pipe
        /// A descriptor of this process, which stays open here.
        case descriptor(Int32)
    }

    /// The user as which a process runs.
    public struct User: Sendable, Hashable {
        /// The user id.
        public var id: UInt32
        /// The id of the only group.
        public var group: UInt32

        /// Creates a user.
        public init(id: UInt32, group: UInt32) {
            self.id = id
            self.group = group
        }
    }

    /// The program to start, and its settings.
    public struct Options: Sendable {
        /// The program; searched for in PATH if it contains no slash.
        public var file: String
        /// The arguments after the program's name.
        public var arguments: [String]
        /// The whole environment; `nil` for that of this process.
        public var environment: [String: String]?
        /// The working directory; `nil` for that of this process.
        public var workingDirectory: String?
        /// Its standard input.
        public var standardInput = StandardStream.inherit
        /// Its standard output.
        public var standardOutput = StandardStream.inherit
        /// Its standard error.
        public var standardError = StandardStream.inherit
        /// The user as which it runs, without further groups; `nil` for that of this process. Only root can choose.
        public var user: User?
        /// Descriptors of this process that it receives as its descriptors 3, 4 … All others that this module has
        /// opened are closed in it. Those of other code are closed if ``closesOthersDescriptors`` is set.
        public var extraDescriptors: [Int32] = []
        /// Whether it leads its own session. Signals from the terminal do not reach it then, and `kill(_:)` also
        /// reaches the processes that it has started.
        public var isSessionLeader = false
        /// Whether its descendants end with it, in any session, and ``ChildProcess/exitStatus()`` waits for that. Only
        /// in a process that has called ``ChildProcess/adoptOrphans(controlGroups:)``.
        public var endsDescendants = false

        /// Creates options that start `file` with these arguments and inherit everything else.
        public init(file: String, arguments: [String] = []) {
            self.file = file
            self.arguments = arguments
        }
    }

    /// Whether inheritable descriptors of other code are closed in children, too: those of plugins, of libraries, and
    /// of the program that started this process. A daemon must set it before it starts the first child. It must not be
    /// set in a process whose code needs inheritance: Foundation's `Process`, for example, detects a child's end by a
    /// descriptor that the child must inherit, and waits for ever without it.
    public static var closesOthersDescriptors = false

    /// The process id.
    public let pid: Int32
    /// The stream to its standard input; `nil` unless it is a `.pipe`. The owner closes it, which ends the process's
    /// input.
    public private(set) var standardInput: UnixStream?
    /// The stream from this output; `nil` unless it is a `.pipe`. The owner closes it.
    public private(set) var standardOutput: UnixStream?
    /// The stream from this output; `nil` unless it is a `.pipe`. The owner closes it.
    public private(set) var standardError: UnixStream?

    private let isSessionLeader: Bool
    private let family: ProcessFamily?
    private var status: ExitStatus?
    /// Whether the process and the descendants that end with it have ended.
    private var isOver = false
    private var waiting: [CheckedContinuation<ExitStatus, Never>] = []
    private var handle: LoopHandle<uv_process_t>?

    /// Starts a process.
    /// - Throws: `ENOENT` (no such program or directory), `EACCES`, `EAGAIN` (too many processes), `EMFILE` …
    public static func spawn(_ options: Options) throws(SystemError) -> ChildProcess {
        if closesOthersDescriptors { clibuv_close_descriptors_on_exec() }
        let pipes = try StandardPipes(options)
        let handle = LoopHandle<uv_process_t>(zeroed: ())
        let family = options.endsDescendants ? ProcessFamily.begin() : nil
        let status = options.withProcessOptions(pipes, exited: exited) { options in
            guard let family else { return uv_spawn(Loop.shared.raw, handle.raw, options) }
            return family.withMembership { clibuv_spawn(Loop.shared.raw, handle.raw, options, $0) }
        }
        if status < 0 {
            family?.end {}
            handle.close()
            throw SystemError(code: -status, operation: "start", subject: options.file)
        }
        return try ChildProcess(handle, pipes, family, isSessionLeader: options.isSessionLeader)
    }

    /// Makes this process the parent of descendants that have lost theirs (a subreaper), and ends those of children
    /// with ``Options/endsDescendants``. If the service manager has delegated this process's control group (cgroup v2)
    /// to it, each such child also enters its own group before it executes its program. Processes that other code in
    /// this process starts are not affected. To be called once, on the loop thread.
    ///
    /// - Parameter prefix: The prefix of the names of these groups; a number follows. Existing empty groups with such
    ///   names are removed. `nil` to create no groups.
    /// - Throws: `EINVAL` if the kernel has no subreapers.
    public static func adoptOrphans(controlGroups prefix: String? = nil) throws(SystemError) {
        try ProcessFamily.adoptOrphans(controlGroups: prefix)
    }

    /// The directory of the groups of children with ``Options/endsDescendants``; `nil` if they get none.
    public static var controlGroups: String? { ControlGroup.location?.directory }

    /// Prepares the start of a child with ``Options/endsDescendants``; must be awaited right before it. If the child
    /// gets a control group, the kernel waits for some milliseconds, which this moves off the loop thread. Otherwise
    /// returns immediately.
    public static func prepareGroup() async { await ControlGroup.prepare() }

    private init(
        _ handle: LoopHandle<uv_process_t>, _ pipes: consuming StandardPipes, _ family: ProcessFamily?,
        isSessionLeader: Bool
    ) throws(SystemError) {
        pid = handle.raw.pointee.pid
        self.family = family
        ProcessFamily.noteStart(of: pid)
        self.isSessionLeader = isSessionLeader
        self.handle = handle
        handle.retain(self)
        do {
            standardInput = try pipes.input.ourStream()
            standardOutput = try pipes.output.ourStream()
            standardError = try pipes.error.ourStream()
        } catch {
            // The caller does not receive this process, so it must end.
            kill(SIGKILL)
            for stream in [standardInput, standardOutput, standardError] { stream?.close() }
            throw error
        }
    }

    /// Waits until the process and the descendants that end with it have ended. Returns immediately if they have.
    public func exitStatus() async -> ExitStatus {
        if let status, isOver { return status }
        return await withCheckedContinuation { waiting.append($0) }
    }

    /// Whether the process itself has ended; its descendants may still run.
    public var hasEnded: Bool { status != nil }

    /// Sends a signal to it; if it leads a session, to the first process group of the session. Does nothing after its
    /// end.
    public func kill(_ signal: Int32 = SIGTERM) {
        guard status == nil else { return }
        // It may have ended without a report yet. Until the report no other process can have its id.
        _ = Glibc.kill(isSessionLeader ? -pid : pid, signal)
    }

    /// A resource that a process uses.
    public enum Resource: Int32, Sendable {
        /// The address space, in bytes.
        case addressSpaceBytes = 0
        /// Open descriptors.
        case descriptors = 1
        /// The processes of its user; no effect for root.
        case processes = 2
        /// The size of a core file, in bytes.
        case coreBytes = 3
    }

    /// Limits a resource from now on; processes that it starts inherit the limit. Does nothing after its end.
    /// - Throws: `EPERM` if this process is not allowed to do that, for example by a filter of system calls.
    public func limit(_ resource: Resource, to value: UInt64) throws(SystemError) {
        guard status == nil, clibuv_limit(pid, resource.rawValue, value) != 0, errno != ESRCH else { return }
        throw SystemError(code: errno, operation: "limit the \(resource) of", subject: "process \(pid)")
    }

    private static let exited: uv_exit_cb = { handle, code, signal in
        guard let process = owner(handle?.pointee.data, as: ChildProcess.self) else { return }
        LoopActor.assumeIsolated {
            process.ended(signal != 0 ? .signalled(signal) : .exited(Int32(truncatingIfNeeded: code)))
        }
    }

    private func ended(_ status: ExitStatus) {
        self.status = status
        handle?.close()
        handle = nil
        ProcessFamily.noteEnd(of: pid)
        // The group's id belongs to no other group as long as a process is in it; later another group may get it.
        if isSessionLeader, family != nil { _ = Glibc.kill(-pid, SIGKILL) }
        if let family { family.end { self.over(status) } } else { over(status) }
    }

    private func over(_ status: ExitStatus) {
        isOver = true
        for continuation in waiting { continuation.resume(returning: status) }
        waiting.removeAll()
    }
}
