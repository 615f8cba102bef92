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

    /// Requests an answer to a question of the page. The page waits; the main thread does not.
    func ask(_ dialog: consuming ScriptDialog) {
        guard let settings = container?.settings else { return }
        let isLeaving = dialog.kind == .leave
        // A kiosk's user is not asked whether the page may be left. Without panels no user is asked.
        if isLeaving, settings.window.isKiosk || settings.panels == .none { return dialog.accept() }
        guard settings.panels == .daemon else { return }
        let question = PanelQuestion(dialog, origin: origin)
        withdrawQuestion()
        self.dialog = consume dialog
        watch.suspend(true)
        let number = dialogNumber
        dialogCall = ask(question) { [weak self] in self?.answer(number, $0) }
    }

    /// The origin of the document; `nil` for none.
    var origin: String? { documentOrigin?.text }

    /// Asks the user on the document's session, or as the container if there is no session.
    ///
    /// - Returns: The number of the call on the document's session; `nil` for none.
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

    /// Withdraws the question: the page continues as if its user had declined, and the alert is removed.
    func withdrawQuestion() {
        dialogNumber += 1
        if let dialogCall { bridge.cancel(dialogCall) }
        dialogCall = nil
        if isAsking { watch.suspend(false) }
        dialog = nil
    }

    /// Answers the question with this number. Does nothing if the document was replaced meanwhile, because its question
    /// has ended too.
    private func answer(_ number: Int, _ answer: PanelAnswer) {
        guard number == dialogNumber, let dialog = dialog.take() else { return }
        dialogCall = nil
        watch.suspend(false)
        if case .accepted(let text) = answer { dialog.accept(text) }
    }
}
