// WebKitViews: windows with web views in them, what pages post, ask and navigate to. The only user of WebKit's API.
// Everything runs on the main thread. What has to be answered once (a reply, a dialog) is a value that is used up by the
// answer, and that answers by itself where it is dropped.
internal import CWebKitGTK
internal import MainLoop

/// What the views of one profile share: cookies, storage, the cache, the network's process.
@MainActor
public final class WebEngine {
    /// Where a profile keeps what outlives the process.
    public enum Storage: Sendable, Hashable {
        /// Nothing is kept.
        case ephemeral
        /// In a folder of its own.
        case folder(String)
    }

    let context: GObjectBox
    let session: GObjectBox

    /// Connects to the display; false where there is none. Once, before anything else of this module.
    public static func start() -> Bool { gtk_init_check() != 0 }

    /// An engine. The display must be there.
    ///
    /// - Parameter storage: What is kept.
    public init(_ storage: Storage) {
        guard let context = webkit_web_context_new() else { preconditionFailure("WebKit makes a context") }
        self.context = GObjectBox(owning: UnsafeMutableRawPointer(context))
        let session =
            switch storage {
            case .ephemeral: webkit_network_session_new_ephemeral()
            case .folder(let path): webkit_network_session_new("\(path)/data", "\(path)/cache")
            }
        guard let session else { preconditionFailure("WebKit makes a session") }
        self.session = GObjectBox(owning: UnsafeMutableRawPointer(session))
        webkit_network_session_set_tls_errors_policy(session, WEBKIT_TLS_ERRORS_POLICY_FAIL)
    }
}
