internal import CWebKitGTK
internal import Glibc

/// The signals of the machine's login manager over the system bus: sleep, and the lock of this program's session. The
/// manager is systemd-logind or another one with the same interface.
///
/// The observer gets a lock that delays the machine's sleep until it is released, or until the manager stops waiting.
///
/// The subscription names the manager's unique name, so signals of other programs on the bus are ignored.
@MainActor
public final class LoginManager {
    /// A change that the manager reports.
    public enum Change: String, Sendable {
        case locked, unlocked, suspending, resumed
    }

    private static let name = "org.freedesktop.login1"
    static let path = "/org/freedesktop/login1"
    static let managerInterface = "org.freedesktop.login1.Manager"
    private static let sessionInterface = "org.freedesktop.login1.Session"

    private let onChange: @MainActor (Change, SleepDelay?) -> Void
    /// The lock for the next sleep; held while the machine is awake.
    private var delay: SleepDelay?
    private var isAsleep = false
    private var subscriptions: [UInt32] = []
    /// The object path of this program's session; `nil` if it is unknown or there is none.
    private var session: String?
    /// The number of managers that have appeared, so that a late answer of a previous one has no effect.
    private var arrivals = 0

    private init(_ onChange: @escaping @MainActor (Change, SleepDelay?) -> Void) { self.onChange = onChange }

    /// Calls `onChange` at each change, until the process ends. Without a bus or a manager there are no changes.
    ///
    /// - Parameter onChange: Receives the change. With `suspending` it also receives the lock that delays the sleep, if
    ///   the manager has given one: the sleep is delayed until the lock is released.
    public static func watch(_ onChange: @escaping @MainActor (Change, SleepDelay?) -> Void) {
        // Never released: GLib calls it until the process ends.
        let data = Unmanaged.passRetained(LoginManager(onChange)).toOpaque()
        _ = g_bus_watch_name(
            G_BUS_TYPE_SYSTEM, name, G_BUS_NAME_WATCHER_FLAGS_NONE,
            { connection, _, name, data in
                guard let connection, let name else { return }
                let owner = String(cString: name)
                // Callbacks arrive on the main thread; GLib keeps the connection.
                nonisolated(unsafe) let bus = connection
                LoginManager.enter(data) { $0.come(bus, owner) }
            },
            { connection, _, data in
                // As above; without a connection there is no bus, or it has closed.
                nonisolated(unsafe) let bus = connection
                LoginManager.enter(data) { $0.leave(bus) }
            }, data, nil)
    }

    // MARK: The manager appears and disappears

    private func come(_ bus: OpaquePointer, _ owner: String) {
        leave(bus)
        arrivals += 1
        subscribe(bus, owner, Self.managerInterface, Self.path)
        // Before the call, and for all sessions, so that no signal after the answer is missed.
        subscribe(bus, owner, Self.sessionInterface, nil)
        ask(bus, owner)
        isAsleep = false
        delaySleep(bus, owner)
    }

    /// Requests a delay of the machine's next sleep.
    private func delaySleep(_ bus: OpaquePointer, _ owner: String) {
        let arrival = arrivals
        SleepDelay.take(bus, owner) { [self] delay in
            // A lock that arrives too late cannot delay a sleep that was already reported.
            if arrival == arrivals, !isAsleep { self.delay = delay }
        }
    }

    private func leave(_ bus: OpaquePointer?) {
        if let bus {
            // Otherwise the end of the bus would end the process.
            g_dbus_connection_set_exit_on_close(bus, 0)
            for subscription in subscriptions { g_dbus_connection_signal_unsubscribe(bus, subscription) }
        }
        subscriptions = []
        session = nil
        delay = nil
    }

    private func subscribe(_ bus: OpaquePointer, _ owner: String, _ interface: String, _ path: String?) {
        let id = g_dbus_connection_signal_subscribe(
            bus, owner, interface, nil, path, nil, G_DBUS_SIGNAL_FLAGS_NONE,
            { connection, sender, object, _, member, parameters, data in
                guard let connection, let sender, let object, let member else { return }
                let signal = Signal(
                    owner: String(cString: sender), path: String(cString: object), member: String(cString: member),
                    isTrue: LoginManager.truth(parameters))
                // Callbacks arrive on the main thread; GLib keeps the connection.
                nonisolated(unsafe) let bus = connection
                LoginManager.enter(data) { $0.hear(signal, bus) }
            }, Unmanaged.passUnretained(self).toOpaque(), nil)
        subscriptions.append(id)
    }

    /// Requests the session: that of the environment, else the caller's, else the display session of the caller's user.
    private func ask(_ bus: OpaquePointer, _ owner: String) {
        let id = getenv("XDG_SESSION_ID").map { String(cString: $0) } ?? "auto"
        var items: [OpaquePointer?] = [g_variant_new_string(id)]
        let arrival = arrivals
        let data = AsyncResult.pointer { [self] outcome in
            // Without a session only the sleep signals are handled.
            guard let answer = g_dbus_connection_call_finish(bus, outcome, nil) else { return }
            defer { g_variant_unref(answer) }
            let item = g_variant_get_child_value(answer, 0)
            defer { g_variant_unref(item) }
            guard arrival == arrivals, let path = g_variant_get_string(item, nil) else { return }
            session = String(cString: path)
        }
        let type = g_variant_type_new("(o)")
        defer { g_variant_type_free(type) }
        g_dbus_connection_call(
            bus, owner, Self.path, Self.managerInterface, "GetSession", g_variant_new_tuple(&items, 1), type,
            G_DBUS_CALL_FLAGS_NONE, -1, nil, AsyncResult.callback, data)
    }

    // MARK: Signals

    private struct Signal {
        var owner: String
        var path: String
        var member: String
        /// Whether its only parameter, a Boolean, is true; `nil` for other parameters.
        var isTrue: Bool?
    }

    private func hear(_ signal: Signal, _ bus: OpaquePointer) {
        switch (signal.member, signal.isTrue) {
        case ("PrepareForSleep", true?) where signal.path == Self.path:
            isAsleep = true
            let delay = self.delay
            self.delay = nil
            onChange(.suspending, delay)
        case ("PrepareForSleep", false?) where signal.path == Self.path:
            isAsleep = false
            delaySleep(bus, signal.owner)
            onChange(.resumed, nil)
        case ("Lock", nil) where signal.path == session: onChange(.locked, nil)
        case ("Unlock", nil) where signal.path == session: onChange(.unlocked, nil)
        default: break
        }
    }

    /// Returns the Boolean that is the only parameter of a signal; `nil` for other parameters.
    private nonisolated static func truth(_ parameters: OpaquePointer?) -> Bool? {
        guard let parameters, String(cString: g_variant_get_type_string(parameters)) == "(b)" else { return nil }
        let item = g_variant_get_child_value(parameters, 0)
        defer { g_variant_unref(item) }
        return g_variant_get_boolean(item) != 0
    }

    /// Enters the main actor: GLib calls on the main thread, whose loop is the default one, with the pointer from
    /// ``watch(_:)``.
    private nonisolated static func enter(
        _ data: UnsafeMutableRawPointer?, _ body: @MainActor (LoginManager) -> Void
    ) {
        guard let data else { return }
        let box = Unmanaged<LoginManager>.fromOpaque(data)
        MainActor.assumeIsolated { body(box.takeUnretainedValue()) }
    }
}
