public import BridgeJSON

/// Where a plugin's code runs: in this process, in another one. The runtime asks, the host answers through the
/// ``PluginInstance`` that it was given. Loop thread only.
public protocol TaskHost: AnyObject {
    /// How the plugin is kept apart, for `bridge.plugins`: "none" in the daemon's own process.
    var isolation: String { get }
    /// Whether ``room(for:)`` is to be asked before each call.
    var choosesCalls: Bool { get }
    /// Whether a call can be begun now. One that cannot waits, and ``PluginInstance/roomWasMade()`` or
    /// ``PluginInstance/roomWasMade(forCallsOf:)`` has the host asked again.
    func room(for call: Call) -> HostRoom
    /// Begins a piece of work. It ends with ``PluginInstance/reply(_:_:)`` or ``PluginInstance/fail(_:_:)``, possibly
    /// before this returns.
    ///
    /// - Parameter options: borrowed until this returns; readable for 64 bytes past their end.
    func perform(_ work: PluginWork, for call: Call, options: UnsafeRawBufferPointer)
    /// The work of this call is no longer wanted. An answer that still comes says that it is over.
    func cancel(_ call: CallHandle, reason: CancelReason)
    /// The plugin has lost calls that have ended: what works on them is ended, where that hurts nothing else.
    ///
    /// - Parameter reason: The end of a sentence about the plugin's process.
    func giveUp(because reason: String)
    /// Something happened to a session.
    func notify(_ change: SessionChange, _ session: Session)
    /// The ``PluginInstance/marks`` of its tasks have changed. The plugin learns of it before the next call.
    func noteMarks()
    /// The plugin is no longer known: whatever runs for it ends.
    func end()
    /// Its processes, as holders of ends of streams. Where one of them takes its first end, or its last one is over,
    /// ``PluginInstance/noteLessWork()`` is called.
    var streamHolders: [StreamHolder] { get }
    /// How it fares; nil: it runs where the daemon runs.
    var processStatus: PluginProcessStatus? { get }
    /// The longest that its code held its loop within the last five to ten seconds, of several processes the longest of
    /// all; nil: that is not known, as of a process without a loop. Of a plugin in the daemon's own process, zero where
    /// it was less than half a second.
    var lag: Duration? { get }
}

extension TaskHost {
    /// Every call is as good as the other.
    public var choosesCalls: Bool { false }
    /// Every call is as good as the other.
    public func room(for call: Call) -> HostRoom { .free }
    /// The plugin does not ask.
    public func noteMarks() {}
    /// It runs where the daemon runs: nothing can be ended.
    public func giveUp(because reason: String) {}
    /// Nothing runs for it but in the daemon itself.
    public func end() {}
    /// The plugin holds them itself.
    public var streamHolders: [StreamHolder] { [] }
    /// It runs where the daemon runs.
    public var processStatus: PluginProcessStatus? { nil }
    /// It is not known.
    public var lag: Duration? { nil }
}

/// Whether a host can begin a call now.
public enum HostRoom: Sendable {
    /// It can.
    case free
    /// The caller's own process does not read what it was sent. Calls of others may begin.
    case unread
    /// There is no process for the call, nor for any caller who has none.
    case full
}

/// How a plugin in a process of its own fares.
public struct PluginProcessStatus: Sendable {
    /// The process; nil: there is none at present.
    public var pid: Int32?
    /// How often it was started again after a fault.
    public var restarts: Int
    /// The last fault, in a sentence; nil: there was none.
    public var lastFault: String?
    /// Its processes, where they are several of which each has its calls; nil: it has one, for all calls.
    public var pool: PoolStatus?

    /// How it fares.
    public init(pid: Int32?, restarts: Int, lastFault: String?, pool: PoolStatus? = nil) {
        self.pid = pid
        self.restarts = restarts
        self.lastFault = lastFault
        self.pool = pool
    }
}

/// How the processes of a plugin's pool fare.
public struct PoolStatus: Sendable, Equatable {
    /// The processes that there are to be at least, and at most.
    public var minimum, maximum: Int
    /// Whom a process is given to: "call" or "session".
    public var per: String
    /// Those that wait to be used, and those that are in use.
    public var reusable = 0, inUse = 0
    /// Those that are not ready yet.
    public var starting = 0
    /// How often one was there for who needed it, and how often one had to be started first.
    public var warmStarts = 0, coldStarts = 0
    /// How many were replaced though nothing was wrong with them.
    public var recycled = 0

    /// A pool without processes.
    public init(minimum: Int, maximum: Int, per: String) {
        self.minimum = minimum
        self.maximum = maximum
        self.per = per
    }
}

/// What a plugin may be asked to do.
public enum PluginWork: Sendable, Hashable {
    /// Check its section of the configuration and keep it.
    case configure
    /// Check another section while it is at work, and change nothing.
    case checkConfiguration
    /// Go by another section from now on.
    case reconfigure
    /// Make ready.
    case start
    /// Run the launch worker of this number.
    case launch(Int)
    /// Work on a call of the task of this number.
    case task(Int)
    /// Decide about a call, for the interceptor of this number.
    case intercept(Int)
    /// Describe what the manifest leaves out of the tasks.
    case describe
    /// Finish.
    case stop
    /// Return what the plugin of the next daemon has to know of sessions.
    case saveSessions
    /// Go on with what the plugin of the daemon before knew of sessions.
    case restoreSessions
}

/// What a plugin says of itself.
public struct PluginManifest: Sendable {
    /// A launch worker of a plugin.
    public struct Worker: Sendable {
        /// Its name, unique in the daemon.
        public var name: String
        /// When it runs.
        public var phase: LaunchPhase
        /// The launch workers that must have run before.
        public var after: [String]
        /// Whether the daemon cannot start without it.
        public var isRequired: Bool
    }

    /// The plugin's name, also of its section of the configuration.
    public var name: String
    /// Its version.
    public var version: String
    /// Its tasks, in the order of their numbers.
    public var tasks: [TaskDescription]
    /// The events that it sends.
    public var events: [EventSummary]
    /// Its launch workers, in the order of their numbers.
    public var workers: [Worker]
    /// The JSON Schema of its section of the configuration; nil: it has none, or does not say.
    public var configuration: JSON?
    /// Whether it takes a new section while it is at work.
    public var isReloadable = false
    /// Its interceptors, in the order of their numbers.
    public var interceptors: [InterceptorDescription] = []
}

/// What a plugin says of events that it sends.
public struct EventSummary: Sendable, Hashable {
    /// Their name.
    public var name: String
    /// One sentence for a person.
    public var summary: String
    /// Whether members of the group that the daemon is there for get them where no rule says anything.
    public var isPublic: Bool
}

extension PluginWork {
    /// The work's name, as the plugin protocol calls it.
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
