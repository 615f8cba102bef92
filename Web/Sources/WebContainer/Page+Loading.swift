internal import MainLoop
internal import WebKitViews

extension Page {
    /// Has the view's process started, without a window.
    ///
    /// - Throws: `cancelled` where the page was used meanwhile, `gone` where the process has ended.
    func prepare() async throws(LoadProblem) {
        try await wait(false) {
            $0.view.load(Self.blank)
            return true
        }
    }

    /// Loads an address.
    ///
    /// - Parameters:
    ///   - uri: The address.
    ///   - untilFinished: Whether all that the document needs is waited for, and not only the document.
    /// - Throws: Why it is not there.
    public func load(_ uri: String, untilFinished: Bool = false) async throws(LoadProblem) {
        if let rules = container?.settings.navigation, case .refuse(let rule) = rules.decide(uri) {
            throw .denied(uri: uri, rule: rule)
        }
        let parameters = container?.parameters ?? Parameters()
        try await wait(untilFinished) {
            $0.view.load(parameters.address(uri), headers: parameters.headers(uri))
            return true
        }
    }

    /// Goes to an earlier or a later document.
    ///
    /// - Parameters:
    ///   - steps: How many documents: below 0 to earlier ones.
    ///   - untilFinished: Whether all that the document needs is waited for.
    /// - Returns: Whether there is such a document.
    /// - Throws: Why it is not there.
    public func go(steps: Int, untilFinished: Bool = false) async throws(LoadProblem) -> Bool {
        var exists = true
        try await wait(untilFinished, isInHistory: true) { page in
            exists = page.view.go(steps: steps)
            return exists
        }
        return exists
    }

    /// Loads the document again.
    ///
    /// - Parameters:
    ///   - bypassingCache: Whether everything is asked of its server.
    ///   - untilFinished: Whether all that the document needs is waited for.
    /// - Throws: Why it is not there.
    public func reload(bypassingCache: Bool = false, untilFinished: Bool = false) async throws(LoadProblem) {
        try await wait(untilFinished) {
            $0.view.reload(bypassingCache: bypassingCache)
            return true
        }
    }

    /// Ends a load and the calls that wait for it.
    public func stop() {
        view.stop()
        awaited.end()
        waiters.end(.cancelled)
    }

    /// The address has changed. Where a client's load was within the document, there are no steps to wait for.
    func settle() {
        guard awaited.mayBeWithinDocument(view.uri) else { return settling = nil }
        // The engine reports the address before it reports that a load starts, and both at once.
        settling = .timer(after: .milliseconds(1)) { [weak self] in
            guard let self, awaited.mayBeWithinDocument(view.uri), !view.isLoading else { return }
            awaited.end()
            waiters.finished()
        }
    }

    /// The load has ended. The engine reports the title of the document before that or up to some milliseconds later.
    func awaitTitle() {
        guard view.title.isEmpty else { return waiters.finished() }
        titleWait = .timer(after: .milliseconds(100)) { [weak self] in self?.endTitleWait() }
    }

    /// The title is there, or there is none.
    func endTitleWait() {
        guard titleWait != nil else { return }
        titleWait = nil
        waiters.finished()
    }

    /// Loads the document again whose process has ended: where there was none yet, the one that was to come.
    func restore() {
        if view.uri?.isEmpty == false { return view.reload() }
        if let address { view.load(address) }
    }

    /// Waits for a load that `begin` begins, or that it says there is none of.
    private func wait(
        _ untilFinished: Bool, isInHistory: Bool = false, _ begin: @MainActor (Page) -> Bool
    ) async throws(LoadProblem) {
        waiters.end(.cancelled)
        titleWait = nil
        // A page that waits for an answer would not go on to the load.
        withdrawQuestion()
        try await waitForErrorPage()
        let problem = await withCheckedContinuation { continuation in
            denied = nil
            waiters.add(untilFinished ? .finished : .committed, continuation)
            guard begin(self) else { return waiters.finished() }
            address = view.uri
            awaited.begin(address, isInHistory: isInHistory)
        }
        if let problem { throw problem }
    }

    /// Waits until the error page that is to come is there. The engine sends it to its process later than a load that
    /// begins after it, which it would end.
    ///
    /// - Throws: Why the load that is to begin then does not begin.
    private func waitForErrorPage() async throws(LoadProblem) {
        guard errorPage == .loading else { return }
        let ends = waiters.ends
        if let problem = await withCheckedContinuation({ waiters.add(.errorPage, $0) }) { throw problem }
        // Another load may have begun before this continues.
        guard waiters.ends == ends else { throw .cancelled }
    }
}
