import TaskKit
import TaskKitTesting

/// A simulated user. Its session registers `ui.alert` and answers when the test requests it.
final class Person: Sendable {
    /// An event on the user's screen.
    enum Sight: Sendable, Equatable {
        case shown(JSON)
        /// The shown alert was withdrawn.
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
            // The loop ends without an answer if the call is cancelled.
            seen.yield(.withdrawn)
            throw CancellationError()
        }
    }

    /// Waits for the next event.
    func sees() async -> Sight? {
        for await sight in sights { return sight }
        return nil
    }

    func answers(_ answer: JSON) { answers.yield(answer) }
}
