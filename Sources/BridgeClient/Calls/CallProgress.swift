import BridgeJSON
import EventLoop

/// A call in flight that reports progress: a sequence of its intermediate results, for one reader, and its end.
///
/// The sequence ends when the call does, however it ends; `result` then tells how. Of progress that nobody takes, the
/// oldest is dropped. A call whose `CallProgress` is no longer held is cancelled.
public final class CallProgress: AsyncSequence, Sendable {
    /// An intermediate result.
    public typealias Element = JSON
    /// Progress itself cannot fail.
    public typealias Failure = Never

    private let client: BridgeClient
    private let call: CallInFlight

    init(_ client: BridgeClient, _ call: CallInFlight) {
        self.client = client
        self.call = call
    }

    deinit {
        // Does nothing where the call has ended.
        EventLoop.post { [client, call] in
            client.session.calls.cancel(call, .cancelledHere(call.request.task, started: nil))
        }
    }

    /// Waits for the end of the call. Where the Swift task that waits is cancelled, the call is too.
    /// - Throws: what the callback says.
    public var result: JSON {
        get async throws(BridgeError) { try await client.session.calls.outcome(of: call) }
    }

    /// Ends the call; the daemon is told.
    public func cancel() async {
        await client.session.calls.cancel(call, .cancelledHere(call.request.task, started: nil))
    }

    /// Takes the intermediate results.
    public func makeAsyncIterator() -> Iterator { Iterator(progress: self) }

    /// Takes intermediate results one by one.
    public struct Iterator: AsyncIteratorProtocol {
        let progress: CallProgress

        /// The next intermediate result; nil when the call has ended, and where the Swift task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> JSON? {
            // A mailbox of progress ends without an error.
            try? await progress.call.progress?.next()
        }
    }
}
