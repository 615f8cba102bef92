internal import MainLoop
internal import WebKitViews

/// A timer that ends loads whose document does not arrive in time.
@MainActor
final class LoadTimer {
    private let limit: Duration
    private var timer: LoopSource?
    /// The address of a load that this timer has ended: the engine will report it as cancelled.
    private var ended: String?

    init(_ limit: Duration) { self.limit = limit }

    /// Starts the timer for a load.
    func start(_ onEnd: @escaping @MainActor () -> Void) {
        ended = nil
        timer = .timer(after: limit, onEnd)
    }

    /// Stops the timer: the document has arrived, or the load has failed.
    func stop() { timer = nil }

    /// Returns the failure of a load that took too long.
    func failure(_ uri: String) -> LoadFailure {
        timer = nil
        ended = uri
        return LoadFailure(
            uri: uri, domain: "timeout", number: 0, message: "the server did not answer within \(limit)",
            isCancelled: false)
    }

    /// Whether a failure only reports that this timer has ended the load; called once for each.
    func isEcho(_ failure: LoadFailure) -> Bool {
        guard failure.isCancelled, failure.uri == ended else { return false }
        ended = nil
        return true
    }
}

/// Whether the error page is shown in place of a document.
enum ErrorPageState {
    case none
    /// It is loading: arriving steps are its own.
    case loading
    /// It is the view's document. The next load replaces it.
    case shown
}
