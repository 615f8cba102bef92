/// Something that comes once, and that one waits for.
@MainActor
final class Arrival {
    private var hasCome = false
    private var waiting: CheckedContinuation<Void, Never>?

    /// It is there now.
    func come() {
        hasCome = true
        waiting?.resume()
        waiting = nil
    }

    /// Returns when it is there.
    func wait() async {
        if !hasCome { await withCheckedContinuation { waiting = $0 } }
    }
}
