import TaskKit
import TaskKitTesting

/// Somebody who is shown alerts, by way of a session that registered `ui.alert`, and who answers when the test says so.
final class Person: Sendable {
    /// What a person sees.
    enum Sight: Sendable, Equatable {
        case shown(JSON)
        /// The alert that was shown is taken away.
        case withdrawn
    }

    let session: TestSession
    private let sights: AsyncStream<Sight>
    private let answers: AsyncStream<JSON>.Continuation

    init(on bridge: TestBridge) async throws {
        session = await bridge.session()
        let (sights, seen) = AsyncStream.makeStream(of: Sight.self)
        let (answers, answer) = AsyncStream.makeStream(of: JSON.self)
        (self.sights, self.answers) = (sights, answer)
        try await session.provide("ui.alert") { options in
            seen.yield(.shown(options))
            for await answer in answers { return answer }
            // The wait ends without an answer where the call is cancelled.
            seen.yield(.withdrawn)
            throw CancellationError()
        }
    }

    /// What is seen next.
    func sees() async -> Sight? {
        for await sight in sights { return sight }
        return nil
    }

    func answers(_ answer: JSON) { answers.yield(answer) }
}
