internal import CWebKitGTK
internal import MainLoop

extension WebView {
    private var history: OpaquePointer? { webkit_web_view_get_back_forward_list(pointer) }

    /// The number of documents before the current one in the history, and whether there are later ones.
    public var historyPosition: (back: Int, hasLater: Bool) {
        let list = webkit_back_forward_list_get_back_list(history)
        defer { g_list_free(list) }
        return (Int(g_list_length(list)), webkit_web_view_can_go_forward(pointer) != 0)
    }

    /// Navigates to an earlier or a later document; returns false if it does not exist.
    ///
    /// - Parameter steps: The number of documents; negative for earlier ones.
    public func go(steps: Int) -> Bool {
        guard steps != 0, let number = Int32(exactly: steps),
            let item = webkit_back_forward_list_get_nth_item(history, number)
        else { return false }
        webkit_web_view_go_to_back_forward_list_item(pointer, item)
        return true
    }

    /// Begins to load an address with additional headers.
    ///
    /// - Parameters:
    ///   - uri: The address.
    ///   - headers: The names and values.
    public func load(_ uri: String, headers: [(String, String)]) {
        guard !headers.isEmpty, let request = webkit_uri_request_new(uri) else { return load(uri) }
        if let fields = webkit_uri_request_get_http_headers(request) {
            for (name, value) in headers { soup_message_headers_replace(fields, name, value) }
        }
        webkit_web_view_load_request(pointer, request)
        g_object_unref(UnsafeMutableRawPointer(request))
    }

    /// The user agent that servers get.
    public enum UserAgent: Sendable, Hashable {
        /// The engine's own.
        case own
        /// The engine's own, followed by this text.
        case appended(String)
        /// This text.
        case replaced(String)
    }

    /// Sets the user agent that servers get, from the next load on.
    ///
    /// - Parameter userAgent: The user agent.
    public func setUserAgent(_ userAgent: UserAgent) {
        let settings = webkit_web_view_get_settings(pointer)
        // Null restores the engine's own.
        webkit_settings_set_user_agent(settings, nil)
        switch userAgent {
        case .own: break
        case .appended(let text): webkit_settings_set_user_agent(settings, "\(self.userAgent) \(text)")
        case .replaced(let text): webkit_settings_set_user_agent(settings, text)
        }
    }
}
