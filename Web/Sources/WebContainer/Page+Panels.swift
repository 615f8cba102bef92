internal import BridgeJSON
internal import PageBridge
internal import WebKitViews
internal import WebProfiles

extension Page {
    /// Whether the page waits for an answer.
    var isAsking: Bool {
        switch dialog {
        case .some: true
        case .none: false
        }
    }

    /// Has a question of the page's answered. The page waits; the main thread does not.
    func ask(_ dialog: consuming ScriptDialog) {
        guard let settings = container?.settings else { return }
        let isLeaving = dialog.kind == .leave
        // A kiosk's user is not asked whether the page may be left, and nobody is where there are no panels.
        if isLeaving, settings.window.isKiosk || settings.panels == .none { return dialog.accept() }
        guard settings.panels == .daemon else { return }
        let question = PanelQuestion(dialog, origin: origin)
        withdrawQuestion()
        self.dialog = consume dialog
        watch.suspend(true)
        let number = dialogNumber
        dialogCall = ask(question) { [weak self] in self?.answer(number, $0) }
    }

    /// The origin of the document, where it has one.
    var origin: String? { view.uri.flatMap { PageOrigin(ofURI: $0)?.text } }

    /// Asks the user, on the document's session, else as the container.
    ///
    /// - Returns: The number of the call on the document's session.
    func ask(_ question: PanelQuestion, _ completion: @escaping @MainActor (PanelAnswer) -> Void) -> Int? {
        let options = question.options
        if let call = bridge.call("Alert", options, { completion(PanelAnswer($0)) }) { return call }
        guard let ask = container?.onPanel else {
            completion(.declined)
            return nil
        }
        Task { completion(PanelAnswer(await ask(options))) }
        return nil
    }

    /// The page is not asked any more: it goes on as if its user had declined, and the alert is taken away.
    func withdrawQuestion() {
        dialogNumber += 1
        if let dialogCall { bridge.cancel(dialogCall) }
        dialogCall = nil
        if isAsking { watch.suspend(false) }
        dialog = nil
    }

    /// Where the document has gone by then, its question has too.
    private func answer(_ number: Int, _ answer: PanelAnswer) {
        guard number == dialogNumber, let dialog = dialog.take() else { return }
        dialogCall = nil
        watch.suspend(false)
        if case .accepted(let text) = answer { dialog.accept(text) }
    }
}
