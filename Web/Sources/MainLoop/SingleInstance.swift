internal import CWebKitGTK

/// One instance of a program on the session bus: a second one hands its addresses to the first.
@MainActor
public final class SingleInstance {
    private let application: GObjectBox
    /// Called in the first instance with the addresses of another start; without any, somebody started it again.
    public var onOpen: (@MainActor ([String]) -> Void)?

    /// The instance of a name.
    ///
    /// - Parameter name: A name of the bus, such as `org.example.Program`.
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

    /// Whether this is the first one. Where there is no bus, every instance is.
    public func register() -> Bool {
        // A failure, such as a bus that goes away, leaves this instance on its own.
        guard g_application_register(pointer, nil, nil) != 0 else { return true }
        return g_application_get_is_remote(pointer) == 0
    }

    /// Hands addresses to the first one, from another one; without any, it comes to the front.
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
        // The process ends now: what was sent has to be on its way.
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
