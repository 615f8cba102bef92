internal import BridgeJSON
internal import MainLoop
public import PageBridge
public import WebKitViews
public import WebProfiles

/// A page: a view in a window, and the bridge of its document.
@MainActor
public final class Page {
    /// The page's number in the container; numbers are never reused.
    public let number: Int
    /// The view.
    public let view: WebView
    /// The number of its document's session; `nil` for none.
    public private(set) var session: Int64?
    /// The window.
    public let window: WebWindow
    let bridge: PageBridge
    weak var container: Container?
    private var replies = HeldReplies()
    var waiters = LoadWaiters()
    var awaited = AwaitedLoad()
    /// The address of the last load that a client began.
    var address: String?
    var settling: LoopSource?
    /// The timer after the end of a load whose title may still arrive; `nil` if none is awaited.
    var titleWait: LoopSource?
    /// The last navigation that a rule forbade, and the rule.
    var denied: LoadProblem?
    /// The question whose answer the page waits for.
    var dialog: ScriptDialog?
    /// The number of the question, which assigns answers to questions.
    var dialogNumber = 0
    /// The call for the question on the document's session.
    var dialogCall: Int?
    /// Whether the user has already requested to close the window.
    private var isClosing = false
    let watch: PageWatch

    /// The server's unanswered question for credentials.
    var credentials: AuthenticationQuestion?
    var credentialNumber = 0
    let loadTimer: LoadTimer
    var retries = LoadRetries()
    var errorPage = ErrorPageState.none
    /// The origin of the document; `nil` for none. It does not change while a load waits for its response, whose
    /// address `view.uri` may be.
    private(set) var documentOrigin: PageOrigin?
    /// The address of a started load that has no document yet.
    var startedURI: String?
    /// The address that the engine has replaced with an empty document.
    var replaced: String?
    /// The address of the last document that was replaced by an error page; `nil` if another one has arrived since.
    var failedURI: String?
    var progress = RateLimit(.milliseconds(100))
    /// The position of its document in the history.
    var position = (back: 0, hasLater: false)
    /// The window title that a client has set; `nil` for the document's title.
    public var windowTitle: String? {
        didSet { window.setTitle(windowTitle ?? view.title) }
    }

    init(number: Int, in container: Container, opener: Page? = nil) {
        self.number = number
        self.container = container
        let settings = container.settings
        view = WebView(container.engine, settings.view, world: container.world, opener: opener?.view)
        loadTimer = LoadTimer(settings.loadTimeout)
        bridge = PageBridge(socket: settings.socket, bridgeOrigins: settings.bridgeOrigins, userAgent: view.userAgent)
        window = WebWindow(view, settings.window)
        watch = PageWatch(settings.recovery, world: container.world)
        view.zoom = settings.zoom
        view.setAdditions(container.additions.list)
        view.setFilters(container.filters.all)
        if let userAgent = container.userAgent { view.setUserAgent(userAgent) }
        view.delegate = self
        bridge.delegate = self
        watch.page = self
        window.onSightChange = { [weak self] in self?.sightChanged() }
        window.onCloseRequest = { [weak self] in self?.userCloses() }
    }

    /// Handles the user's request to close the window. The page may ask the user first; at the second request it may
    /// not.
    private func userCloses() {
        guard !isClosing, !isAsking else { return close() }
        isClosing = true
        view.tryClose()
    }

    /// Shows the window.
    func show() {
        window.show()
        watch.start()
    }

    /// Closes the page.
    public func close() { container?.close(self) }

    func end() {
        watch.stop()
        loadTimer.stop()
        leaveDocument(nil)
        waiters.end(.gone)
        view.delegate = nil
        window.close()
    }

    /// Notes that the page has another document, or none.
    func leaveDocument(_ uri: String?) {
        container?.posts.finish(self)
        replies.refuseAll()
        withdrawQuestion()
        isClosing = false
        credentials = nil
        session = nil
        documentOrigin = uri.flatMap { PageOrigin(ofURI: $0) }
        bridge.commit(uri)
    }

    func describe() { bridge.describe(PageDescription(uri: view.uri, title: view.title)) }

    func publish(_ name: String, _ members: JSONObject = [:]) { container?.publish(name, self, members) }

    /// Publishes an event on the session of the document; plugins receive it as an event of the page.
    func publishAsPage(_ event: String, _ data: JSON = [:], _ completion: @escaping @MainActor () -> Void = {}) {
        // Without a session the event is not sent.
        _ = bridge.call("bridge.publish", ["event": .string(event), "data": data]) { _ in completion() }
    }

    /// Reports that the window has become visible or hidden.
    private func sightChanged() {
        publishAsPage(window.isInSight ? "lifecycle.foreground" : "lifecycle.background")
        if window.isInSight { watch.expectContent() }
    }

    /// Handles a post of the porter.
    func handle(_ text: [UInt8], _ reply: consuming ScriptReply) {
        let outcome = bridge.posted(text)
        switch outcome.kind {
        case .held: replies.hold(reply)
        case .begins:
            replies.refuseAll()
            replies.hold(reply)
        case .dropped: break
        }
        bridge.finish(outcome)
    }
}

extension Page: PageBridgeDelegate {
    /// See `PageBridgeDelegate`.
    public func pageBridge(_ bridge: PageBridge, delivers lines: [UInt8]) { replies.answerOldest(lines) }

    /// See `PageBridgeDelegate`.
    public func pageBridge(_ bridge: PageBridge, openedFor origin: PageOrigin, session: Int64?) {
        self.session = session
        publish("web.bridge.opened", ["origin": .string(origin.text)])
    }

    /// See `PageBridgeDelegate`.
    public func pageBridge(_ bridge: PageBridge, refused origin: String, because reason: String) {
        publish("web.bridge.refused", ["origin": .string(origin), "reason": .string(reason)])
    }

    /// See `PageBridgeDelegate`.
    public func pageBridgeClosed(_ bridge: PageBridge) { close() }
}
