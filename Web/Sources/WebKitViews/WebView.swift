internal import CWebKitGTK
internal import MainLoop

/// A web view, which a ``WebWindow`` shows.
@MainActor
public final class WebView {
    /// The name of the handler to which scripts of the isolated world post.
    public static let handler = "trestle"

    let object: GObjectBox
    let content: GObjectBox
    /// The scripts and styles of future documents.
    var additions: [DocumentAddition] = []
    private let engine: WebEngine
    /// Whether the engine has reported a failure and will report the end of that load next.
    var hasFailed = false
    /// Whether a right click shows the engine's menu.
    public var hasContextMenu = true
    /// The delegate.
    public weak var delegate: (any WebViewDelegate)?

    /// Creates a view without a document.
    ///
    /// - Parameters:
    ///   - engine: The engine, which views share.
    ///   - settings: The settings of the view.
    ///   - world: The isolated world whose scripts may post. Nothing is registered in the page's world.
    ///   - opener: The view whose page opens this one and whose process it shares; `nil` for none.
    public init(_ engine: WebEngine, _ settings: ViewSettings, world: String, opener: WebView? = nil) {
        guard let manager = webkit_user_content_manager_new() else { preconditionFailure("WebKit makes a manager") }
        content = GObjectBox(owning: UnsafeMutableRawPointer(manager))
        self.engine = engine
        var properties: [(String, ObjectProperty)] = [
            ("user-content-manager", .object(content)), ("settings", .object(settings.made)),
            ("website-policies", .object(settings.policies)),
        ]
        if let opener {
            properties.append(("related-view", .object(opener.object)))
        } else {
            properties += [("web-context", .object(engine.context)), ("network-session", .object(engine.session))]
        }
        if let policy = settings.contentSecurityPolicy {
            properties.append(("default-content-security-policy", .string(policy)))
        }
        object = GObjectBox(type: UInt(webkit_web_view_get_type()), properties)
        webkit_user_content_manager_register_script_message_handler_with_reply(manager, Self.handler, world)
        connectSignals()
        connectRequests()
    }

    var pointer: UnsafeMutablePointer<WebKitWebView> { object.pointer(to: WebKitWebView.self) }

    // MARK: Loading

    /// Begins to load an address.
    ///
    /// - Parameter uri: The address.
    public func load(_ uri: String) { webkit_web_view_load_uri(pointer, uri) }

    /// Shows HTML as the document of an address that failed.
    ///
    /// - Parameters:
    ///   - html: The HTML text.
    ///   - uri: The address.
    public func show(_ html: String, inPlaceOf uri: String) {
        webkit_web_view_load_alternate_html(pointer, html, uri, nil)
    }

    /// Reloads the document.
    ///
    /// - Parameter bypassingCache: Whether everything is requested from its server.
    public func reload(bypassingCache: Bool = false) {
        if bypassingCache { webkit_web_view_reload_bypass_cache(pointer) } else { webkit_web_view_reload(pointer) }
    }

    /// Stops a load.
    public func stop() { webkit_web_view_stop_loading(pointer) }

    /// Closes the page, which may ask its user first. `webViewClosed` of the delegate is called if the page closes.
    public func tryClose() { webkit_web_view_try_close(pointer) }

    /// Ends the web process.
    public func endProcess() { webkit_web_view_terminate_web_process(pointer) }

    // MARK: The document

    /// The address; `nil` if nothing was loaded.
    public var uri: String? { webkit_web_view_get_uri(pointer).map { String(cString: $0) } }

    /// Whether the document arrived with status 200 and its server allows storing it.
    public var mayBeKept: Bool {
        guard let resource = webkit_web_view_get_main_resource(pointer),
            let response = webkit_web_resource_get_response(resource)
        else { return false }
        return webkit_uri_response_get_status_code(response) == 200 && trestle_forbids_storing(response) == 0
    }

    /// The document's title.
    public var title: String { webkit_web_view_get_title(pointer).map { String(cString: $0) } ?? "" }

    /// The estimated progress of a load, from 0 to 1.
    public var progress: Double { webkit_web_view_get_estimated_load_progress(pointer) }

    /// Whether a load is in progress.
    public var isLoading: Bool { webkit_web_view_is_loading(pointer) != 0 }

    /// The user agent that servers get.
    public var userAgent: String {
        let settings = webkit_web_view_get_settings(pointer)
        return webkit_settings_get_user_agent(settings).map { String(cString: $0) } ?? ""
    }

    /// The zoom factor of documents.
    public var zoom: Double {
        get { webkit_web_view_get_zoom_level(pointer) }
        set { webkit_web_view_set_zoom_level(pointer, newValue) }
    }
}
