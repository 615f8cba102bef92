// WebKitViews: windows with web views, and the posts, requests and navigations of their pages. The only user of
// WebKit's API. Everything runs on the main thread. An object that must be answered once (a reply, a dialog) is a value
// that the answer consumes; it answers by itself if it is released before.
internal import CWebKitGTK
internal import MainLoop

/// The state that the views of one profile share: cookies, storage, the cache, the network process.
@MainActor
public final class WebEngine {
    /// The storage of data that outlives the process.
    public enum Storage: Sendable, Hashable {
        /// Nothing is kept.
        case ephemeral
        /// Data is stored in a folder of its own.
        case folder(String)
    }

    /// The owner of the cookies.
    public enum Cookies: Sendable, Hashable {
        /// The engine owns them and stores them like other data.
        case own
        /// Another program owns them: the engine has a copy, which ends with the process.
        case copy
        /// There are none.
        case none
    }

    /// The cookies.
    public let cookies: WebCookieJar
    let context: GObjectBox
    let session: GObjectBox

    /// Connects to the display; returns false if there is none. Called once, before anything else of this module.
    public static func start() -> Bool { gtk_init_check() != 0 }

    /// Creates an engine. The display must be open.
    ///
    /// - Parameters:
    ///   - storage: The storage.
    ///   - keeping: The owner of the cookies.
    ///   - memoryMegabytes: The memory of each web process in MiB beyond which it is ended; if `nil`, the engine
    ///     decides.
    public init(_ storage: Storage, _ keeping: Cookies = .own, memoryMegabytes: Int? = nil) {
        context = Self.makeContext(memoryMegabytes)
        let session =
            switch storage {
            case .ephemeral: webkit_network_session_new_ephemeral()
            case .folder(let path): webkit_network_session_new("\(path)/data", "\(path)/cache")
            }
        guard let session else { preconditionFailure("WebKit makes a session") }
        self.session = GObjectBox(owning: UnsafeMutableRawPointer(session))
        cookies = WebCookieJar(self.session)
        switch (keeping, storage) {
        case (.own, .folder(let path)): cookies.persist(in: "\(path)/cookies.sqlite")
        case (.none, _): cookies.refuseAll()
        default: break
        }
        webkit_network_session_set_tls_errors_policy(session, WEBKIT_TLS_ERRORS_POLICY_FAIL)
        // The provider of credentials stores passwords, not the engine.
        webkit_network_session_set_persistent_credential_storage_enabled(session, 0)
    }

    private static func makeContext(_ memoryMegabytes: Int?) -> GObjectBox {
        guard let memoryMegabytes else {
            guard let context = webkit_web_context_new() else { preconditionFailure("WebKit makes a context") }
            return GObjectBox(owning: UnsafeMutableRawPointer(context))
        }
        guard let settings = webkit_memory_pressure_settings_new() else {
            preconditionFailure("WebKit makes settings")
        }
        defer { webkit_memory_pressure_settings_free(settings) }
        webkit_memory_pressure_settings_set_memory_limit(settings, UInt32(clamping: memoryMegabytes))
        // A process is ended at the limit, as the profile defines it; by default the engine's factor is 1.5, or no
        // limit.
        webkit_memory_pressure_settings_set_kill_threshold(settings, 1)
        webkit_memory_pressure_settings_set_poll_interval(settings, 2)
        let type = UInt(webkit_memory_pressure_settings_get_type())
        return GObjectBox(
            type: UInt(webkit_web_context_get_type()),
            [("memory-pressure-settings", .boxed(type: type, UnsafeMutableRawPointer(settings)))])
    }
}
