/// Which events a subscription is for: one name, or all names with a beginning.
struct EventPattern: Hashable {
    /// As the client wrote it.
    let text: String

    /// Nil where the text is no pattern: empty, or with a `*` anywhere but at its end.
    init?(_ text: String) {
        guard !text.isEmpty, !text.dropLast().contains("*") else { return nil }
        self.text = text
    }

    func matches(_ event: String) -> Bool {
        text.last == "*" ? event.utf8.starts(with: text.utf8.dropLast()) : event == text
    }
}
