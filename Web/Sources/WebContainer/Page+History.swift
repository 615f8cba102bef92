internal import WebKitViews

extension Page {
    /// Returns how the address has changed, by the position of the document in the history.
    func historyKind() -> String {
        let before = position
        position = view.historyPosition
        if view.isLoading { return "load" }
        if position.back > before.back, !position.hasLater { return "push" }
        if position.back == before.back, position.hasLater == before.hasLater { return "replace" }
        return "backforward"
    }
}
