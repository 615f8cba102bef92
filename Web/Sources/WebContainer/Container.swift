// WebContainer: windows with pages, each with its bridge; where pages may go, what they ask, and what becomes of those
// that crash.
public import BridgeJSON
internal import MainLoop
internal import PageBridge
public import WebKitViews
internal import WebProfiles

/// The pages of one profile.
@MainActor
public final class Container {
    /// What it was made with.
    public let settings: ContainerSettings
    let engine: WebEngine
    /// The isolated world of the porter. Its name is random, so that no script of a page's can be given it.
    let world = "trestle-\(RandomName.make())"
    /// The pages that are shown, by their numbers.
    public private(set) var pages: [Int: Page] = [:]
    /// How many views wait, and how many pages are open.
    public private(set) var pool: ViewPool
    /// The posts of all pages.
    let posts = PostTurns()
    private let packages: PackageServer?
    /// The engine's cookies.
    public var cookies: WebCookieJar { engine.cookies }
    /// The downloads; nil: there are none.
    public private(set) var downloads: Downloads?
    /// What the profile and clients have added to documents to come.
    public var scripts: PageScripts {
        didSet { renewScripts() }
    }
    private(set) var additions = SharedAdditions()
    /// The handlers that clients have added. Documents that are shown get a change at once.
    public var handlers: PageHandlers {
        didSet {
            renewScripts()
            for page in waiting + pages.values { page.bridge.setHandlers(handlers.list) }
        }
    }
    /// What pages do not load, do not show, or load by https.
    var filters = PageFilters() {
        didSet { for page in waiting + pages.values { page.view.setFilters(filters.all) } }
    }
    /// Whether filters are being compiled, which takes time and a process.
    var isCompilingFilters = false
    /// The public parameters of pages.
    public var parameters: Parameters {
        didSet { renewScripts() }
    }
    /// What servers see as the user agent; nil: what the command line says.
    public var userAgent: WebView.UserAgent? {
        didSet { for page in waiting + pages.values { page.view.setUserAgent(userAgent ?? .own) } }
    }
    var pins = CertificatePins()
    /// Copies of pages that were shown.
    var kept = KeptPages()
    private var waiting: [Page] = []
    /// Whether views are made to wait: not before the first page.
    private var isPrewarmed = false
    private var filling: LoopSource?
    private var lastNumber = 0
    /// Called when the last page has been closed.
    public var onLastClosed: (@MainActor () -> Void)?
    /// Hears of what happens.
    public var onEvent: (@MainActor (ContainerEvent) -> Void)?
    /// Asks for a name and a password; nil: nobody has them.
    public var onCredentials: (@MainActor (JSON) async -> JSON?)?
    /// Asks the user for pages that have no session; nil: their questions are declined.
    public var onPanel: (@MainActor (JSON) async -> JSON?)?

    /// A container without pages. The display must be there.
    ///
    /// - Parameter settings: What it is made with.
    public init(_ settings: ContainerSettings) {
        self.settings = settings
        engine = WebEngine(settings.storage, settings.cookies, memoryMegabytes: settings.memoryMegabytes)
        pool = ViewPool(target: settings.warmViews, maximum: settings.maximumPages)
        parameters = settings.parameters
        scripts = PageScripts(settings.scripts)
        handlers = PageHandlers(reserved: settings.bridgeScripts.ownHandlers)
        packages = settings.packages.map { PackageServer($0, policy: settings.view.contentSecurityPolicy) }
        if let folder = settings.downloads { downloads = Downloads(folder, self) }
        renewScripts()
        engine.onDownload { [weak self] in self?.downloads?.begin($0) ?? false }
        packages?.container = self
        if let packages { engine.serve(PageOrigin.packageScheme) { [weak packages] in packages?.take($0) } }
    }

    // MARK: Pages

    /// Shows a window for a page, of which nothing is loaded yet; nil: as many are open as may be.
    public func open() -> Page? {
        let page: Page
        switch pool.admit() {
        case .busy: return nil
        case .warm: page = waiting.removeFirst()
        case .cold: page = makePage()
        }
        pages[page.number] = page
        page.show()
        fill()
        return page
    }

    /// Closes a page: its calls are cancelled, and its window goes.
    ///
    /// - Parameter page: The page.
    public func close(_ page: Page) {
        guard pages[page.number] === page else { return }
        publish("web.closed", page, [:])
        packages?.leave(page.number)
        pages[page.number] = nil
        pool.closed()
        page.end()
        fill()
        if pages.isEmpty { onLastClosed?() }
    }

    /// A page for a window that another one opens, whose window is shown later; nil: as many are open as may be.
    func open(relatedTo opener: Page) -> Page? {
        guard pool.admitNew() else { return nil }
        let page = makePage(opener)
        pages[page.number] = page
        return page
    }

    private func makePage(_ opener: Page? = nil) -> Page {
        lastNumber += 1
        return Page(number: lastNumber, in: self, opener: opener)
    }

    private func renewScripts() {
        additions.set(wantedAdditions)
        for page in waiting + pages.values { page.view.setAdditions(additions.list) }
    }

    /// Allows a certificate that the engine does not trust; false where too many hosts have one.
    ///
    /// - Parameters:
    ///   - host: The host.
    ///   - sha256: The certificate's SHA-256 in hexadecimal.
    public func allowCertificate(_ host: String, sha256: String) -> Bool {
        guard pins.allow(host, sha256) else { return false }
        if let failure = pins.lastFailure(of: host), pins.isAllowed(failure) { engine.trust(failure) }
        return true
    }

    /// What the engine keeps of sites.
    ///
    /// - Parameter types: The kinds that are asked for.
    /// - Throws: Why the engine does not list it.
    public func dataRecords(_ types: [WebsiteDataType]) async throws(EngineError) -> [WebsiteDataRecord] {
        try await engine.dataRecords(types)
    }

    /// Removes what the engine keeps, and all copies of pages.
    ///
    /// - Parameters:
    ///   - types: The kinds.
    ///   - names: The sites; nil: all.
    ///   - age: Only what was changed within this time; nil: all.
    /// - Throws: Why it was not removed.
    public func removeData(
        _ types: [WebsiteDataType], names: Set<String>?, within age: Duration?
    ) async throws(EngineError) {
        // They do not say which data they show.
        kept.removeAll()
        try await engine.removeData(types, names: names, within: age)
    }

    /// Publishes an event of the container, and on the session of each page.
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - completion: Is called at the end of each page's call, and released after the last one.
    public func publishByPages(_ event: String, _ completion: @escaping @MainActor () -> Void = {}) {
        onEvent?(ContainerEvent(name: event, data: [:]))
        for page in pages.values { page.publishAsPage(event, [:], completion) }
    }

    /// The machine has slept: pages that show nothing any more are loaded once more.
    public func woke() {
        for page in pages.values { page.watch.expectContent() }
    }

    /// Another start of the program named an address, or none: the first page comes to the front. One where pages may
    /// go is loaded in it.
    ///
    /// - Parameter uri: The address.
    public func opened(_ uri: String?) {
        guard let page = pages.values.min(by: { $0.number < $1.number }) else { return }
        page.window.show()
        guard let uri else { return }
        onEvent?(ContainerEvent(name: "lifecycle.opened", data: ["uri": .string(uri)]))
        page.publishAsPage("lifecycle.opened", ["uri": .string(uri)])
        // Whether it can be loaded, the page says.
        if settings.navigation.decide(uri) == .go { Task { try? await page.load(uri) } }
    }

    // MARK: Views that wait

    /// Makes the first view that is to wait. From then on, each one that is missing is made when nothing else is to be
    /// done.
    ///
    /// - Throws: Why the view's process has not started.
    public func prewarm() async throws(LoadProblem) {
        isPrewarmed = true
        if pool.missing > 0 { try await addWaiting() }
        fill()
    }

    /// Makes one view that is missing, when nothing else is to be done, and then the next.
    private func fill() {
        guard isPrewarmed, filling == nil, pool.missing > 0 else { return }
        filling = .timer(after: .milliseconds(100)) { [weak self] in
            guard let self else { return }
            filling = nil
            guard pool.missing > 0 else { return }
            Task { if (try? await self.addWaiting()) != nil { self.fill() } }
        }
    }

    /// Makes a view that waits, and returns when its process is there.
    private func addWaiting() async throws(LoadProblem) {
        let page = makePage()
        waiting.append(page)
        pool.made()
        do throws(LoadProblem) {
            try await page.prepare()
        } catch .cancelled {
            // It did not have to wait: a page was opened.
        }
    }

    /// The process of a view that waits has ended. It is replaced when the next page is opened or closed: where no
    /// process lives, this would go on for ever.
    func discard(_ page: Page) {
        guard let index = waiting.firstIndex(where: { $0 === page }) else { return }
        waiting.remove(at: index)
        pool.lost()
        page.end()
    }

    /// A page begins to load another document.
    func leavePackages(_ page: Page) { packages?.leave(page.number) }

    // MARK: Events

    /// Reports what happened to a page that is shown.
    func publish(_ name: String, _ page: Page?, _ members: JSONObject) {
        var data = JSONObject()
        if let page {
            guard pages[page.number] === page else { return }
            data["view"] = .number(JSONNumber(Int64(page.number)))
        }
        for (key, value) in members { data[key] = value }
        onEvent?(ContainerEvent(name: name, data: .object(data)))
    }
}
