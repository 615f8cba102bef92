public import BridgeJSON

/// Where a plugin's code runs: in this process, in another one. The runtime asks, the host answers through the
/// ``PluginSlot`` that it was given. Loop thread only.
public protocol TaskHost: AnyObject {
    /// How the plugin is kept apart, for `bridge.plugins`: "none" in the daemon's own process.
    var isolation: String { get }
    /// Begins a piece of work. It ends with ``PluginSlot/reply(_:_:)`` or ``PluginSlot/fail(_:_:)``, possibly before
    /// this returns.
    ///
    /// - Parameter options: borrowed until this returns; readable for 64 bytes past their end.
    func perform(_ work: PluginWork, for call: Call, options: UnsafeRawBufferPointer)
    /// Nobody wants the work of this call any more. An answer that still comes tells that it is over.
    func cancel(_ call: CallHandle, reason: CancelReason)
    /// Something happened to a session.
    func tell(_ change: SessionChange, _ session: Session)
    /// The plugin is known no more: whatever runs for it ends.
    func end()
    /// How it fares; nil: it runs where the daemon runs.
    var workerStatus: WorkerStatus? { get }
    /// Begins anew, with what the plugin's files say now; the calls in flight are not touched.
    ///
    /// - Parameter done: told of the end, once.
    func reload(_ done: @escaping (Result<JSON, BridgeError>) -> Void)
}

extension TaskHost {
    /// Nothing runs for it but in the daemon itself.
    public func end() {}
    /// It runs where the daemon runs.
    public var workerStatus: WorkerStatus? { nil }
    /// A library is never unloaded: it cannot begin anew.
    public func reload(_ done: @escaping (Result<JSON, BridgeError>) -> Void) {
        done(
            .failure(
                BridgeError(
                    .pluginUnavailable,
                    "a plugin in the daemon's own process is not loaded again; isolation = \"process\" in its section allows it"
                )))
    }
}

/// How a plugin in a process of its own fares.
public struct WorkerStatus: Sendable {
    /// The process; nil: there is none at present.
    public var pid: Int32?
    /// How often it was started anew after a fault.
    public var restarts: Int
    /// The last fault, in a sentence; nil: there was none.
    public var lastFault: String?

    /// How it fares.
    public init(pid: Int32?, restarts: Int, lastFault: String?) {
        self.pid = pid
        self.restarts = restarts
        self.lastFault = lastFault
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
    /// Tell what the manifest leaves out of the tasks.
    case describe
    /// Finish.
    case stop
    /// Tell what the plugin of the next daemon has to know of sessions.
    case keepSessions
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
        /// The workers that must have run before.
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
    /// The events that it sends: name and summary.
    public var events: [(name: String, summary: String)]
    /// Its launch workers, in the order of their numbers.
    public var workers: [Worker]
    /// The JSON Schema of its section of the configuration; nil: it has none, or does not say.
    public var configuration: JSON?
    /// Whether it takes a new section while it is at work.
    public var isReconfigurable = false
    /// Its interceptors, in the order of their numbers.
    public var interceptors: [InterceptorDescription] = []
}
