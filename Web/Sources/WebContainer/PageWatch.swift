internal import BridgeJSON
internal import MainLoop
internal import WebKitViews

/// Watches one page, and performs the actions of ``Recovery`` for crashes, hangs and blank pages.
@MainActor
final class PageWatch {
    /// The interval between the checks whether a page responds.
    private static let interval = Duration.seconds(5)
    /// The time in which a page must show content after it has been loaded, or the machine has woken.
    private static let blankAfter = Duration.seconds(2)
    /// A script that returns true for a page without text and media.
    private static let blankCheck = """
        return document.body === null || document.body.innerText.trim() === "" \
            && !document.querySelector("img, svg, canvas, video, iframe, object, embed, input, button");
        """

    weak var page: Page?
    private let world: String
    private var recovery: Recovery
    private let beginning = ContinuousClock.now
    private var timer: LoopSource?
    /// The time that has passed according to the timer.
    private var seen = Duration.zero
    private var blank: LoopSource?

    init(_ rules: Recovery.Rules, world: String) {
        recovery = Recovery(rules)
        self.world = world
    }

    /// The time since the page was made.
    var now: Duration { beginning.duration(to: .now) }

    /// Starts the checks whether the page responds.
    func start() {
        timer = .timer(after: Self.interval, repeats: true) { [weak self] in
            guard let self else { return }
            seen += Self.interval
            perform(recovery.tick(at: seen))
        }
    }

    /// Notes that the page has a document.
    func committed() { recovery.committed() }

    func stop() {
        timer = nil
        blank = nil
    }

    /// Notes that a dialog blocks the page, or no longer does.
    func suspend(_ isSuspended: Bool) { recovery.suspend(isSuspended) }

    /// Handles the end of the page's process.
    func crashed(_ reason: String) {
        guard timer != nil else {
            if let page { page.container?.discard(page) }
            return
        }
        let action = recovery.crashed(at: now)
        var members: JSONObject = ["reason": .string(reason), "willReload": false]
        if case .reload(let count) = action {
            members["willReload"] = true
            members["reloads"] = .number(JSONNumber(Int64(count)))
        }
        page?.publish("web.crashed", members)
        perform(action)
    }

    /// Schedules a check for a blank page: the document has loaded completely, or has become visible again.
    func expectContent() {
        blank = .timer(after: Self.blankAfter) { [weak self] in self?.look() }
    }

    private func look() {
        // While another document is loading, this one is not checked; reloading it would end that load.
        guard let page, !page.isAsking, !page.view.isLoading, let uri = page.view.uri, uri != "about:blank" else {
            return
        }
        Task { [weak self] in
            let answer = try? await page.view.evaluate(Self.blankCheck, world: self?.world)
            self?.looked(isBlank: answer == "true")
        }
    }

    private func looked(isBlank: Bool) {
        guard page?.view.isLoading == false else { return }
        let action = recovery.looked(isBlank: isBlank, at: now)
        if action != nil { page?.publish("web.blank") }
        if !isBlank { page?.keep() }
        perform(action)
    }

    private func perform(_ action: Recovery.Action?) {
        guard let action, let page else { return }
        switch action {
        case .reload: page.restore()
        case .abandon:
            let uri = page.view.uri ?? "about:blank"
            page.showError("This page has crashed", "It was loaded again, and crashed again.", uri)
        case .ask: ask(page)
        case .endProcess:
            page.publish("web.unresponsive")
            page.view.endProcess()
        case .responsive: page.publish("web.responsive")
        }
    }

    private func ask(_ page: Page) {
        Task { [weak self] in
            _ = try? await page.view.evaluate("return 1", world: self?.world)
            self.map { $0.perform($0.recovery.answered()) }
        }
    }
}
