public import WebProfiles

/// Where frames may go. A plain value: decisions without a view.
public struct NavigationRules: Sendable, Hashable {
    /// What becomes of a navigation.
    public enum Decision: Sendable, Hashable {
        /// It goes on.
        case go
        /// It does not; the text names the rule.
        case refuse(String)
        /// The desktop's browser opens it.
        case external
        /// It is a signal of WebViewJavascriptBridge to its container, and goes nowhere.
        case ignore
        /// The desktop's browser opens it, if the user agrees.
        case ask
    }

    /// Where frames may go.
    public var allowed: Set<PageOrigin>
    /// What happens to links that lead elsewhere.
    public var external: Profile.External
    /// What happens to new windows.
    public var windows: Profile.Windows
    /// The responses that are not shown.
    public var deniedResponses: [ResponsePattern] = []

    /// Rules.
    ///
    /// - Parameters:
    ///   - allowed: Where frames may go.
    ///   - external: What happens to links that lead elsewhere.
    ///   - windows: What happens to new windows.
    public init(
        allowed: Set<PageOrigin>, external: Profile.External = .refuse, windows: Profile.Windows = .refuse
    ) {
        self.allowed = allowed
        self.external = external
        self.windows = windows
    }

    /// Hosts that no name has, and a scheme of its own.
    private static let signals = ["https://__bridge_loaded__", "https://__wvjb_queue_message__", "wvjbscheme://"]

    /// Decides about a navigation. The engine does not distinguish frames from the page: the rules bind both.
    ///
    /// - Parameters:
    ///   - uri: The address.
    ///   - isForNewWindow: A new window is asked for.
    ///   - isUserGesture: The user caused it.
    public func decide(_ uri: String, isForNewWindow: Bool = false, isUserGesture: Bool = false) -> Decision {
        // These have the content of the page that makes them, or none.
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

    /// Decides about the response of a document. Its address may be another one than was decided about: a filter has it
    /// loaded by https, and the engine asks no more.
    ///
    /// - Parameters:
    ///   - uri: The address.
    ///   - type: Its content type, without parameters.
    ///   - status: Its status; 0: it has none.
    /// - Returns: The rule that denies it; nil: it is shown.
    public func deny(_ uri: String, type: String, status: Int) -> String? {
        if case .refuse(let rule) = decide(uri) { return rule }
        let isDenied = deniedResponses.contains { $0.matches(type: type, status: status) }
        return isDenied ? "navigation.responses" : nil
    }
}
