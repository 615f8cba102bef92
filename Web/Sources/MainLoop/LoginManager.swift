internal import CWebKitGTK
internal import Glibc

/// What the machine's login manager says, systemd-logind or one that speaks as it does, over the system bus: of sleep,
/// and of the lock of this program's session.
///
/// A listener gets a lock that delays the machine's sleep until it is released, or until the manager goes on.
///
/// The subscription names the manager's unique name, so signals of other programs on the bus are ignored.
@MainActor
public final class LoginManager {
    /// What it says.
    public enum Change: String, Sendable {
        case locked, unlocked, suspending, resumed
    }

    private static let name = "org.freedesktop.login1"
    static let path = "/org/freedesktop/login1"
    static let managerInterface = "org.freedesktop.login1.Manager"
    private static let sessionInterface = "org.freedesktop.login1.Session"

    private let onChange: @MainActor (Change, SleepDelay?) -> Void
    /// Held while the machine is awake.
    private var delay: SleepDelay?
    private var isAsleep = false
    private var subscriptions: [UInt32] = []
    /// The object of this program's session; nil: it is not known yet, or there is none.
    private var session: String?
    /// Counts the managers that have come, so that a late answer of one that is gone has no effect.
    private var arrivals = 0

    private init(_ onChange: @escaping @MainActor (Change, SleepDelay?) -> Void) { self.onChange = onChange }

    /// Calls `onChange` at each change, for as long as the process runs. Without a bus or a manager, there are none.
    ///
    /// - Parameter onChange: What is called. With `suspending` it gets the lock that delays the sleep, where the
    ///   manager has given one: it is released when nobody holds it any more.
    public static func watch(_ onChange: @escaping @MainActor (Change, SleepDelay?) -> Void) {
        // Never released: GLib calls it until the process ends.
        let data = Unmanaged.passRetained(LoginManager(onChange)).toOpaque()
        _ = g_bus_watch_name(
            G_BUS_TYPE_SYSTEM, name, G_BUS_NAME_WATCHER_FLAGS_NONE,
            { connection, _, name, data in
                guard let connection, let name else { return }
                let owner = String(cString: name)
                // Callbacks come on the main thread; GLib keeps the connection.
                nonisolated(unsafe) let bus = connection
                LoginManager.enter(data) { $0.come(bus, owner) }
            },
            { connection, _, data in
                // As above; without a connection there is no bus, or no more.
                nonisolated(unsafe) let bus = connection
                LoginManager.enter(data) { $0.leave(bus) }
            }, data, nil)
    }

    // MARK: The manager comes and goes

    private func come(_ bus: OpaquePointer, _ owner: String) {
        leave(bus)
        arrivals += 1
        subscribe(bus, owner, Self.managerInterface, Self.path)
        // Before the question, and for all sessions: no signal is missed behind the answer.
        subscribe(bus, owner, Self.sessionInterface, nil)
        ask(bus, owner)
        isAsleep = false
        delaySleep(bus, owner)
    }

    /// Has the machine's next sleep wait.
    private func delaySleep(_ bus: OpaquePointer, _ owner: String) {
        let arrival = arrivals
        SleepDelay.take(bus, owner) { [self] delay in
            // One that comes too late delays no sleep that has been heard of.
            if arrival == arrivals, !isAsleep { self.delay = delay }
        }
    }

    private func leave(_ bus: OpaquePointer?) {
        if let bus {
            // The end of the bus would end the process.
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
                // Callbacks come on the main thread; GLib keeps the connection.
                nonisolated(unsafe) let bus = connection
                LoginManager.enter(data) { $0.hear(signal, bus) }
            }, Unmanaged.passUnretained(self).toOpaque(), nil)
        subscriptions.append(id)
    }

    /// Asks for the session: that of the environment, else the caller's, or the display's of the caller's user.
    private func ask(_ bus: OpaquePointer, _ owner: String) {
        let id = getenv("XDG_SESSION_ID").map { String(cString: $0) } ?? "auto"
        var items: [OpaquePointer?] = [g_variant_new_string(id)]
        let arrival = arrivals
        let data = AsyncResult.pointer { [self] outcome in
            // Without a session there are the signals of sleep alone.
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

    // MARK: What it says

    private struct Signal {
        var owner: String
        var path: String
        var member: String
        /// Its only parameter; nil: it has others.
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

    /// The truth value that is the only parameter of a signal; nil: its parameters are others.
    private nonisolated static func truth(_ parameters: OpaquePointer?) -> Bool? {
        guard let parameters, String(cString: g_variant_get_type_string(parameters)) == "(b)" else { return nil }
        let item = g_variant_get_child_value(parameters, 0)
        defer { g_variant_unref(item) }
        return g_variant_get_boolean(item) != 0
    }

    /// GLib calls on the main thread, whose loop is the default one, with the pointer of ``watch(_:)``.
    private nonisolated static func enter(
        _ data: UnsafeMutableRawPointer?, _ body: @MainActor (LoginManager) -> Void
    ) {
        guard let data else { return }
        let box = Unmanaged<LoginManager>.fromOpaque(data)
        MainActor.assumeIsolated { body(box.takeUnretainedValue()) }
    }
}
