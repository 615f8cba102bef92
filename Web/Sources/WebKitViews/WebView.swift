internal import CWebKitGTK
internal import MainLoop

/// A web view. It is shown by a ``WebWindow``.
@MainActor
public final class WebView {
    /// The name under which scripts of the isolated world post.
    public static let handler = "trestle"

    let object: GObjectBox
    let content: GObjectBox
    private let engine: WebEngine
    /// Who hears of the view.
    public weak var delegate: (any WebViewDelegate)?

    /// A view of nothing yet.
    ///
    /// - Parameters:
    ///   - engine: What it shares with others.
    ///   - settings: What it is made with.
    ///   - world: The isolated world whose scripts may post. Nothing is registered in the page's world.
    public init(_ engine: WebEngine, _ settings: ViewSettings, world: String) {
        guard let manager = webkit_user_content_manager_new() else { preconditionFailure("WebKit makes a manager") }
        content = GObjectBox(owning: UnsafeMutableRawPointer(manager))
        self.engine = engine
        var properties: [(String, ObjectProperty)] = [
            ("web-context", .object(engine.context)), ("network-session", .object(engine.session)),
            ("user-content-manager", .object(content)), ("settings", .object(settings.made)),
        ]
        if let policy = settings.contentSecurityPolicy {
            properties.append(("default-content-security-policy", .string(policy)))
        }
        object = GObjectBox(type: UInt(webkit_web_view_get_type()), properties)
        webkit_user_content_manager_register_script_message_handler_with_reply(manager, Self.handler, world)
        connectSignals()
    }

    var pointer: UnsafeMutablePointer<WebKitWebView> { object.pointer(to: WebKitWebView.self) }

    // MARK: Scripts

    /// Adds a script to documents to come.
    ///
    /// - Parameter script: The script.
    public func add(_ script: UserScript) {
        script.withMade { webkit_user_content_manager_add_script(content.opaque, $0) }
    }

    // MARK: Loading

    /// Begins to load an address.
    ///
    /// - Parameter uri: The address.
    public func load(_ uri: String) { webkit_web_view_load_uri(pointer, uri) }

    /// Shows a text as the document of an address that failed.
    ///
    /// - Parameters:
    ///   - html: The text.
    ///   - uri: The address.
    public func show(_ html: String, inPlaceOf uri: String) {
        webkit_web_view_load_alternate_html(pointer, html, uri, nil)
    }

    /// Loads the document again.
    ///
    /// - Parameter bypassingCache: Whether everything is asked of its server.
    public func reload(bypassingCache: Bool = false) {
        if bypassingCache { webkit_web_view_reload_bypass_cache(pointer) } else { webkit_web_view_reload(pointer) }
    }

    /// Ends a load.
    public func stop() { webkit_web_view_stop_loading(pointer) }

    /// Goes to an earlier document; false where there is none.
    public func goBack() -> Bool {
        guard webkit_web_view_can_go_back(pointer) != 0 else { return false }
        webkit_web_view_go_back(pointer)
        return true
    }

    /// Goes to a later document; false where there is none.
    public func goForward() -> Bool {
        guard webkit_web_view_can_go_forward(pointer) != 0 else { return false }
        webkit_web_view_go_forward(pointer)
        return true
    }

    /// Closes the page, which may ask its user first: then `webViewClosed` of the delegate follows, or nothing.
    public func tryClose() { webkit_web_view_try_close(pointer) }

    /// Ends the web process.
    public func endProcess() { webkit_web_view_terminate_web_process(pointer) }

    // MARK: What it shows

    /// The address; nil where nothing was loaded.
    public var uri: String? { webkit_web_view_get_uri(pointer).map { String(cString: $0) } }

    /// The document's title.
    public var title: String { webkit_web_view_get_title(pointer).map { String(cString: $0) } ?? "" }

    /// How far a load is, from 0 to 1.
    public var progress: Double { webkit_web_view_get_estimated_load_progress(pointer) }

    /// Whether a load is under way.
    public var isLoading: Bool { webkit_web_view_is_loading(pointer) != 0 }

    /// The user agent that servers see.
    public var userAgent: String {
        let settings = webkit_web_view_get_settings(pointer)
        return webkit_settings_get_user_agent(settings).map { String(cString: $0) } ?? ""
    }

    /// How much larger than usual it shows documents.
    public var zoom: Double {
        get { webkit_web_view_get_zoom_level(pointer) }
        set { webkit_web_view_set_zoom_level(pointer, newValue) }
    }
}
