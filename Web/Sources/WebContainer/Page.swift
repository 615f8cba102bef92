internal import BridgeJSON
internal import MainLoop
public import PageBridge
public import WebKitViews
public import WebProfiles

/// A page that is shown: a view in a window, and the bridge of its document.
@MainActor
public final class Page {
    /// Its number in the container, never used again.
    public let number: Int
    /// The view.
    public let view: WebView
    /// The number of its document's session; nil: it has none.
    public private(set) var session: Int64?
    /// Its window.
    public let window: WebWindow
    let bridge: PageBridge
    weak var container: Container?
    private var replies = HeldReplies()
    var waiters = LoadWaiters()
    var awaited = AwaitedLoad()
    /// The address of the last load that a client began.
    var address: String?
    var settling: LoopSource?
    /// The load has ended, and its title may be about to come.
    var titleWait: LoopSource?
    /// The last navigation that a rule forbade, and the rule.
    var denied: LoadProblem?
    /// The question that the page waits for an answer to.
    var dialog: ScriptDialog?
    /// Counts questions, so that an answer finds its own.
    var dialogNumber = 0
    /// The call that asks it on the document's session.
    var dialogCall: Int?
    /// The user has already asked for the end of the window.
    private var isClosing = false
    let watch: PageWatch

    /// The question of a server's that is not answered yet.
    var credentials: AuthenticationQuestion?
    var credentialNumber = 0
    let loadTimer: LoadTimer
    var retries = LoadRetries()
    var errorPage = ErrorPageState.none
    /// The address with which the load started that has no document yet.
    var startedURI: String?
    /// The address in whose place the engine shows an empty document.
    var replaced: String?
    /// The address of the last document that the error page took the place of; nil: another one came since.
    var failedURI: String?
    var progress = RateLimit(.milliseconds(100))
    /// Where its document stands among those that were shown.
    var position = (back: 0, hasLater: false)
    /// The title that a client gave the window.
    public var windowTitle: String? {
        didSet { window.setTitle(windowTitle ?? view.title) }
    }

    init(number: Int, in container: Container, opener: Page? = nil) {
        self.number = number
        self.container = container
        let settings = container.settings
        view = WebView(container.engine, settings.view, world: container.world, opener: opener?.view)
        loadTimer = LoadTimer(settings.loadTimeout)
        bridge = PageBridge(socket: settings.socket, lent: settings.lent, userAgent: view.userAgent)
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

    /// The user closes the window. The page may ask first; the second time, it is not asked.
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

    /// The document is another one now, or none.
    func leaveDocument(_ uri: String?) {
        container?.posts.finish(self)
        replies.refuseAll()
        withdrawQuestion()
        isClosing = false
        credentials = nil
        session = nil
        bridge.commit(uri)
    }

    func describe() { bridge.describe(PageDescription(uri: view.uri, title: view.title)) }

    func publish(_ name: String, _ members: JSONObject = [:]) { container?.publish(name, self, members) }

    /// Publishes an event on the session of the document, which plugins know as the page's.
    func publishAsPage(_ event: String, _ data: JSON = [:], _ completion: @escaping @MainActor () -> Void = {}) {
        // Without a session the event goes to nobody.
        _ = bridge.call("bridge.publish", ["event": .string(event), "data": data]) { _ in completion() }
    }

    /// The window came into sight, or went out of it.
    private func sightChanged() {
        publishAsPage(window.isInSight ? "lifecycle.foreground" : "lifecycle.background")
        if window.isInSight { watch.expectContent() }
    }

    /// Does what the porter posted.
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
    /// As `PageBridgeDelegate` says.
    public func pageBridge(_ bridge: PageBridge, delivers lines: [UInt8]) { replies.answerOldest(lines) }

    /// As `PageBridgeDelegate` says.
    public func pageBridge(_ bridge: PageBridge, openedFor origin: PageOrigin, session: Int64?) {
        self.session = session
        publish("web.bridge.opened", ["origin": .string(origin.text)])
    }

    /// As `PageBridgeDelegate` says.
    public func pageBridge(_ bridge: PageBridge, refused origin: String, because reason: String) {
        publish("web.bridge.refused", ["origin": .string(origin), "reason": .string(reason)])
    }

    /// As `PageBridgeDelegate` says.
    public func pageBridgeClosed(_ bridge: PageBridge) { close() }
}
