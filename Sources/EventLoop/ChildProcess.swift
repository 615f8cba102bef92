import CLibuv
import Glibc

/// How a process ended.
public enum ExitStatus: Sendable, Hashable, CustomStringConvertible {
    /// By itself, with that code from 0 to 255.
    case exited(Int32)
    /// By that signal.
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
    /// Has the kernel kill this process when its parent ends, or the thread of it that started this one: for a process
    /// that is of no use to any other process, and may not be able to end by itself. Ends it immediately where the
    /// parent ends meanwhile.
    public static func endWithIt() {
        if clibuv_end_with(getppid()) == 0 { _exit(0) }
    }
}

/// A process that this one started.
///
/// A running one is kept alive by the loop; it does not have to be closed. Its pipes are streams, which have to be
/// closed.
@LoopActor
public final class ChildProcess {
    /// Where one of the three standard streams leads.
    public enum StandardStream: Sendable, Hashable {
        /// To where ours leads.
        case inherit
        /// To /dev/null.
        case null
        /// To a pipe, whose other end is the stream of that name.
        case pipe
        /// To a descriptor of ours, which stays open here.
        case descriptor(Int32)
    }

    /// Whom a process runs as.
    public struct User: Sendable, Hashable {
        /// The user's number.
        public var id: UInt32
        /// The only group's number.
        public var group: UInt32

        /// A user.
        public init(id: UInt32, group: UInt32) {
            self.id = id
            self.group = group
        }
    }

    /// What to start, and how.
    public struct Options: Sendable {
        /// The program; searched for in PATH where it has no slash.
        public var file: String
        /// What follows the program's name.
        public var arguments: [String]
        /// The whole environment; nil: ours.
        public var environment: [String: String]?
        /// Where it starts; nil: where we are.
        public var workingDirectory: String?
        /// Its standard input.
        public var standardInput = StandardStream.inherit
        /// Its standard output.
        public var standardOutput = StandardStream.inherit
        /// Its standard error.
        public var standardError = StandardStream.inherit
        /// Whom it runs as, without further groups; nil: as this process. Only root can choose.
        public var user: User?
        /// Descriptors of ours that it gets as its descriptors 3, 4 … All others that this module has opened are closed
        /// in it; those of others where ``keepsOthersDescriptors`` is set.
        public var extraDescriptors: [Int32] = []
        /// Make it the leader of a session of its own, so that signals from the terminal do not reach it and
        /// `kill(_:)` reaches the processes that it has started as well.
        public var isSessionLeader = false
        /// Its descendants end with it, whatever session they are in, and ``ChildProcess/exitStatus()`` waits for
        /// that. Only in a process that has called ``ChildProcess/adoptOrphans(controlGroups:)``.
        public var endsDescendants = false

        /// Starts `file` with those arguments; everything else is inherited.
        public init(file: String, arguments: [String] = []) {
            self.file = file
            self.arguments = arguments
        }
    }

    /// Whether children are kept from descriptors, too, that others have left open to them: plugins, libraries, the
    /// program that started this process. For a daemon, which is to set it before it starts any. Not where this process
    /// belongs to another program: Foundation's `Process`, for one, learns of a child's end by a descriptor that the
    /// child has to inherit, and waits for ever without.
    public static var keepsOthersDescriptors = false

    /// Its process id.
    public let pid: Int32
    /// We write, it reads. Only for `.pipe`; the owner closes it, which ends the process' input.
    public private(set) var standardInput: UnixStream?
    /// It writes, we read. Only for `.pipe`; the owner closes it.
    public private(set) var standardOutput: UnixStream?
    /// It writes, we read. Only for `.pipe`; the owner closes it.
    public private(set) var standardError: UnixStream?

    private let isSessionLeader: Bool
    private let family: ProcessFamily?
    private var status: ExitStatus?
    /// It has ended, and so has what was to end with it.
    private var isOver = false
    private var waiting: [CheckedContinuation<ExitStatus, Never>] = []
    private var handle: LoopHandle<uv_process_t>?

    /// Starts a process.
    /// - Throws: `ENOENT` (no such program or directory), `EACCES`, `EAGAIN` (too many processes), `EMFILE` …
    public static func spawn(_ options: Options) throws(SystemError) -> ChildProcess {
        if keepsOthersDescriptors { clibuv_keep_descriptors() }
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
    /// with ``Options/endsDescendants``. Where the service manager has delegated this process's control group
    /// (cgroup v2) to it, each such child also enters a group of its own before it executes its program. Processes
    /// that other code in this process starts are left alone. Once, on the loop thread.
    ///
    /// - Parameter prefix: how the names of these groups begin; a number follows. Empty groups with such names that are
    ///   there already are removed. nil: no groups are made.
    /// - Throws: `EINVAL` where the kernel has no subreapers.
    public static func adoptOrphans(controlGroups prefix: String? = nil) throws(SystemError) {
        try ProcessFamily.adoptOrphans(controlGroups: prefix)
    }

    /// The directory of the groups that children with ``Options/endsDescendants`` get; nil where they get none.
    public static var controlGroups: String? { ControlGroup.location?.directory }

    /// To be awaited right before a child with ``Options/endsDescendants`` is started: where it gets a control group,
    /// the kernel has to wait for some milliseconds, which then do not pass on the loop thread. Else returns
    /// immediately.
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
            // The caller does not get this process: it must not stay.
            kill(SIGKILL)
            for stream in [standardInput, standardOutput, standardError] { stream?.close() }
            throw error
        }
    }

    /// Waits for the end. Returns immediately where the process has ended, and what was to end with it.
    public func exitStatus() async -> ExitStatus {
        if let status, isOver { return status }
        return await withCheckedContinuation { waiting.append($0) }
    }

    /// Whether it has ended; what was to end with it may not have.
    public var hasEnded: Bool { status != nil }

    /// Sends a signal to it, and to all of its session's first process group where it leads one. Does nothing once it
    /// has ended.
    public func kill(_ signal: Int32 = SIGTERM) {
        guard status == nil else { return }
        // It may have ended without our knowing yet; until it is reported, no other process can have its id.
        _ = Glibc.kill(isSessionLeader ? -pid : pid, signal)
    }

    /// What a process may use.
    public enum Resource: Int32, Sendable {
        /// Its address space, in bytes.
        case addressSpaceBytes = 0
        /// Open descriptors.
        case descriptors = 1
        /// Processes of its user; means nothing for root.
        case processes = 2
        /// The size of a core file, in bytes.
        case coreBytes = 3
    }

    /// Bounds what it may use from now on; what it starts inherits that. Does nothing once it has ended.
    /// - Throws: `EPERM` where this process may not do that, as under a filter of system calls.
    public func limit(_ resource: Resource, to value: UInt64) throws(SystemError) {
        guard status == nil, clibuv_limit(pid, resource.rawValue, value) != 0, errno != ESRCH else { return }
        throw SystemError(code: errno, operation: "bound the \(resource) of", subject: "process \(pid)")
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
        // The group's number belongs to no other group as long as a process is in it; later it may be another's.
        if isSessionLeader, family != nil { _ = Glibc.kill(-pid, SIGKILL) }
        if let family { family.end { self.over(status) } } else { over(status) }
    }

    private func over(_ status: ExitStatus) {
        isOver = true
        for continuation in waiting { continuation.resume(returning: status) }
        waiting.removeAll()
    }
}
