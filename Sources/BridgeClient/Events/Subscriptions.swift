import BridgeJSON
import BridgeMessage
import EventLoop

/// The subscriptions of this client. The daemon stores each pattern once, for any number of streams.
@LoopActor
final class Subscriptions {
    private nonisolated static let dropped = "bridge.events_dropped"

    /// One reader and its patterns.
    @LoopActor
    final class Subscription {
        let patterns: [String]
        /// Whether a daemon has accepted it: it is then restored at the next daemon.
        fileprivate(set) var isTaken = false
        let mailbox: Mailbox<BridgeEvent>
        /// Whether no event has arrived since the last gap was reported.
        private var isAtGap = false

        /// - Parameter capacity: How many events may wait for a slow reader.
        init(_ patterns: [String], capacity: Int) {
            self.patterns = patterns
            mailbox = Mailbox(capacity: capacity) { count in
                BridgeEvent(name: dropped, data: ["count": .number(JSONNumber(count))])
            }
        }

        func request(timeout: Timeout = .standard, retry: Retry = .never) -> CallRequest {
            CallRequest(
                "bridge.subscribe", ["events": .array(patterns.map(JSON.string))], timeout: timeout, retry: retry)
        }

        func put(_ event: BridgeEvent) {
            isAtGap = false
            mailbox.put(event)
        }

        /// Reports that another session begins, and that an unknown number of events was missed. Reported once for
        /// several attempts to connect in a row.
        func reportGap() {
            guard !isAtGap else { return }
            isAtGap = true
            mailbox.put(BridgeEvent(name: dropped, data: ["count": nil]))
        }

        func wants(_ name: String) -> Bool {
            patterns.contains { pattern in
                pattern.hasSuffix("*") ? name.hasPrefix(pattern.dropLast()) : name == pattern
            }
        }
    }

    private let link: Link
    private let calls: CallsInFlight
    private var subscriptions: [Subscription] = []
    /// The newest retained event of each name that has a subscriber. The daemon sends a retained event to a session
    /// once; a stream that subscribes to it later gets it from here.
    private var retained: [String: BridgeEvent] = [:]
    /// The number of events that the daemon retains.
    private static let maximumRetained = 1_024

    init(_ link: Link, _ calls: CallsInFlight) {
        self.link = link
        self.calls = calls
    }

    func subscribe(_ patterns: [String]) async throws(BridgeError) -> Subscription {
        let subscription = Subscription(patterns, capacity: link.limits.maximumQueuedEvents)
        for event in retained.values where subscription.wants(event.name) { subscription.put(event) }
        // Added before the call: the first event may arrive right after the callback.
        subscriptions.append(subscription)
        do throws(BridgeError) {
            // Subscribing twice does no harm: if the answer is lost with the connection, the call goes to the next
            // daemon.
            _ = try await calls.call(subscription.request(retry: .transient))
        } catch {
            if error.mayHaveEffect {
                // The daemon may have subscribed. A Swift task of its own, because this one may be cancelled.
                Task { await self.unsubscribe(subscription) }
            } else {
                remove(subscription)
            }
            throw error
        }
        subscription.isTaken = true
        return subscription
    }

    /// Subscribes to everything at another daemon. A stream that this daemon refuses ends with its error.
    /// - Throws: The reason why the connection is not usable.
    func restore(over connection: ClientConnection) async throws(BridgeError) {
        let restored = subscriptions.filter(\.isTaken)
        for subscription in restored { subscription.reportGap() }
        // The next daemon sends the events that it retains.
        retained = [:]
        for subscription in restored where contains(subscription) {
            do throws(BridgeError) {
                let request = subscription.request(timeout: .after(ClientSession.helloTimeout))
                _ = try await calls.call(request, over: connection)
            } catch {
                if connection.isUseless(after: error) { throw error }
                remove(subscription)
                subscription.mailbox.finish(.failure(error))
            }
        }
    }

    /// Removes a subscription whose reader has ended. The daemon removes the patterns that no other reader uses.
    func unsubscribe(_ subscription: Subscription) async {
        guard contains(subscription) else { return }
        remove(subscription)
        subscription.mailbox.finish(.success(()))
        // Without a connection no daemon has the subscription, and the next one does not get it.
        if link.isApart { return }
        let wanted = Set(subscriptions.flatMap(\.patterns))
        let unwanted = Set(subscription.patterns).subtracting(wanted)
        guard !unwanted.isEmpty else { return }
        let options: JSON = ["events": .array(unwanted.sorted().map(JSON.string))]
        // If it fails, the connection has ended, and the subscription with it.
        try? await calls.notify(CallRequest("bridge.unsubscribe", options))
    }

    func receive(_ message: EventMessage) {
        let name = String(decoding: message.name, as: UTF8.self)
        // Events that the daemon itself dropped concern all subscribers.
        let concernsAll = name == Self.dropped
        let readers = subscriptions.filter { concernsAll || $0.wants(name) }
        guard !readers.isEmpty, let data = try? JSON(parsing: message.data) else { return }
        let event = BridgeEvent(name: name, data: data)
        for reader in readers { reader.put(event) }
        if message.isRetained, retained[name] != nil || retained.count < Self.maximumRetained { retained[name] = event }
    }

    func end(_ end: Result<Void, BridgeError>) {
        for subscription in subscriptions { subscription.mailbox.finish(end) }
        subscriptions = []
        retained = [:]
    }

    private func contains(_ subscription: Subscription) -> Bool { subscriptions.contains { $0 === subscription } }

    private func remove(_ subscription: Subscription) {
        subscriptions.removeAll { $0 === subscription }
        // The daemon sends these again to the next subscriber.
        retained = retained.filter { name, _ in subscriptions.contains { $0.wants(name) } }
    }
}
