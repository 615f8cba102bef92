import BridgeJSON
import EventLoop

/// A call in flight that reports progress; it is cancelled when this is no longer held.
///
/// A sequence of the call's intermediate results, for one reader, and its end: the sequence ends when the call does,
/// however it ends, and `result` then returns or throws. Of progress that is not taken, the oldest is dropped, beyond
/// `Bridge.Limits.maximumQueuedProgress`. What does not fit `Progress` is left out.
public final class CallProgress<Progress: Decodable & Sendable, Result: Decodable & Sendable>: AsyncSequence, Sendable {
    /// An intermediate result.
    public typealias Element = Progress
    /// Progress itself cannot fail.
    public typealias Failure = Never

    private let bridge: Bridge
    private let call: CallInFlight

    init(_ bridge: Bridge, _ call: CallInFlight) {
        self.bridge = bridge
        self.call = call
    }

    deinit {
        // Does nothing where the call has ended.
        EventLoop.post { [bridge, call] in
            bridge.session.calls.cancel(call, .cancelledHere(call.request.task, started: nil))
        }
    }

    /// Waits for the end of the call. Where the Swift task that waits is cancelled, the call is too.
    /// - Throws: What the callback says; `result.invalid` where the result does not fit its type.
    public var result: Result {
        get async throws(BridgeError) {
            let session = bridge.session
            return try CallJSON.result(
                try await session.calls.outcome(of: call), of: call.request.task, session.streamReaders(nil))
        }
    }

    /// Ends the call, and has the daemon end its work.
    public func cancel() async {
        await bridge.session.calls.cancel(call, .cancelledHere(call.request.task, started: nil))
    }

    /// Takes the intermediate results.
    public func makeAsyncIterator() -> Iterator { Iterator(progress: self) }

    /// Takes intermediate results one by one.
    public struct Iterator: AsyncIteratorProtocol {
        let progress: CallProgress

        /// The next intermediate result; nil when the call has ended, and where the Swift task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Progress? {
            // A mailbox of progress ends without an error.
            while let json = try? await progress.call.progress?.next() {
                if let value = try? CallJSON.value(Progress.self, json) { return value }
            }
            return nil
        }
    }
}
