import BridgeJSON
import BridgeMessage
import EventLoop

/// What this end listens to. The daemon knows each pattern once, however many streams want it.
@LoopActor
final class Subscriptions {
    private nonisolated static let dropped = "bridge.events_dropped"

    /// One reader and its patterns.
    @LoopActor
    final class Subscription {
        let patterns: [String]
        /// A daemon has taken it: the next one gets it too.
        fileprivate(set) var isTaken = false
        let mailbox: Mailbox<BridgeEvent>
        /// Nothing has come since the last gap was reported.
        private var isAtGap = false

        /// - Parameter capacity: How many events wait for a slow reader.
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

        /// Another session begins: it is unknown how many events were missed. Reported once, however many attempts to
        /// connect follow each other.
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
    /// The newest retained event of each name that has a listener. The daemon sends one to a session once; a stream
    /// that is subscribed to it later gets it from here.
    private var retained: [String: BridgeEvent] = [:]
    /// As many as the daemon keeps.
    private static let maximumRetained = 1_024

    init(_ link: Link, _ calls: CallsInFlight) {
        self.link = link
        self.calls = calls
    }

    func subscribe(_ patterns: [String]) async throws(BridgeError) -> Subscription {
        let subscription = Subscription(patterns, capacity: link.limits.maximumQueuedEvents)
        for event in retained.values where subscription.wants(event.name) { subscription.put(event) }
        // Before the daemon knows: the first event may come right behind the callback.
        subscriptions.append(subscription)
        do throws(BridgeError) {
            // Twice does no harm: where the answer is lost with the connection, the next daemon is asked.
            _ = try await calls.call(subscription.request(retry: .transient))
        } catch {
            remove(subscription)
            throw error
        }
        subscription.isTaken = true
        return subscription
    }

    /// Subscribes to everything at another daemon. A stream that this one refuses ends with what it says.
    /// - Throws: why the connection is of no use.
    func restore(over connection: ClientConnection) async throws(BridgeError) {
        let restored = subscriptions.filter(\.isTaken)
        for subscription in restored { subscription.reportGap() }
        // The next daemon sends what it retains.
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

    /// The reader is gone. The daemon forgets the patterns that no other reader wants.
    func unsubscribe(_ subscription: Subscription) async {
        guard contains(subscription) else { return }
        remove(subscription)
        subscription.mailbox.finish(.success(()))
        // A daemon that is not there has nothing to forget, and the next one does not get it.
        if link.isApart { return }
        let wanted = Set(subscriptions.flatMap(\.patterns))
        let unwanted = Set(subscription.patterns).subtracting(wanted)
        guard !unwanted.isEmpty else { return }
        let options: JSON = ["events": .array(unwanted.sorted().map(JSON.string))]
        // Where it fails the connection is gone, and the subscription with it.
        try? await calls.notify(CallRequest("bridge.unsubscribe", options))
    }

    func receive(_ message: EventMessage) {
        let name = String(decoding: message.name, as: UTF8.self)
        // What the daemon itself dropped concerns all listeners.
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
        // The daemon sends these again to who subscribes next.
        retained = retained.filter { name, _ in subscriptions.contains { $0.wants(name) } }
    }
}
