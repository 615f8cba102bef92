public import WebProfiles

/// The rules for the navigation of frames. A plain value: decisions without a view.
public struct NavigationRules: Sendable, Hashable {
    /// The decision about a navigation.
    public enum Decision: Sendable, Hashable {
        /// It continues.
        case go
        /// It is refused; the text names the rule.
        case refuse(String)
        /// The desktop's browser opens it.
        case external
        /// It is a signal of WebViewJavascriptBridge to its container, and is ignored.
        case ignore
        /// The desktop's browser opens it, if the user agrees.
        case ask
    }

    /// The origins to which frames may navigate.
    public var allowed: Set<PageOrigin>
    /// The treatment of links to other origins.
    public var external: Profile.External
    /// The treatment of new windows.
    public var windows: Profile.Windows
    /// The responses that are not shown.
    public var deniedResponses: [ResponsePattern] = []

    /// Creates rules.
    ///
    /// - Parameters:
    ///   - allowed: The origins to which frames may navigate.
    ///   - external: The treatment of links to other origins.
    ///   - windows: The treatment of new windows.
    public init(
        allowed: Set<PageOrigin>, external: Profile.External = .refuse, windows: Profile.Windows = .refuse
    ) {
        self.allowed = allowed
        self.external = external
        self.windows = windows
    }

    /// The addresses of the signals: host names that cannot exist, and a scheme of its own.
    private static let signals = ["https://__bridge_loaded__", "https://__wvjb_queue_message__", "wvjbscheme://"]

    /// Decides about a navigation. The engine does not distinguish frames from the page: the rules apply to both.
    ///
    /// - Parameters:
    ///   - uri: The address.
    ///   - isForNewWindow: Whether a new window is requested.
    ///   - isUserGesture: Whether the user caused it.
    public func decide(_ uri: String, isForNewWindow: Bool = false, isUserGesture: Bool = false) -> Decision {
        // These documents have the content of the page that creates them, or none.
        let isRefused = isForNewWindow && windows == .refuse
        if uri == "about:blank" || uri == "about:srcdoc" || uri.isEmpty && isForNewWindow {
            return isRefused ? .refuse("windows") : .go
        }
        if Self.signals.contains(where: { uri.hasPrefix($0) }) { return .ignore }
        let origin = PageOrigin(ofURI: uri)
        if let origin, allowed.contains(origin), !isRefused { return .go }
        if case .web? = origin, isUserGesture {
            switch external {
            case .refuse: break
            case .open: return .external
            case .ask: return .ask
            }
        }
        return .refuse(isRefused ? "windows" : origin == nil ? "addresses without an origin" : "allow")
    }

    /// Decides about the response of a document. Its address may differ from the one that was allowed: a filter may
    /// load it by https without another decision.
    ///
    /// - Parameters:
    ///   - uri: The address.
    ///   - type: Its content type, without parameters.
    ///   - status: Its status; 0 for none.
    /// - Returns: The rule that denies it; `nil` if it is shown.
    public func deny(_ uri: String, type: String, status: Int) -> String? {
        if case .refuse(let rule) = decide(uri) { return rule }
        let isDenied = deniedResponses.contains { $0.matches(type: type, status: status) }
        return isDenied ? "navigation.responses" : nil
    }
}
