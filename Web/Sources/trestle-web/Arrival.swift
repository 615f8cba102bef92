/// Something that comes once, or that turns out not to come, and that one waits for.
@MainActor
final class Arrival {
    private var outcome: Result<Void, any Error>?
    private var waiting: CheckedContinuation<Void, any Error>?

    /// It is there now. What comes later changes nothing.
    func come() { settle(.success(())) }

    /// It will not come.
    ///
    /// - Parameter error: Why.
    func fail(_ error: any Error) { settle(.failure(error)) }

    private func settle(_ outcome: Result<Void, any Error>) {
        guard self.outcome == nil else { return }
        self.outcome = outcome
        waiting?.resume(with: outcome)
        waiting = nil
    }

    /// Returns when it is there. One waits at a time.
    ///
    /// - Throws: Why it will not come.
    func wait() async throws {
        if let outcome { return try outcome.get() }
        try await withCheckedThrowingContinuation { waiting = $0 }
    }
}
