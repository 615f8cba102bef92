/// The turns of one page's requests to a network: some at once, the others wait in their order.
@MainActor
final class NetworkTurns {
    /// As many as browsers have connections to a host. Each has two calls of the container's own at most.
    private static let maximum = 6

    private var running = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Waits for a turn, and gives it back after `body`.
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
