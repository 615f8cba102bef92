/// A step in the load of a view's document. Events are named after it.
public enum LoadStep: String, Sendable {
    case started, redirected
    /// The new document is now the view's document.
    case committed
    case finished
}

/// The failure of a load.
public struct LoadFailure: Error, Sendable, Hashable {
    /// The address.
    public var uri: String
    /// The error domain, as GLib names it: `WebKitNetworkError`, `g-tls-error-quark` …
    public var domain: String
    /// The error number in the domain.
    public var number: Int
    /// The message.
    public var message: String
    /// Whether another load, a policy or a call ended it.
    public var isCancelled: Bool

    /// Creates a failure.
    ///
    /// - Parameters:
    ///   - uri: The address.
    ///   - domain: The error domain.
    ///   - number: The error number in the domain.
    ///   - message: The message.
    ///   - isCancelled: Whether another load, a policy or a call ended it.
    public init(uri: String, domain: String, number: Int, message: String, isCancelled: Bool) {
        self.uri = uri
        self.domain = domain
        self.number = number
        self.message = message
        self.isCancelled = isCancelled
    }
}

/// A navigation that a frame of a view is about to make. The engine does not report which frame.
public struct NavigationRequest: Sendable, Hashable {
    /// The address.
    public var uri: String
    /// Whether a new window is requested.
    public var isForNewWindow: Bool
    /// Whether the user caused it.
    public var isUserGesture: Bool
    /// Whether it is a redirect of a server.
    public var isRedirect: Bool
}

/// A response whose document a frame of a view is about to show.
public struct DocumentResponse: Sendable, Hashable {
    /// The address.
    public var uri: String
    /// The content type, without parameters.
    public var type: String
    /// The HTTP status; 0 for none.
    public var status: Int
    /// Whether it is for the top frame.
    public var isForPage: Bool
}

/// The reason why a web process has ended.
public enum ProcessEnd: String, Sendable {
    case crashed
    case exceededMemory = "exceeded-memory"
    /// This program ended it.
    case terminated
}

/// The delegate of a view. Called on the main thread. A view without a delegate does not navigate.
@MainActor
public protocol WebViewDelegate: AnyObject {
    /// Called when a script of the isolated world has posted a text.
    func webView(_ view: WebView, posted text: [UInt8], reply: consuming ScriptReply)
    /// Called at each step of a load. A load ends with ``LoadStep/finished`` or with a failure.
    func webView(_ view: WebView, load step: LoadStep)
    /// Called when a load has failed.
    func webView(_ view: WebView, failed failure: LoadFailure)
    /// Returns whether a navigation may continue.
    func webView(_ view: WebView, decide request: NavigationRequest) -> Bool
    /// Returns whether a response may be shown or downloaded.
    func webView(_ view: WebView, decide response: DocumentResponse) -> Bool
    /// Called when a page has a question to its user.
    func webView(_ view: WebView, asks dialog: consuming ScriptDialog)
    /// Called when the web process has ended.
    func webView(_ view: WebView, processEnded end: ProcessEnd)
    /// Called when the title has changed.
    func webViewTitleChanged(_ view: WebView)
    /// Called when the address has changed, also by `pushState` and fragments.
    func webViewAddressChanged(_ view: WebView)
    /// Called when a load has begun or no load is in progress any more, also for loads within the document.
    func webViewLoadingChanged(_ view: WebView)
    /// Called when the progress of a load has changed.
    func webViewProgressChanged(_ view: WebView)
    /// Called when the page closes itself.
    func webViewClosed(_ view: WebView)
    /// Returns whether a page has a permission.
    func webView(_ view: WebView, mayUse kind: PermissionKind) -> Bool
    /// Called when a server requests a name and a password.
    func webView(_ view: WebView, authenticates question: consuming AuthenticationQuestion)
    /// Called when a certificate is not trusted.
    func webView(_ view: WebView, distrusts failure: CertificateFailure)
    /// Returns the view for a window that a page opens, whose opener is this view; `nil` to refuse the window.
    func webView(_ view: WebView, opens request: NavigationRequest) -> WebView?
    /// Called when the window of such a view may be shown.
    func webViewReadyToShow(_ view: WebView)
    /// Returns whether a response may be downloaded.
    func webViewMayDownload(_ view: WebView) -> Bool
}
