internal import WebKitViews

extension Page {
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
        try await wait(untilFinished) { $0.view.load(uri) }
    }

    /// Loads the document again.
    ///
    /// - Parameters:
    ///   - bypassingCache: Whether everything is asked of its server.
    ///   - untilFinished: Whether all that the document needs is waited for.
    /// - Throws: Why it is not there.
    public func reload(bypassingCache: Bool = false, untilFinished: Bool = false) async throws(LoadProblem) {
        try await wait(untilFinished) { $0.view.reload(bypassingCache: bypassingCache) }
    }

    private func wait(_ untilFinished: Bool, _ begin: @MainActor (Page) -> Void) async throws(LoadProblem) {
        let problem = await withCheckedContinuation { continuation in
            waiters.end(.cancelled)
            // A page that waits for an answer would not go on to the load.
            withdrawQuestion()
            waiters.add(untilFinished ? .finished : .committed, continuation)
            begin(self)
        }
        if let problem { throw problem }
    }
}
