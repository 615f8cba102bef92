/// How far a load of a view's document is. Events are named by it.
public enum LoadStep: String, Sendable {
    case started, redirected
    /// The document is the view's now.
    case committed
    case finished
}

/// Why a load failed.
public struct LoadFailure: Error, Sendable, Hashable {
    /// The address.
    public var uri: String
    /// Whose error it is, as GLib names it: `WebKitNetworkError`, `g-tls-error-quark` …
    public var domain: String
    /// Its number there.
    public var number: Int
    /// What it says.
    public var message: String
    /// Another load, a policy or a call ended it.
    public var isCancelled: Bool

    /// A failure.
    ///
    /// - Parameters:
    ///   - uri: The address.
    ///   - domain: Whose error it is.
    ///   - number: Its number there.
    ///   - message: What it says.
    ///   - isCancelled: Whether another load, a policy or a call ended it.
    public init(uri: String, domain: String, number: Int, message: String, isCancelled: Bool) {
        self.uri = uri
        self.domain = domain
        self.number = number
        self.message = message
        self.isCancelled = isCancelled
    }
}

/// Something that a frame of a view is about to navigate to. The engine does not say which frame.
public struct NavigationRequest: Sendable, Hashable {
    /// The address.
    public var uri: String
    /// A new window is asked for.
    public var isForNewWindow: Bool
    /// The user caused it.
    public var isUserGesture: Bool
    /// A server sent it there.
    public var isRedirect: Bool
}

/// A response whose document a frame of a view is about to show.
public struct DocumentResponse: Sendable, Hashable {
    /// The address.
    public var uri: String
    /// The content type, without parameters.
    public var type: String
    /// The status of HTTP; 0: there is none.
    public var status: Int
    /// It is for the top frame.
    public var isForPage: Bool
}

/// Why a web process has ended.
public enum ProcessEnd: String, Sendable {
    case crashed
    case exceededMemory = "exceeded-memory"
    /// It was ended by this program.
    case terminated
}

/// What happens to a view. Called on the main thread. A view without a delegate navigates nowhere.
@MainActor
public protocol WebViewDelegate: AnyObject {
    /// A script of an isolated world posted a text.
    func webView(_ view: WebView, posted text: [UInt8], reply: consuming ScriptReply)
    /// A load went on. A load ends with ``LoadStep/finished``, or with a failure.
    func webView(_ view: WebView, load step: LoadStep)
    /// A load failed.
    func webView(_ view: WebView, failed failure: LoadFailure)
    /// Whether a navigation may go on.
    func webView(_ view: WebView, decide request: NavigationRequest) -> Bool
    /// Whether a response may be shown, or kept as a file.
    func webView(_ view: WebView, decide response: DocumentResponse) -> Bool
    /// A page asks its user.
    func webView(_ view: WebView, asks dialog: consuming ScriptDialog)
    /// The web process has ended.
    func webView(_ view: WebView, processEnded end: ProcessEnd)
    /// The title changed.
    func webViewTitleChanged(_ view: WebView)
    /// The address changed: also by `pushState` and fragments.
    func webViewAddressChanged(_ view: WebView)
    /// A load has begun, or none is under way any more: also where it was within the document.
    func webViewLoadingChanged(_ view: WebView)
    /// The progress of a load changed.
    func webViewProgressChanged(_ view: WebView)
    /// The page closes itself.
    func webViewClosed(_ view: WebView)
    /// Whether a page may use something.
    func webView(_ view: WebView, mayUse kind: PermissionKind) -> Bool
    /// A server asks for a name and a password.
    func webView(_ view: WebView, authenticates question: consuming AuthenticationQuestion)
    /// A certificate is not trusted.
    func webView(_ view: WebView, distrusts failure: CertificateFailure)
    /// A page opens a window: the view for it, whose opener is this one; nil: there is none.
    func webView(_ view: WebView, opens request: NavigationRequest) -> WebView?
    /// The window of such a view may be shown.
    func webViewReadyToShow(_ view: WebView)
    /// Whether a response may be kept as a file.
    func webViewMayDownload(_ view: WebView) -> Bool
}
