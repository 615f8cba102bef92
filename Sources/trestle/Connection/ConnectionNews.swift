import BridgeClient
import BridgeJSON

/// The messages of a reconnecting command: one line when the connection is lost, regardless of the number of attempts,
/// and one when it is restored.
struct ConnectionNews {
    private var isLost = false

    /// Returns the lines to report for a state; empty if it was already reported.
    mutating func lines(for state: ConnectionState) -> [String] {
        switch state {
        case .waiting(let reason, _, _):
            defer { isLost = true }
            return isLost ? [] : ["\(reason.message); connecting again"]
        case .open(_, _, let refused):
            guard isLost else { return [] }
            isLost = false
            return ["connected to the daemon again"]
                + refused.map { "\($0.task) is no longer provided: \($0.error.message) (\($0.error.code))" }
        case .closed:
            // The code that uses the client reports the reason.
            return []
        }
    }

    /// Reports changes on standard error while `body` runs.
    static func reporting<T: Sendable>(
        of client: Bridge, while body: () async throws -> T
    ) async rethrows -> T {
        let states = client.states
        let notifier = Task {
            var news = ConnectionNews()
            for await state in states { news.lines(for: state).forEach(News.note) }
        }
        defer { notifier.cancel() }
        return try await body()
    }
}
