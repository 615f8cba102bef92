public import BridgeJSON

/// The environment that runs a plugin's code: this process or another one. The runtime sends requests to the host; the
/// host answers through its ``PluginInstance``. Loop thread only.
public protocol TaskHost: AnyObject {
    /// The kind of isolation, for `bridge.plugins`: "none" in the daemon's own process.
    var isolation: String { get }
    /// Whether ``room(for:)`` must be called before each call.
    var choosesCalls: Bool { get }
    /// Returns whether a call can begin now. A call that cannot begin waits until ``PluginInstance/roomWasMade()`` or
    /// ``PluginInstance/roomWasMade(forCallsOf:)`` makes the runtime ask again.
    func room(for call: Call) -> HostRoom
    /// Begins a piece of work. It ends with ``PluginInstance/reply(_:_:)`` or ``PluginInstance/fail(_:_:)``, possibly
    /// before this returns.
    ///
    /// - Parameter options: Borrowed until this returns; readable for 64 bytes past their end.
    func perform(_ work: PluginWork, for call: Call, options: UnsafeRawBufferPointer)
    /// Cancels the work on this call. An answer that still arrives reports that the work has ended.
    func cancel(_ call: CallHandle, reason: CancelReason)
    /// Ends the processes that work on lost calls, which have ended; does nothing if that would affect other calls.
    ///
    /// - Parameter reason: The end of a sentence about the plugin's process.
    func abandon(because reason: String)
    /// Reports a change of a session.
    func notify(_ change: SessionChange, _ session: Session)
    /// Reports that the ``PluginInstance/marks`` of its tasks have changed. The plugin is informed before the next
    /// call.
    func noteMarks()
    /// Ends everything that runs for the plugin: it was removed.
    func end()
    /// Its processes, as holders of ends of streams. When one of them takes its first end or releases its last one,
    /// ``PluginInstance/noteLessWork()`` is called.
    var streamHolders: [StreamHolder] { get }
    /// The status of its processes; `nil` if it runs in the daemon's process.
    var processStatus: PluginProcessStatus? { get }
    /// The longest time for which its code blocked its loop within the last five to ten seconds; of several processes,
    /// the maximum. `nil` if unknown, as for a process without a loop. For a plugin in the daemon's process, times
    /// under half a second count as zero.
    var lag: Duration? { get }
}

extension TaskHost {
    /// The default: calls can always begin.
    public var choosesCalls: Bool { false }
    /// The default: calls can always begin.
    public func room(for call: Call) -> HostRoom { .free }
    /// The default: the plugin does not use marks.
    public func noteMarks() {}
    /// The default: the plugin runs in the daemon's process, so nothing can be ended.
    public func abandon(because reason: String) {}
    /// The default: nothing runs outside the daemon's process.
    public func end() {}
    /// The default: the plugin itself holds its ends.
    public var streamHolders: [StreamHolder] { [] }
    /// The default: the plugin runs in the daemon's process.
    public var processStatus: PluginProcessStatus? { nil }
    /// The default: unknown.
    public var lag: Duration? { nil }
}

/// Whether a host can begin a call now, and what a call must wait for.
public enum HostRoom: Sendable {
    /// It can.
    case free
    /// The process for this caller does not read its input. Calls of others may begin.
    case unread
    /// There is no process for the call, nor for any caller without one.
    case full
}

/// The status of a plugin in a process of its own.
public struct PluginProcessStatus: Sendable {
    /// The process id; `nil` if there is no process at present.
    public var pid: Int32?
    /// The number of restarts after faults.
    public var restarts: Int
    /// The last fault, as a sentence; `nil` if there was none.
    public var lastFault: String?
    /// The status of its pool of processes, each of which serves its own calls; `nil` if one process serves all calls.
    public var pool: PoolStatus?

    /// Creates a status.
    public init(pid: Int32?, restarts: Int, lastFault: String?, pool: PoolStatus? = nil) {
        self.pid = pid
        self.restarts = restarts
        self.lastFault = lastFault
        self.pool = pool
    }
}

/// The status of the processes in a plugin's pool.
public struct PoolStatus: Sendable, Equatable {
    /// The minimum and maximum number of processes.
    public var minimum, maximum: Int
    /// The unit that a process is assigned to: "call" or "session".
    public var per: String
    /// The number of processes that wait to be used, and of those in use.
    public var reusable = 0, inUse = 0
    /// The number of processes that are not ready yet.
    public var starting = 0
    /// How often a process was ready when it was needed, and how often one had to be started first.
    public var warmStarts = 0, coldStarts = 0
    /// The number of processes that were replaced without a fault.
    public var recycled = 0

    /// Creates the status of a pool without processes.
    public init(minimum: Int, maximum: Int, per: String) {
        self.minimum = minimum
        self.maximum = maximum
        self.per = per
    }
}

/// A piece of work that a plugin can be asked to do.
public enum PluginWork: Sendable, Hashable {
    /// Check its section of the configuration and keep it.
    case configure
    /// Check another section while the plugin is running, and change nothing.
    case checkConfiguration
    /// Apply another section.
    case reconfigure
    /// Prepare to take calls.
    case start
    /// Run the launch worker of this number.
    case launch(Int)
    /// Work on a call of the task of this number.
    case task(Int)
    /// Decide about a call, for the interceptor of this number.
    case intercept(Int)
    /// Describe what the manifest does not contain about the tasks.
    case describe
    /// Stop after finishing its work.
    case stop
    /// Return the session data for the plugin of the next daemon.
    case saveSessions
    /// Restore the session data of the previous daemon's plugin.
    case restoreSessions
}

/// A plugin's description of itself.
public struct PluginManifest: Sendable {
    /// A launch worker of a plugin.
    public struct Worker: Sendable {
        /// Its name, unique in the daemon.
        public var name: String
        /// When it runs.
        public var phase: LaunchPhase
        /// The launch workers that must have run before it.
        public var after: [String]
        /// Whether the daemon cannot start without it.
        public var isRequired: Bool
    }

    /// The plugin's name, which is also the name of its section of the configuration.
    public var name: String
    /// Its version.
    public var version: String
    /// Its tasks, in the order of their numbers.
    public var tasks: [TaskDescription]
    /// The events that it sends.
    public var events: [EventSummary]
    /// Its launch workers, in the order of their numbers.
    public var workers: [Worker]
    /// The JSON Schema of its section of the configuration; `nil` if it has none or does not provide one.
    public var configuration: JSON?
    /// Whether it accepts a new section while it is running.
    public var isReloadable = false
    /// Its interceptors, in the order of their numbers.
    public var interceptors: [InterceptorDescription] = []
}

/// A plugin's description of events that it sends.
public struct EventSummary: Sendable, Hashable {
    /// The name of the events.
    public var name: String
    /// One sentence for a person.
    public var summary: String
    /// Whether members of the daemon's group receive them if no rule applies.
    public var isPublic: Bool
}

extension PluginWork {
    /// The work's name in the plugin protocol.
    public var name: String {
        switch self {
        case .configure: "configure"
        case .checkConfiguration: "check"
        case .reconfigure: "reconfigure"
        case .start: "start"
        case .launch: "launch"
        case .task: "call"
        case .intercept: "intercept"
        case .describe: "describe"
        case .stop: "stop"
        case .saveSessions: "save_sessions"
        case .restoreSessions: "restore_sessions"
        }
    }
}
