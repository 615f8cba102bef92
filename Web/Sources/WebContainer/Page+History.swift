internal import WebKitViews

extension Page {
    /// How the address has changed, by the place of the document among those that were shown.
    func historyKind() -> String {
        let before = position
        position = view.historyPosition
        if view.isLoading { return "load" }
        if position.back > before.back, !position.hasLater { return "push" }
        if position.back == before.back, position.hasLater == before.hasLater { return "replace" }
        return "backforward"
    }
}
