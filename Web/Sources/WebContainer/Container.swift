// WebContainer: windows with pages, each with its bridge; where pages may go, what they ask, and what becomes of those
// that crash.
internal import BridgeJSON
internal import MainLoop
internal import PageBridge
internal import WebKitViews
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
    private let packages: PackageServer?
    private var waiting: [Page] = []
    private var filling: LoopSource?
    private var lastNumber = 0
    /// Called when the last page has been closed.
    public var onLastClosed: (@MainActor () -> Void)?
    /// Hears of what happens.
    public var onEvent: (@MainActor (ContainerEvent) -> Void)?
    /// Asks the user for a page; nil: questions are declined.
    public var onPanel: (@MainActor (PanelQuestion) async -> PanelAnswer)?

    /// A container without pages. The display must be there.
    ///
    /// - Parameter settings: What it is made with.
    public init(_ settings: ContainerSettings) {
        self.settings = settings
        engine = WebEngine(settings.storage)
        pool = ViewPool(target: settings.warmViews, maximum: settings.maximumPages)
        packages = settings.packages.map { PackageServer($0, policy: settings.view.contentSecurityPolicy) }
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

    private func makePage() -> Page {
        lastNumber += 1
        return Page(number: lastNumber, in: self)
    }

    // MARK: Views that wait

    /// Makes one view that is missing, when nothing else is to be done, and then the next.
    func fill() {
        guard filling == nil, pool.missing > 0 else { return }
        filling = .timer(after: .milliseconds(100)) { [weak self] in
            guard let self else { return }
            filling = nil
            guard pool.missing > 0 else { return }
            let page = makePage()
            page.prepare()
            waiting.append(page)
            pool.made()
            fill()
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

    /// Tells what happened to a page that is shown.
    func publish(_ name: String, _ page: Page, _ members: JSONObject) {
        guard pages[page.number] === page else { return }
        var data: JSONObject = ["view": .number(JSONNumber(Int64(page.number)))]
        for (key, value) in members { data[key] = value }
        onEvent?(ContainerEvent(name: name, data: .object(data)))
    }
}
