public import CTaskPlugin

/// The return type of `trestle_plugin_entry`: the daemon's view of a plugin.
public typealias PluginTable = UnsafePointer<trestle_plugin>

/// A plugin, assembled from its tasks and hooks and then passed to the daemon.
///
///     @c public func trestle_plugin_entry() -> PluginTable {
///         Plugin("greeter", version: "1.0.0") { Greet() }.export()
///     }
///
/// Assembling a plugin must have no side effects. Nothing may be opened, read or started before the hooks run: a check
/// of the configuration, or a query of the manifest, calls nothing beyond `configuration`.
///
/// A plugin is a value: each method returns a changed copy. No method here throws: `check()` finds the errors, and the
/// daemon reports them when it refuses the plugin. All hooks run on the loop thread and must not block it. An `await`
/// frees the loop; `Call.blocking` and `BlockingThreads` run blocking work on other threads.
public struct Plugin: Sendable {
    var parts: PluginParts

    /// - Parameters:
    ///   - name: Letters, digits, `-` and `_`, at most 64 bytes, beginning with a letter. Also the name of the plugin's
    ///     section of the configuration.
    ///   - version: The version to show to people.
    ///   - tasks: The tasks, one per line: values of `BridgeTask` and `RawTask` types.
    public init(_ name: String, version: String, @TaskBuilder tasks: () -> [AnyTask] = { [] }) {
        parts = PluginParts(name: name, version: version, tasks: tasks())
    }

    /// Declares the plugin's own section of the configuration. An absent section is read as `{}`.
    ///
    /// A value that does not fit, or a key that `C` does not have, is refused with its location before `check` is
    /// called. Both closures are called on the loop thread, before anything is started. If the plugin is `reloadable`,
    /// they are called again at each reload of the configuration that changes the section.
    ///
    /// - Parameters:
    ///   - configuration: Stores the section from then on.
    ///   - describing: Descriptions of the settings beyond their types, by key: members of JSON Schema such as
    ///     `description`, `default`, `minimum`. The daemon shows them to operators; it enforces none of them.
    ///   - reloadable: Whether a changed section takes effect at a reload of the configuration; otherwise it takes
    ///     effect after a restart.
    ///   - check: Throws to refuse the section, and changes nothing. At a reload the daemon lets every plugin check its
    ///     section, reloadable or not, before anything is changed.
    ///   - onChange: Called after the configuration has stored this section. It must change nothing else: a check of
    ///     the configuration also calls it, and calls nothing after it.
    public func configuration<C: Codable & Sendable>(
        _ configuration: PluginConfiguration<C>, describing: [String: JSON] = [:], reloadable: Bool = false,
        check: @escaping @Sendable (C) throws -> Void = { _ in }, onChange: @escaping @Sendable (C) -> Void = { _ in }
    ) -> Plugin {
        with {
            $0.configurations.append(
                ConfigurationSection(
                    configuration, describing: describing, isReloadable: reloadable, check: check, onChange: onChange))
        }
    }

    private func with(_ change: (inout PluginParts) -> Void) -> Plugin {
        var copy = self
        change(&copy.parts)
        return copy
    }

    /// Adds a hook that prepares the plugin, after the configuration and before the launch workers. Several hooks run
    /// one after the other in the order of their addition, on the loop thread, within one minute. If one throws, the
    /// plugin is not used, and the daemon shows the error's sentence to operators.
    public func onStart(_ body: @escaping @Sendable (PluginContext) async throws -> Void) -> Plugin {
        with { $0.startHooks.append(body) }
    }

    /// Adds a hook that finishes the plugin's work, on the loop thread. No call follows. Several hooks run in reverse
    /// order. After its deadline (the setting `stop_timeout`) the daemon continues without waiting for them. The hook
    /// cannot throw, because no caller is left to receive the error.
    public func onStop(_ body: @escaping @Sendable () async -> Void) -> Plugin {
        with { $0.stopHooks.append(body) }
    }

    /// Adds work that runs while the daemon launches.
    ///
    /// - Parameters:
    ///   - name: The name, such as `persistence.migrate`; under the rules of `BridgeTask.name`.
    ///   - phase: Before or after the daemon listens.
    ///   - after: The launch workers, of any plugin, that must have run before.
    ///   - required: Whether the launch fails if `body` throws; otherwise the daemon logs the error and continues.
    ///   - body: The work, on the loop thread, within one minute.
    public func launchWorker(
        _ name: String, phase: LaunchPhase, after: [String] = [], required: Bool = true,
        _ body: @escaping @Sendable (PluginContext) async throws -> Void
    ) -> Plugin {
        with {
            $0.launchWorkers.append(
                LaunchWorker(name: name, phase: phase, after: after, isRequired: required, body: body))
        }
    }

    /// Adds an interceptor, which decides about calls of the plugin's own or other plugins' tasks before the tasks
    /// receive them. Of several, the one that was added last is called first.
    public func interceptor(_ interceptor: some Interceptor) -> Plugin {
        with { $0.interceptors.append(AnyInterceptor(interceptor: interceptor)) }
    }

    /// Adds a hook that is called when a session opens, closes, goes to the background or comes to the foreground. It
    /// is called on the loop thread, in order.
    public func onSession(_ body: @escaping @Sendable (SessionChange, Caller) -> Void) -> Plugin {
        with { $0.sessionHooks.append(body) }
    }

    /// Adds a hook that is called when a session has closed that had called the plugin, or whose state the plugin had
    /// restored. It may also be called for other sessions. It is called on the loop thread.
    ///
    /// In a process of its own, a plugin with this hook and without ``onSession(_:)`` is not woken for the sessions of
    /// others.
    public func onSessionEnd(_ body: @escaping @Sendable (Caller) -> Void) -> Plugin {
        with { $0.sessionEndHooks.append(body) }
    }

    /// Passes the plugin's state of sessions to the daemon that replaces this one and continues the sessions. Without a
    /// handover, the plugin in the new daemon receives such sessions as if they had just opened. At most one per
    /// plugin.
    ///
    /// - Parameters:
    ///   - state: The state of one session. Another version of the plugin may read it, so make members optional.
    ///   - save: Returns the states of these sessions, without the sessions that have no state. No call is in flight,
    ///     and `onStop` follows. If it throws, it is called again with fewer sessions, finally with single ones; the
    ///     daemon closes each session for which it still throws. Loop thread.
    ///   - restore: Continues with the states that `save` returned, before the first call and after
    ///     `onSession(.opened)` of each session. It is called several times, each time with some of the states. It
    ///     returns the sessions that cannot continue as they were; the daemon closes them with a reason. If it throws,
    ///     the daemon closes all sessions that it was given. Loop thread.
    ///
    /// The same happens when the plugin alone is reloaded. If `restore` throws in that case, the reload fails and the
    /// previous version continues.
    public func handover<State: Codable & Sendable>(
        _ state: State.Type, save: @escaping @Sendable ([SessionID]) async throws -> [SessionID: State],
        restore: @escaping @Sendable ([SessionID: State]) async throws -> [SessionID]
    ) -> Plugin {
        with { $0.handovers.append(PluginHandover(state, save: save, restore: restore)) }
    }

    /// Describes an event that the plugin sends.
    ///
    /// - Parameters:
    ///   - name: The name, such as `record.changed`.
    ///   - summary: One sentence for people.
    ///   - isPublic: Whether members of the group `trestle` receive the event if no policy rule matches.
    public func event(_ name: String, _ summary: String, isPublic: Bool = false) -> Plugin {
        with { $0.events.append(EventDescription(name: name, summary: summary, isPublic: isPublic)) }
    }

    /// Returns the table for the daemon, which `trestle_plugin_entry` returns. Its tasks and hooks exist until the
    /// process ends.
    ///
    /// A plugin that fails its own `check()` is still exported. Its manifest then contains the defects instead of its
    /// tasks, and the daemon refuses to load it with that sentence. A schema that cannot be derived is found only by
    /// `check()`, or when a client requests it from the daemon; the tasks can be called without it.
    public func export() -> PluginTable {
        exportedTable(parts)
    }
}

/// The time at which a launch worker runs.
public enum LaunchPhase: String, Sendable, Hashable, CaseIterable {
    /// Before the daemon accepts connections. Connections wait for it.
    case beforeListening
    /// After the daemon has begun to accept connections.
    case afterListening
}

/// A change of a session's state.
public enum SessionChange: Sendable, Hashable, CaseIterable {
    /// The session has connected; calls may follow.
    case opened
    /// The session has ended: none of its calls follows, and the plugin can release what it kept for the session.
    case closed
    /// The session's page or program is currently not visible to the user.
    case background
    /// The session's page or program is visible again.
    case foreground

    /// `nil` for a change that this version does not support.
    init?(_ change: UInt32) {
        switch Int(change) {
        case TRESTLE_SESSION_OPENED: self = .opened
        case TRESTLE_SESSION_CLOSED: self = .closed
        case TRESTLE_SESSION_BACKGROUND: self = .background
        case TRESTLE_SESSION_FOREGROUND: self = .foreground
        default: return nil
        }
    }
}

/// The parts that make up a plugin.
struct PluginParts: Sendable {
    var name: String
    var version: String
    var tasks: [AnyTask]
    var events: [EventDescription] = []
    var launchWorkers: [LaunchWorker] = []
    var interceptors: [AnyInterceptor] = []
    /// At most one; `check()` reports a second one.
    var configurations: [ConfigurationSection] = []
    var startHooks: [@Sendable (PluginContext) async throws -> Void] = []
    var stopHooks: [@Sendable () async -> Void] = []
    var sessionHooks: [@Sendable (SessionChange, Caller) -> Void] = []
    var sessionEndHooks: [@Sendable (Caller) -> Void] = []
    /// At most one; `check()` reports a second one.
    var handovers: [PluginHandover] = []
}

struct EventDescription: Sendable {
    var name: String
    var summary: String
    var isPublic: Bool
}

struct LaunchWorker: Sendable {
    var name: String
    var phase: LaunchPhase
    var after: [String]
    var isRequired: Bool
    var body: @Sendable (PluginContext) async throws -> Void
}
