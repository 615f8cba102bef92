public import CTaskPlugin

/// What `trestle_plugin_entry` returns: the daemon's view of a plugin.
public typealias PluginTable = UnsafePointer<trestle_plugin>

/// A plugin, put together from its tasks and hooks and then handed to the daemon.
///
///     @c public func trestle_plugin_entry() -> PluginTable {
///         Plugin("greeter", version: "1.0.0") { Greet() }.export()
///     }
///
/// Putting it together must have no effect: nothing is opened, read or started before the hooks run, because a mere
/// check of the configuration, or a look at the manifest, goes no further than `configuration`.
///
/// A plugin is a value: each method returns a changed copy. Nothing here throws: what is wrong is found by `check()`,
/// and the daemon reports it when it refuses the plugin. All hooks run on the loop thread, where they must not block:
/// what they `await` leaves it free, `Call.blocking` and `BlockingThreads` lead off it.
public struct Plugin: Sendable {
    var parts: PluginParts

    /// - Parameters:
    ///   - name: Letters, digits, `-` and `_`, at most 64 bytes, beginning with a letter. The plugin's section of the
    ///     configuration bears it.
    ///   - version: For people.
    ///   - tasks: The tasks, one to a line: values of `BridgeTask` and `RawTask` types.
    public init(_ name: String, version: String, @TaskBuilder tasks: () -> [AnyTask] = { [] }) {
        parts = PluginParts(name: name, version: version, tasks: tasks())
    }

    /// The plugin's own section of the configuration. An absent section reads as `{}`.
    ///
    /// A value that does not fit, and a key that `C` does not know, are refused with their location before `check` is
    /// called. Both closures are called on the loop thread, before anything is started, and again at each reload of the
    /// configuration that changes the section, if the plugin is `reloadable`.
    ///
    /// - Parameters:
    ///   - configuration: Holds the section from then on.
    ///   - describing: What is to be known about the settings beyond their types, by key: members of JSON Schema such
    ///     as `description`, `default`, `minimum`. The daemon shows them to operators; it enforces none of them.
    ///   - reloadable: Whether a changed section holds at a reload of the configuration; else after a restart.
    ///   - check: Refuses by throwing, and changes nothing. At a reload the daemon asks every plugin, reloadable or
    ///     not, before anything is changed.
    ///   - onChange: The configuration holds this section now. It touches nothing else: a check of the configuration
    ///     calls it and goes no further.
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

    /// Makes the plugin ready, after the configuration and before the launch workers. Several run in their order, one
    /// after the other, on the loop thread, and have a minute. If one throws, the plugin is not used, and the daemon
    /// shows operators the error's sentence.
    public func onStart(_ body: @escaping @Sendable (PluginContext) async throws -> Void) -> Plugin {
        with { $0.startHooks.append(body) }
    }

    /// Finishes the plugin's work, on the loop thread. No call follows. Several run in reverse order; past its deadline
    /// (the setting `stop_timeout`) the daemon goes on without. No caller is left to throw to.
    public func onStop(_ body: @escaping @Sendable () async -> Void) -> Plugin {
        with { $0.stopHooks.append(body) }
    }

    /// Work to be done while the daemon launches.
    ///
    /// - Parameters:
    ///   - name: Such as `persistence.migrate`; under the rules of `BridgeTask.name`.
    ///   - phase: Before or after the daemon listens.
    ///   - after: The launch workers, of any plugin, that must have run before.
    ///   - required: Whether the daemon gives up if `body` throws; else it logs the error, and continues.
    ///   - body: The work, on the loop thread; it has a minute.
    public func launchWorker(
        _ name: String, phase: LaunchPhase, after: [String] = [], required: Bool = true,
        _ body: @escaping @Sendable (PluginContext) async throws -> Void
    ) -> Plugin {
        with {
            $0.launchWorkers.append(
                LaunchWorker(name: name, phase: phase, after: after, isRequired: required, body: body))
        }
    }

    /// Has the plugin asked about calls of tasks, its own or others', before these get them. Of several, the one that
    /// is given last is asked first.
    public func interceptor(_ interceptor: some Interceptor) -> Plugin {
        with { $0.interceptors.append(AnyInterceptor(interceptor: interceptor)) }
    }

    /// Reports when a session opens, closes, goes to the background or comes to the foreground. Called on the loop
    /// thread, in order.
    public func onSession(_ body: @escaping @Sendable (SessionChange, Caller) -> Void) -> Plugin {
        with { $0.sessionHooks.append(body) }
    }

    /// Hands what the plugin knows of sessions to the daemon that takes this one's place and goes on with them. Without
    /// it the plugin over there finds such sessions as if they had just opened. Once at most.
    ///
    /// - Parameters:
    ///   - state: What is known of one session. Another version of the plugin may read it: let members be optional.
    ///   - save: Returns what is known of these sessions; those of which nothing is known are left out. No call is in
    ///     flight, and `onStop` follows. Where it throws, it is asked about fewer sessions, at last about single ones;
    ///     the daemon closes those for which it throws then. Loop thread.
    ///   - restore: Goes on with what `save` returned, before the first call and after `onSession(.opened)` of each.
    ///     Comes several times, each with some of them. Returns the sessions that cannot go on as they were: the daemon
    ///     closes them with the reason. Where it throws, it closes all that it was given. Loop thread.
    ///
    /// The same happens when the plugin alone is reloaded. Where `restore` throws then, the reload fails, and the
    /// version that was there goes on.
    public func handover<State: Codable & Sendable>(
        _ state: State.Type, save: @escaping @Sendable ([SessionID]) async throws -> [SessionID: State],
        restore: @escaping @Sendable ([SessionID: State]) async throws -> [SessionID]
    ) -> Plugin {
        with { $0.handovers.append(PluginHandover(state, save: save, restore: restore)) }
    }

    /// Describes an event that the plugin sends.
    ///
    /// - Parameters:
    ///   - name: Such as `record.changed`.
    ///   - summary: One sentence for a person.
    ///   - isPublic: Whether members of the group `trestle` get it where no rule says anything.
    public func event(_ name: String, _ summary: String, isPublic: Bool = false) -> Plugin {
        with { $0.events.append(EventDescription(name: name, summary: summary, isPublic: isPublic)) }
    }

    /// The table for the daemon, which `trestle_plugin_entry` returns. Its tasks and hooks live until the process ends.
    ///
    /// A plugin that fails its own `check()` is exported all the same: its manifest says what is wrong in place of its
    /// tasks, and the daemon refuses to load it with that sentence. A schema that cannot be derived is found only by
    /// `check()`, and when a client asks the daemon for it: the tasks can be called without.
    public func export() -> PluginTable {
        exportedTable(parts)
    }
}

/// When a launch worker runs.
public enum LaunchPhase: String, Sendable, Hashable, CaseIterable {
    /// Before the daemon takes connections, which wait for it.
    case beforeListening
    /// Once the daemon takes connections.
    case afterListening
}

/// What happened to a session.
public enum SessionChange: Sendable, Hashable, CaseIterable {
    /// It connected; calls may follow.
    case opened
    /// It is gone: no call of it follows, and what was kept for it can go.
    case closed
    /// Its page or program is not visible to the user at present.
    case background
    /// It is seen again.
    case foreground

    /// Nil: a change that this version does not know.
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

/// Everything that a plugin consists of.
struct PluginParts: Sendable {
    var name: String
    var version: String
    var tasks: [AnyTask]
    var events: [EventDescription] = []
    var launchWorkers: [LaunchWorker] = []
    var interceptors: [AnyInterceptor] = []
    /// One at most; a second is found by `check()`.
    var configurations: [ConfigurationSection] = []
    var startHooks: [@Sendable (PluginContext) async throws -> Void] = []
    var stopHooks: [@Sendable () async -> Void] = []
    var sessionHooks: [@Sendable (SessionChange, Caller) -> Void] = []
    /// One at most; a second is found by `check()`.
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
