/// Limits one page's parallel requests to a network; the others wait in their order.
@MainActor
final class NetworkTurns {
    /// The maximum number of running requests: as many as a browser's connections to a host. Each has at most two calls
    /// of the container's own.
    private static let maximum = 6

    private var running = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Waits for a turn, runs `body`, and returns the turn.
    func run(_ body: () async -> Void) async {
        if running < Self.maximum {
            running += 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
        await body()
        if waiting.isEmpty {
            running -= 1
        } else {
            waiting.removeFirst().resume()
        }
    }
}
