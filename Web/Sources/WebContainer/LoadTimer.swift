internal import MainLoop
internal import WebKitViews

/// Ends loads whose document does not come in time.
@MainActor
final class LoadTimer {
    private let limit: Duration
    private var timer: LoopSource?
    /// The address of a load that this has ended: the engine will say that it was cancelled.
    private var ended: String?

    init(_ limit: Duration) { self.limit = limit }

    /// A load begins.
    func start(_ onEnd: @escaping @MainActor () -> Void) {
        ended = nil
        timer = .timer(after: limit, onEnd)
    }

    /// The document is there, or will not be.
    func stop() { timer = nil }

    /// The failure of a load that took too long.
    func failure(_ uri: String) -> LoadFailure {
        timer = nil
        ended = uri
        return LoadFailure(
            uri: uri, domain: "timeout", number: 0, message: "the server did not answer within \(limit)",
            isCancelled: false)
    }

    /// Whether a failure only says that this has ended the load; asked once.
    func isEcho(_ failure: LoadFailure) -> Bool {
        guard failure.isCancelled, failure.uri == ended else { return false }
        ended = nil
        return true
    }
}

/// Whether the error page is shown in place of a document.
enum ErrorPageState {
    case none
    /// It is to come: the steps that come are its own.
    case loading
    /// It is the view's document. The next load takes its place.
    case shown
}
