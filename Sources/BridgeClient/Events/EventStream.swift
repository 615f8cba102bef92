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
/// A reader that falls too far behind loses the oldest events and gets `bridge.events_dropped` with their `count` in
/// their place; the daemon does the same. After a connection was lost and made again it gets one whose `count` is null:
/// events may have been missed, and it is unknown how many. A retained event that came before the subscription is its
/// first one. The subscription ends when the stream is no longer held, or with `end()`. The sequence ends when the
/// bridge is closed here, and fails when there will be no other connection, or the next daemon refuses the
/// subscription.
public final class EventStream: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = BridgeEvent
    /// Why no further event comes.
    public typealias Failure = BridgeError

    private let bridge: Bridge
    private let subscription: Subscriptions.Subscription

    init(_ bridge: Bridge, _ subscription: Subscriptions.Subscription) {
        self.bridge = bridge
        self.subscription = subscription
    }

    deinit {
        Task { [bridge, subscription] in await bridge.session.events.unsubscribe(subscription) }
    }

    /// Ends the subscription, and the sequence.
    public func end() async {
        await bridge.session.events.unsubscribe(subscription)
    }

    /// Takes the events.
    public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

    /// Takes events one by one.
    public struct Iterator: AsyncIteratorProtocol {
        let stream: EventStream

        /// The next event; nil at the end, and where the Swift task is cancelled.
        /// - Throws: `session.closed` where there will be no other connection; what the next daemon says where it
        ///   refuses the subscription.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(BridgeError) -> BridgeEvent? {
            try await stream.subscription.mailbox.next()
        }
    }
}

extension Bridge {
    /// Listens to events: names, or beginnings of names with `*` behind. Ends when the stream is no longer held.
    ///
    ///     for try await event in try await bridge.subscribe(to: "record.*", "login.changed") { … }
    ///
    /// - Throws: As `call(_:_:as:session:timeout:retry:)`; `permission.denied` where a rule forbids one of them.
    public func subscribe(to patterns: String...) async throws(BridgeError) -> EventStream {
        try await subscribe(to: patterns)
    }

    /// The same for patterns in an array.
    public func subscribe(to patterns: [String]) async throws(BridgeError) -> EventStream {
        EventStream(self, try await session.events.subscribe(patterns))
    }
}
