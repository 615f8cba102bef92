/// An event that happens once or fails, and that one caller can wait for.
@MainActor
final class Arrival {
    private var outcome: Result<Void, any Error>?
    private var waiting: CheckedContinuation<Void, any Error>?

    /// Marks the event as happened. Later calls have no effect.
    func come() { settle(.success(())) }

    /// Marks the event as failed.
    ///
    /// - Parameter error: The reason.
    func fail(_ error: any Error) { settle(.failure(error)) }

    private func settle(_ outcome: Result<Void, any Error>) {
        guard self.outcome == nil else { return }
        self.outcome = outcome
        waiting?.resume(with: outcome)
        waiting = nil
    }

    /// Waits for the event. Only one caller may wait at a time.
    ///
    /// - Throws: The reason of the failure.
    func wait() async throws {
        if let outcome { return try outcome.get() }
        try await withCheckedThrowingContinuation { waiting = $0 }
    }
}
