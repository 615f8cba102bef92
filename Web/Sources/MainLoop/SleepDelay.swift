internal import CWebKitGTK
internal import Glibc

/// A lock of the login manager that delays the machine's sleep while it is held, at most for the manager's
/// `InhibitDelayMaxSec`.
@MainActor
public final class SleepDelay {
    private let descriptor: Int32
    private var isHeld = true

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    isolated deinit { release() }

    /// Lets the machine sleep.
    public func release() {
        guard isHeld else { return }
        isHeld = false
        close(descriptor)
    }

    /// Requests a lock from a login manager.
    ///
    /// - Parameters:
    ///   - bus: The connection to the bus.
    ///   - owner: The manager's unique name.
    ///   - completion: Receives the lock, once; `nil` if the manager gives none.
    static func take(_ bus: OpaquePointer, _ owner: String, _ completion: @escaping @MainActor (SleepDelay?) -> Void) {
        let words = ["sleep", "trestle-web", "Pages are notified before the machine sleeps.", "delay"]
        var items: [OpaquePointer?] = words.map { g_variant_new_string($0) }
        let data = AsyncResult.pointer { completion(lock(bus, $0)) }
        let type = g_variant_type_new("(h)")
        defer { g_variant_type_free(type) }
        g_dbus_connection_call_with_unix_fd_list(
            bus, owner, LoginManager.path, LoginManager.managerInterface, "Inhibit",
            g_variant_new_tuple(&items, gsize(items.count)), type, G_DBUS_CALL_FLAGS_NONE, -1, nil, nil,
            AsyncResult.callback, data)
    }

    private static func lock(_ bus: OpaquePointer, _ outcome: OpaquePointer) -> SleepDelay? {
        var list: UnsafeMutablePointer<GUnixFDList>?
        guard let answer = g_dbus_connection_call_with_unix_fd_list_finish(bus, &list, outcome, nil) else { return nil }
        g_variant_unref(answer)
        guard let list else { return nil }
        defer { g_object_unref(UnsafeMutableRawPointer(list)) }
        // A duplicate of the only descriptor, which the caller owns.
        let descriptor = g_unix_fd_list_get(list, 0, nil)
        return descriptor < 0 ? nil : SleepDelay(descriptor)
    }
}
