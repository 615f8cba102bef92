internal import CWebKitGTK

/// The single instance of a program on the session bus: a second instance passes its addresses to the first.
@MainActor
public final class SingleInstance {
    private let application: GObjectBox
    /// Called in the first instance with the addresses of another start; the list is empty if that start had none.
    public var onOpen: (@MainActor ([String]) -> Void)?

    /// Creates the instance for a name; `nil` if the name is not valid.
    ///
    /// - Parameter name: A bus name, such as `org.example.Program`.
    public init?(_ name: String) {
        guard g_application_id_is_valid(name) != 0, let made = g_application_new(name, G_APPLICATION_HANDLES_OPEN)
        else { return nil }
        application = GObjectBox(owning: UnsafeMutableRawPointer(made))
        application.observe("open") { [weak self] arguments in
            self?.onOpen?(Self.addresses(arguments.pointer(1), arguments.integer(2)))
        }
        application.observe("activate") { [weak self] _ in self?.onOpen?([]) }
    }

    private var pointer: UnsafeMutablePointer<GApplication> { application.pointer(to: GApplication.self) }

    /// Registers the instance. Returns whether it is the first one; always true without a bus.
    public func register() -> Bool {
        // After a failure, such as a bus that disconnects, this instance runs on its own.
        guard g_application_register(pointer, nil, nil) != 0 else { return true }
        return g_application_get_is_remote(pointer) == 0
    }

    /// Passes addresses from another instance to the first one; without any, the first one comes to the front.
    ///
    /// - Parameter addresses: The addresses.
    public func handOver(_ addresses: [String]) {
        if addresses.isEmpty {
            g_application_activate(pointer)
        } else {
            var files = addresses.map { g_file_new_for_uri($0) }
            g_application_open(pointer, &files, Int32(files.count), "")
            for file in files { g_object_unref(file.map { UnsafeMutableRawPointer($0) }) }
        }
        // The process ends now, so the message must be sent first.
        g_dbus_connection_flush_sync(g_application_get_dbus_connection(pointer), nil, nil)
    }

    private static func addresses(_ files: UnsafeMutableRawPointer?, _ count: Int) -> [String] {
        guard let files, count > 0 else { return [] }
        let list = files.assumingMemoryBound(to: OpaquePointer?.self)
        return (0..<count).compactMap { index in
            guard let text = g_file_get_uri(list[index]) else { return nil }
            defer { g_free(text) }
            return String(cString: text)
        }
    }
}
