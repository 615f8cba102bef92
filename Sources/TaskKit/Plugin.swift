public import CTaskPlugin

/// A plugin, put together from its tasks and hooks and then handed to the daemon.
///
///     @c public func trestle_plugin_entry() -> UnsafePointer<trestle_plugin> {
///         Plugin("greeter", version: "1.0.0") { Greet() }.export()
///     }
///
/// Putting it together must have no effect: nothing is opened, read or started before the hooks run, because a mere
/// check of the configuration, or a look at the manifest, goes no further than `configuration`.
///
/// It is put together and exported on one thread; the daemon asks for it once, on its loop thread. Nothing here throws:
/// what is wrong is found by `check()`, and told by the daemon when it refuses the plugin. All hooks run on the loop
/// thread, where they must not block: what they `await` leaves it free, `Call.blocking` and `BlockingLane` lead off it.
public final class Plugin {
    var parts: PluginParts

    /// - Parameters:
    ///   - name: Letters, digits, `-` and `_`, at most 64 bytes, beginning with a letter. The plugin's section of the
    ///     configuration bears it.
    ///   - version: For people.
    ///   - tasks: The tasks, one to a line: values of `BridgeTask` and `RawTask` types.
    public init(_ name: String, version: String, @TaskBuilder tasks: () -> [AnyTask] = { [] }) {
        parts = PluginParts(name: name, version: version, tasks: tasks())
    }

    /// The type of the plugin's own section of the configuration. An absent section reads as `{}`.
    ///
    /// A value that does not fit, and a key that `C` does not know, are refused with their place before `check` and
    /// `apply` are called. Both are called on the loop thread.
    ///
    /// - Parameters:
    ///   - settings: What is to be known about the settings beyond their types, by key: members of JSON Schema such as
    ///     `description`, `default`, `minimum`. The daemon shows them to operators; it enforces none of them.
    ///   - effect: Whether a changed section holds at a reload of the configuration or after a restart.
    ///   - check: Refuses by throwing, and keeps nothing. At a reload the daemon asks every plugin, whatever its
    ///     `effect`, before anything is changed.
    ///   - apply: Keeps the configuration, and may refuse it by throwing. It touches nothing else: a check of the
    ///     configuration calls it and goes no further. Called before anything is started, and with
    ///     `effect: .reload` again at each reload that changes the section; who refuses then goes on as before.
    @discardableResult
    public func configuration<C: Codable & Sendable>(
        _: C.Type, settings: [String: JSON] = [:], effect: ConfigurationEffect = .restart,
        check: @escaping @Sendable (C) throws -> Void = { _ in }, apply: @escaping @Sendable (C) throws -> Void
    ) -> Self {
        parts.configurations.append(
            PluginConfiguration(C.self, settings: settings, effect: effect, check: check, apply: apply))
        return self
    }

    /// Makes the plugin ready, after the configuration and before the launch workers. Several run in their order, one
    /// after the other, on the loop thread, and have a minute. If one throws, the plugin is not used, and the daemon
    /// tells operators the error's sentence.
    @discardableResult
    public func onStart(_ body: @escaping @Sendable (PluginContext) async throws -> Void) -> Self {
        parts.startHooks.append(body)
        return self
    }

    /// Finishes the plugin's work, on the loop thread. No call follows. Several run in reverse order; past its deadline
    /// (the setting `stop_timeout`) the daemon goes on without. There is nobody left to throw to.
    @discardableResult
    public func onStop(_ body: @escaping @Sendable () async -> Void) -> Self {
        parts.stopHooks.append(body)
        return self
    }

    /// Work to be done while the daemon launches.
    ///
    /// - Parameters:
    ///   - name: Such as `persistence.migrate`; under the rules of `BridgeTask.name`.
    ///   - phase: Before or after the daemon listens.
    ///   - after: The launch workers, of any plugin, that must have run before.
    ///   - required: Whether the daemon gives up if `body` throws; else it tells operators, and goes on.
    ///   - body: The work, on the loop thread; it has a minute.
    @discardableResult
    public func launchWorker(
        _ name: String, phase: LaunchPhase, after: [String] = [], required: Bool = true,
        _ body: @escaping @Sendable (PluginContext) async throws -> Void
    ) -> Self {
        parts.launchWorkers.append(
            LaunchWorker(name: name, phase: phase, after: after, isRequired: required, body: body))
        return self
    }

    /// Has the plugin asked about calls of tasks, its own or others', before these get them. Of several, the one that
    /// is given last is asked first.
    @discardableResult
    public func interceptor(_ interceptor: some Interceptor) -> Self {
        parts.interceptors.append(AnyInterceptor(interceptor: interceptor))
        return self
    }

    /// Tells when a session opens, closes, goes to the background or comes to the foreground. Called on the loop
    /// thread, in order.
    @discardableResult
    public func onSession(_ body: @escaping @Sendable (SessionChange, Caller) -> Void) -> Self {
        parts.sessionHooks.append(body)
        return self
    }

    /// Hands what the plugin knows of sessions to the daemon that takes this one's place and goes on with them. Without
    /// it the plugin over there finds such sessions as if they had just opened. Once at most.
    ///
    /// - Parameters:
    ///   - state: What is known of one session. Another version of the plugin may read it: let members be optional.
    ///   - keep: Tells what is known of these sessions; those with nothing to tell are left out. No call is in flight,
    ///     and `onStop` follows. Where it throws, it is asked about fewer sessions, at last about single ones; the daemon
    ///     closes those for which it throws then. Loop thread.
    ///   - restore: Goes on with what `keep` told, before the first call and after `onSession(.opened)` of each.
    ///     Comes several times, each with some of them. Returns the sessions that cannot go on as they were: the daemon
    ///     closes them with the reason. Where it throws, it closes all that it was given. Loop thread.
    ///
    /// The same happens when the plugin alone is reloaded. Where `restore` throws then, the reload fails, and the
    /// version that was there goes on.
    @discardableResult
    public func handover<State: Codable & Sendable>(
        _ state: State.Type, keep: @escaping @Sendable ([SessionID]) async throws -> [SessionID: State],
        restore: @escaping @Sendable ([SessionID: State]) async throws -> [SessionID]
    ) -> Self {
        parts.handovers.append(PluginHandover(state, keep: keep, restore: restore))
        return self
    }

    /// Describes an event that the plugin sends.
    ///
    /// - Parameter isOpen: whether members of the group `trestle` get it where no rule says anything.
    @discardableResult
    public func event(_ name: String, _ summary: String, isOpen: Bool = false) -> Self {
        parts.events.append(EventDescription(name: name, summary: summary, isOpen: isOpen))
        return self
    }

    /// The table for the daemon, which `trestle_plugin_entry` returns. The plugin lives until the process ends.
    ///
    /// A plugin that fails its own `check()` is exported all the same: its manifest says what is wrong in place of its
    /// tasks, and the daemon refuses to load it with that sentence. A schema that cannot be derived is found only by
    /// `check()`, and when somebody asks the daemon for it: the tasks can be called without.
    public func export() -> UnsafePointer<trestle_plugin> {
        exportedTable(parts)
    }
}

/// When a changed section of the configuration holds.
public enum ConfigurationEffect: Sendable, Hashable, CaseIterable {
    /// At a reload: the plugin takes it while it is at work.
    case reload
    /// When the daemon is started again.
    case restart
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
    /// Its page or program is not seen by anybody at present.
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
    var configurations: [PluginConfiguration] = []
    var startHooks: [@Sendable (PluginContext) async throws -> Void] = []
    var stopHooks: [@Sendable () async -> Void] = []
    var sessionHooks: [@Sendable (SessionChange, Caller) -> Void] = []
    /// One at most; a second is found by `check()`.
    var handovers: [PluginHandover] = []
}

struct EventDescription: Sendable {
    var name: String
    var summary: String
    var isOpen: Bool
}

struct LaunchWorker: Sendable {
    var name: String
    var phase: LaunchPhase
    var after: [String]
    var isRequired: Bool
    var body: @Sendable (PluginContext) async throws -> Void
}

/// A plugin's section of the configuration, its type erased.
struct PluginConfiguration: Sendable {
    let typeName: String
    let effect: ConfigurationEffect
    let settings: [String: JSON]
    let schema: @Sendable () throws(JSONSchemaError) -> JSON
    /// Checks a section and keeps nothing.
    let check: @Sendable (UnsafeRawBufferPointer) throws -> Void
    /// Checks a section and keeps it.
    let read: @Sendable (UnsafeRawBufferPointer) throws -> Void

    init<C: Codable & Sendable>(
        _: C.Type, settings: [String: JSON], effect: ConfigurationEffect,
        check: @escaping @Sendable (C) throws -> Void, apply: @escaping @Sendable (C) throws -> Void
    ) {
        typeName = String(describing: C.self)
        self.effect = effect
        self.settings = settings
        schema = { () throws(JSONSchemaError) in
            var schema = try JSONSchema.derive(from: C.self).objectValue ?? JSONObject()
            schema["additionalProperties"] = false
            schema["properties"] = schema["properties"].map { Self.describe($0, settings) }
            return .object(schema)
        }
        self.check = { try check(JSONCoding.decode(C.self, from: $0, unknownKeys: .refuse)) }
        read = {
            let section = try JSONCoding.decode(C.self, from: $0, unknownKeys: .refuse)
            try check(section)
            try apply(section)
        }
    }

    /// The derived properties with what is said about them.
    private static func describe(_ properties: JSON, _ settings: [String: JSON]) -> JSON {
        var described = JSONObject()
        for (key, derived) in properties.objectValue ?? JSONObject() {
            var schema = derived.objectValue ?? JSONObject()
            for (keyword, value) in settings[key]?.objectValue ?? JSONObject() { schema[keyword] = value }
            described[key] = .object(schema)
        }
        return .object(described)
    }
}
