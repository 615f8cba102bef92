// WebContainer: windows with pages, each with its bridge. It decides where pages may navigate, answers their requests,
// and recovers pages that crash.
public import BridgeJSON
internal import MainLoop
internal import PageBridge
public import WebKitViews
internal import WebProfiles

/// The pages of one profile.
@MainActor
public final class Container {
    /// The settings of the container.
    public let settings: ContainerSettings
    let engine: WebEngine
    /// The isolated world of the porter. Its name is random, so that no script of a page can run in it.
    let world = "trestle-\(RandomName.make())"
    /// The open pages, by their numbers.
    public private(set) var pages: [Int: Page] = [:]
    /// The numbers of waiting views and of open pages.
    public private(set) var pool: ViewPool
    /// The queue of the posts of all pages.
    let posts = PostTurns()
    private let packages: PackageServer?
    /// The engine's cookies.
    public var cookies: WebCookieJar { engine.cookies }
    /// The downloads; `nil` if downloads are not allowed.
    public private(set) var downloads: Downloads?
    /// The scripts and styles that the profile and clients have added to future documents.
    public var scripts: PageScripts {
        didSet { renewScripts() }
    }
    private(set) var additions = SharedAdditions()
    /// The handlers that clients have added. Open documents get a change immediately.
    public var handlers: PageHandlers {
        didSet {
            renewScripts()
            for page in waiting + pages.values { page.bridge.setHandlers(handlers.list) }
        }
    }
    /// The filters: what pages do not load, do not show, or load by https.
    var filters = PageFilters() {
        didSet { for page in waiting + pages.values { page.view.setFilters(filters.all) } }
    }
    /// Whether filters are being compiled, which takes time and a process.
    var isCompilingFilters = false
    /// The public parameters of pages.
    public var parameters: Parameters {
        didSet { renewScripts() }
    }
    /// The user agent that servers get; `nil` for the default one.
    public var userAgent: WebView.UserAgent? {
        didSet { for page in waiting + pages.values { page.view.setUserAgent(userAgent ?? .own) } }
    }
    var pins = CertificatePins()
    /// The copies of pages that were shown.
    var kept = KeptPages()
    private var waiting: [Page] = []
    /// Whether views are created in advance: not before the first page.
    private var isPrewarmed = false
    private var filling: LoopSource?
    private var lastNumber = 0
    /// Called when the last page has been closed.
    public var onLastClosed: (@MainActor () -> Void)?
    /// Receives the events of the container.
    public var onEvent: (@MainActor (ContainerEvent) -> Void)?
    /// Requests a name and a password; `nil` if there is no provider.
    public var onCredentials: (@MainActor (JSON) async -> JSON?)?
    /// Asks the user for pages that have no session; if `nil`, their questions are declined.
    public var onPanel: (@MainActor (JSON) async -> JSON?)?

    /// Creates a container without pages. The display must be open.
    ///
    /// - Parameter settings: The settings of the container.
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

    /// Shows a window for a page without a document; returns `nil` if the maximum number of pages is open.
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

    /// Closes a page: cancels its calls and closes its window.
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

    /// Creates a page for a window that another page opens; the window is shown later. Returns `nil` if the maximum
    /// number of pages is open.
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

    /// Allows a certificate that the engine does not trust; returns false if too many hosts have one.
    ///
    /// - Parameters:
    ///   - host: The host.
    ///   - sha256: The certificate's SHA-256 in hexadecimal.
    public func allowCertificate(_ host: String, sha256: String) -> Bool {
        guard pins.allow(host, sha256) else { return false }
        if let failure = pins.lastFailure(of: host), pins.isAllowed(failure) { engine.trust(failure) }
        return true
    }

    /// Returns the engine's data records of sites.
    ///
    /// - Parameter types: The requested kinds.
    /// - Throws: The reason why the engine cannot list them.
    public func dataRecords(_ types: [WebsiteDataType]) async throws(EngineError) -> [WebsiteDataRecord] {
        try await engine.dataRecords(types)
    }

    /// Removes the engine's data of sites, and all copies of pages.
    ///
    /// - Parameters:
    ///   - types: The kinds.
    ///   - names: The sites; `nil` for all.
    ///   - age: Only data that was changed within this time; `nil` for all.
    /// - Throws: The reason why the data was not removed.
    public func removeData(
        _ types: [WebsiteDataType], names: Set<String>?, within age: Duration?
    ) async throws(EngineError) {
        // It is unknown which data the copies show.
        kept.removeAll()
        try await engine.removeData(types, names: names, within: age)
    }

    /// Publishes an event of the container, and also on the session of each page.
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - completion: Called at the end of each page's call, and released after the last one.
    public func publishByPages(_ event: String, _ completion: @escaping @MainActor () -> Void = {}) {
        onEvent?(ContainerEvent(name: event, data: [:]))
        for page in pages.values { page.publishAsPage(event, [:], completion) }
    }

    /// Checks the pages after the machine has slept: pages that have become blank are reloaded.
    public func woke() {
        for page in pages.values { page.watch.expectContent() }
    }

    /// Handles another start of the program, with an address or without: the first page comes to the front. An address
    /// to which pages may navigate is loaded in it.
    ///
    /// - Parameter uri: The address; `nil` for none.
    public func opened(_ uri: String?) {
        guard let page = pages.values.min(by: { $0.number < $1.number }) else { return }
        page.window.show()
        guard let uri else { return }
        onEvent?(ContainerEvent(name: "lifecycle.opened", data: ["uri": .string(uri)]))
        page.publishAsPage("lifecycle.opened", ["uri": .string(uri)])
        // The page shows whether it can be loaded.
        if settings.navigation.decide(uri) == .go { Task { try? await page.load(uri) } }
    }

    // MARK: Waiting views

    /// Creates the first waiting view. From then on, each missing view is created after a short pause.
    ///
    /// - Throws: The reason why the view's process has not started.
    public func prewarm() async throws(LoadProblem) {
        isPrewarmed = true
        if pool.missing > 0 { try await addWaiting() }
        fill()
    }

    /// Creates one missing view after a short pause, then the next.
    private func fill() {
        guard isPrewarmed, filling == nil, pool.missing > 0 else { return }
        filling = .timer(after: .milliseconds(100)) { [weak self] in
            guard let self else { return }
            filling = nil
            guard pool.missing > 0 else { return }
            Task { if (try? await self.addWaiting()) != nil { self.fill() } }
        }
    }

    /// Creates a waiting view, and returns when its process has started.
    private func addWaiting() async throws(LoadProblem) {
        let page = makePage()
        waiting.append(page)
        pool.made()
        do throws(LoadProblem) {
            try await page.prepare()
        } catch .cancelled {
            // The view did not have to wait: a page was opened in it.
        }
    }

    /// Discards a waiting view whose process has ended. It is replaced when the next page is opened or closed: an
    /// immediate replacement would repeat forever if no process can run.
    func discard(_ page: Page) {
        guard let index = waiting.firstIndex(where: { $0 === page }) else { return }
        waiting.remove(at: index)
        pool.lost()
        page.end()
    }

    /// Notes that a page begins to load another document.
    func leavePackages(_ page: Page) { packages?.leave(page.number) }

    // MARK: Events

    /// Publishes an event of an open page, or of the container if `page` is `nil`.
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
