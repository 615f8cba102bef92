import BridgeJSON
import EventLoop

/// An event.
public struct BridgeEvent: Sendable, Hashable {
    /// Its name, such as `record.changed`.
    public var name: String
    /// Its data.
    public var data: JSON

    /// An event.
    public init(name: String, data: JSON) {
        self.name = name
        self.data = data
    }
}

/// The events that a subscription brings, in order, for one reader.
///
/// A reader that falls too far behind loses the oldest events and gets `bridge.events_dropped` with their `count`
/// instead. The subscription ends when the stream is no longer held, or with `end()`. The sequence ends when the client
/// is closed here, and fails with `session.closed` when the connection is lost.
public final class EventStream: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = BridgeEvent
    /// Why the connection was lost.
    public typealias Failure = BridgeError

    private let client: BridgeClient
    private let subscription: Subscriptions.Subscription

    init(_ client: BridgeClient, _ subscription: Subscriptions.Subscription) {
        self.client = client
        self.subscription = subscription
    }

    deinit {
        Task { [client, subscription] in await client.session.events.unsubscribe(subscription) }
    }

    /// Ends the subscription, and the sequence.
    public func end() async {
        await client.session.events.unsubscribe(subscription)
    }

    /// Takes the events.
    public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

    /// Takes events one by one.
    public struct Iterator: AsyncIteratorProtocol {
        let stream: EventStream

        /// The next event; nil at the end, and where the Swift task is cancelled.
        /// - Throws: `session.closed` where the connection was lost.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(BridgeError) -> BridgeEvent? {
            try await stream.subscription.mailbox.next()
        }
    }
}
