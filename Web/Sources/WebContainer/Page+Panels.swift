internal import WebKitViews

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
        guard dialog.kind != .leave else { return dialog.accept() }
        guard let ask = container?.onPanel else { return }
        let question = PanelQuestion(
            kind: dialog.kind.rawValue, message: dialog.message, defaultText: dialog.defaultText)
        dialogNumber += 1
        let number = dialogNumber
        self.dialog = consume dialog
        watch.suspend(true)
        Task { [weak self] in
            let answer = await ask(question)
            self?.answer(number, answer)
        }
    }

    /// Where the document has gone by then, its question has too.
    private func answer(_ number: Int, _ answer: PanelAnswer) {
        guard number == dialogNumber else { return }
        watch.suspend(false)
        guard let dialog = dialog.take() else { return }
        if case .accepted(let text) = answer { dialog.accept(text) }
    }
}
