internal import BridgeJSON
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
    let window: WebWindow
    let bridge: PageBridge
    weak var container: Container?
    /// The porter's message that is always on its way.
    private var pull: ScriptReply?
    var waiters = LoadWaiters()
    /// The last navigation that a rule forbade, and the rule.
    var denied: LoadProblem?
    /// The question that the page waits for an answer to.
    var dialog: ScriptDialog?
    var dialogNumber = 0
    let watch: PageWatch

    init(number: Int, in container: Container) {
        self.number = number
        self.container = container
        let settings = container.settings
        view = WebView(container.engine, settings.view, world: container.world)
        bridge = PageBridge(socket: settings.socket, lent: settings.lent, userAgent: view.userAgent)
        window = WebWindow(view, settings.window)
        watch = PageWatch(settings.recovery, world: container.world)
        view.zoom = settings.zoom
        addScripts(settings.bridgeScripts, settings.lent, world: container.world)
        view.delegate = self
        bridge.delegate = self
        watch.page = self
        window.onCloseRequest = { [weak self] in self?.close() }
    }

    private func addScripts(_ scripts: BridgeScripts, _ lent: Set<PageOrigin>, world: String) {
        guard !lent.isEmpty else { return }
        let patterns = lent.map(\.pattern)
        view.add(UserScript(scripts.porter, world: world, patterns: patterns))
        view.add(UserScript(scripts.shim, patterns: patterns))
    }

    /// Has the view's process started, without a window.
    func prepare() { view.load("about:blank") }

    /// Shows the window.
    func show() {
        window.show()
        watch.start()
    }

    /// Closes the page.
    public func close() { container?.close(self) }

    func end() {
        watch.stop()
        leaveDocument(nil)
        waiters.end(.gone)
        view.delegate = nil
        window.close()
    }

    /// The document is another one now, or none.
    func leaveDocument(_ uri: String?) {
        pull = nil
        dialog = nil
        session = nil
        bridge.commit(uri)
    }

    func describe() { bridge.describe(PageDescription(uri: view.uri, title: view.title)) }

    func publish(_ name: String, _ members: JSONObject = [:]) { container?.publish(name, self, members) }

    /// Takes what the porter posted.
    func take(_ text: [UInt8], _ reply: consuming ScriptReply) {
        let outcome = bridge.posted(text)
        switch outcome.kind {
        case .answered: reply.answer([])
        case .held: pull = consume reply
        case .dropped: break
        }
        bridge.finish(outcome)
    }
}

extension Page: PageBridgeDelegate {
    /// As `PageBridgeDelegate` says.
    public func pageBridge(_ bridge: PageBridge, delivers lines: [UInt8]) { pull.take()?.answer(lines) }

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
