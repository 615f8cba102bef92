internal import MainLoop
internal import WebKitViews

extension Page {
    /// Starts the view's process, without a window.
    ///
    /// - Throws: `cancelled` if the page was used meanwhile, `gone` if the process has ended.
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
    /// - Throws: The reason why the document did not load.
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

    /// Navigates to an earlier or a later document of the history.
    ///
    /// - Parameters:
    ///   - steps: The number of documents; negative for earlier ones.
    ///   - untilFinished: Whether all that the document needs is waited for.
    /// - Returns: Whether the document exists.
    /// - Throws: The reason why the document did not load.
    public func go(steps: Int, untilFinished: Bool = false) async throws(LoadProblem) -> Bool {
        var exists = true
        try await wait(untilFinished, isInHistory: true) { page in
            exists = page.view.go(steps: steps)
            return exists
        }
        return exists
    }

    /// Reloads the document.
    ///
    /// - Parameters:
    ///   - bypassingCache: Whether everything is requested from its server.
    ///   - untilFinished: Whether all that the document needs is waited for.
    /// - Throws: The reason why the document did not load.
    public func reload(bypassingCache: Bool = false, untilFinished: Bool = false) async throws(LoadProblem) {
        try await wait(untilFinished) {
            $0.view.reload(bypassingCache: bypassingCache)
            return true
        }
    }

    /// Stops a load and ends the calls that wait for it.
    public func stop() {
        view.stop()
        awaited.end()
        waiters.end(.cancelled)
    }

    /// Ends the wait for a client's load that stayed within the document, because such a load has no steps. Called when
    /// the address has changed.
    func settle() {
        guard awaited.mayBeWithinDocument(view.uri) else { return settling = nil }
        // The engine reports the address before the start of a load, but both in the same turn.
        settling = .timer(after: .milliseconds(1)) { [weak self] in
            guard let self, awaited.mayBeWithinDocument(view.uri), !view.isLoading else { return }
            awaited.end()
            waiters.finished()
        }
    }

    /// Waits for the title after the load has ended. The engine reports it before that or up to some milliseconds
    /// later.
    func awaitTitle() {
        guard view.title.isEmpty else { return waiters.finished() }
        titleWait = .timer(after: .milliseconds(100)) { [weak self] in self?.endTitleWait() }
    }

    /// Ends the wait: the title has arrived, or there is none.
    func endTitleWait() {
        guard titleWait != nil else { return }
        titleWait = nil
        waiters.finished()
    }

    /// Reloads the document whose process has ended. If there was none yet, loads the address that was being loaded.
    func restore() {
        if view.uri?.isEmpty == false { return view.reload() }
        if let address { view.load(address) }
    }

    /// Waits for the load that `begin` starts; `begin` returns false if there is none.
    private func wait(
        _ untilFinished: Bool, isInHistory: Bool = false, _ begin: @MainActor (Page) -> Bool
    ) async throws(LoadProblem) {
        waiters.end(.cancelled)
        titleWait = nil
        // A page that waits for an answer would not continue to the load.
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

    /// Waits until a loading error page has arrived. The engine sends it to its process later than a load that begins
    /// after it, and it would end that load.
    ///
    /// - Throws: The reason why the next load does not begin.
    private func waitForErrorPage() async throws(LoadProblem) {
        guard errorPage == .loading else { return }
        let ends = waiters.ends
        if let problem = await withCheckedContinuation({ waiters.add(.errorPage, $0) }) { throw problem }
        // Another load may have begun before this continues.
        guard waiters.ends == ends else { throw .cancelled }
    }
}
