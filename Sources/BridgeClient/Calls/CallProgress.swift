import BridgeJSON
import EventLoop

/// A call in flight that reports progress. It is cancelled when this value is released.
///
/// A sequence of the call's intermediate results, for one reader, and the call's result. The sequence ends when the
/// call ends, however it ends; `result` then returns or throws. If more than `Bridge.Limits.maximumQueuedProgress`
/// intermediate results wait, the oldest are dropped. Values that do not fit `Progress` are left out.
public final class CallProgress<Progress: Decodable & Sendable, Result: Decodable & Sendable>: AsyncSequence, Sendable {
    /// An intermediate result.
    public typealias Element = Progress
    /// The sequence does not fail.
    public typealias Failure = Never

    private let bridge: Bridge
    private let call: CallInFlight

    init(_ bridge: Bridge, _ call: CallInFlight) {
        self.bridge = bridge
        self.call = call
    }

    deinit {
        // Does nothing if the call has ended.
        EventLoop.post { [bridge, call] in
            bridge.session.calls.cancel(call, .cancelledHere(call.request.task, started: nil))
        }
    }

    /// Waits for the end of the call and returns its result. If the Swift task that waits is cancelled, so is the call.
    /// - Throws: The error in the callback; `result.invalid` if the result does not fit its type.
    public var result: Result {
        get async throws(BridgeError) {
            let session = bridge.session
            return try CallJSON.result(
                try await session.calls.outcome(of: call), of: call.request.task, session.streamReaders(nil))
        }
    }

    /// Cancels the call here and at the daemon.
    public func cancel() async {
        await bridge.session.calls.cancel(call, .cancelledHere(call.request.task, started: nil))
    }

    /// Returns the iterator of the intermediate results.
    public func makeAsyncIterator() -> Iterator { Iterator(progress: self) }

    /// An iterator over the intermediate results.
    public struct Iterator: AsyncIteratorProtocol {
        let progress: CallProgress

        /// Returns the next intermediate result; `nil` when the call has ended, and if the Swift task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Progress? {
            // A progress mailbox ends without an error.
            while let json = try? await progress.call.progress?.next() {
                if let value = try? CallJSON.value(Progress.self, json) { return value }
            }
            return nil
        }
    }
}
