import BridgeJSON
import EventLoop

/// An event.
public struct BridgeEvent: Sendable, Hashable {
    /// The event's name, such as `record.changed`.
    public var name: String
    /// The event's data.
    public var data: JSON

    /// Creates an event.
    public init(name: String, data: JSON) {
        self.name = name
        self.data = data
    }
}

/// The events of a subscription, in order, for one reader.
///
/// A reader that falls too far behind loses the oldest events and gets `bridge.events_dropped` with their `count` in
/// their place; the daemon does the same. After a reconnection the reader gets one whose `count` is null: an unknown
/// number of events may have been missed. The first event is a retained event that was published before the
/// subscription, if there is one. The subscription ends with `end()`, or when the stream is released. The sequence ends
/// when the bridge is closed here. It fails if there will be no other connection, or if the next daemon refuses the
/// subscription.
public final class EventStream: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = BridgeEvent
    /// The reason why no further event arrives.
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

    /// Returns the iterator of the events.
    public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

    /// An iterator over the events.
    public struct Iterator: AsyncIteratorProtocol {
        let stream: EventStream

        /// Returns the next event; `nil` at the end, and if the Swift task is cancelled.
        /// - Throws: `session.closed` if there will be no other connection; the next daemon's error if it refuses the
        ///   subscription.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(BridgeError) -> BridgeEvent? {
            try await stream.subscription.mailbox.next()
        }
    }
}

extension Bridge {
    /// Subscribes to events. A pattern is a name, or a prefix of names followed by `*`. The subscription ends when the
    /// stream is released.
    ///
    ///     for try await event in try await bridge.subscribe(to: "record.*", "login.changed") { … }
    ///
    /// - Throws: As `call(_:_:as:session:timeout:retry:)`; `permission.denied` if a rule forbids one of them.
    public func subscribe(to patterns: String...) async throws(BridgeError) -> EventStream {
        try await subscribe(to: patterns)
    }

    /// Subscribes to patterns in an array.
    public func subscribe(to patterns: [String]) async throws(BridgeError) -> EventStream {
        EventStream(self, try await session.events.subscribe(patterns))
    }
}
