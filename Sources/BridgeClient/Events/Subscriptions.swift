import BridgeJSON
import BridgeMessage
import EventLoop

/// What this client listens to. The daemon knows each pattern once, however many streams want it.
@LoopActor
final class Subscriptions {
    /// Events that wait for a slow reader; beyond, the oldest are dropped, and the reader is told.
    private static let capacity = 1_024

    /// One reader and its patterns.
    @LoopActor
    final class Subscription {
        let patterns: [String]
        let mailbox = Mailbox<BridgeEvent>(capacity: capacity) { count in
            BridgeEvent(name: "bridge.events_dropped", data: ["count": .number(JSONNumber(count))])
        }

        init(_ patterns: [String]) {
            self.patterns = patterns
        }

        func wants(_ name: String) -> Bool {
            patterns.contains { pattern in
                pattern.hasSuffix("*") ? name.hasPrefix(pattern.dropLast()) : name == pattern
            }
        }
    }

    private let calls: CallsInFlight
    private var subscriptions: [Subscription] = []

    init(_ calls: CallsInFlight) {
        self.calls = calls
    }

    func subscribe(_ patterns: [String]) async throws(BridgeError) -> Subscription {
        let subscription = Subscription(patterns)
        // Before the daemon knows: the first event may come right behind the callback.
        subscriptions.append(subscription)
        do throws(BridgeError) {
            let options: JSON = ["events": .array(patterns.map(JSON.string))]
            _ = try await calls.call(CallRequest("bridge.subscribe", options, session: nil, timeout: nil))
        } catch {
            remove(subscription)
            throw error
        }
        return subscription
    }

    /// The reader is gone. The daemon is told of the patterns that nobody else wants.
    func unsubscribe(_ subscription: Subscription) async {
        guard subscriptions.contains(where: { $0 === subscription }) else { return }
        remove(subscription)
        subscription.mailbox.finish(.success(()))
        let wanted = Set(subscriptions.flatMap(\.patterns))
        let unwanted = Set(subscription.patterns).subtracting(wanted)
        guard !unwanted.isEmpty else { return }
        let options: JSON = ["events": .array(unwanted.sorted().map(JSON.string))]
        // Where it fails the connection is gone, and the subscription with it.
        try? await calls.send(CallRequest("bridge.unsubscribe", options, session: nil, timeout: nil))
    }

    func receive(_ message: EventMessage) {
        let name = String(decoding: message.name, as: UTF8.self)
        // What the daemon itself dropped concerns everybody who listens.
        let concernsAll = name == "bridge.events_dropped"
        let readers = subscriptions.filter { concernsAll || $0.wants(name) }
        guard !readers.isEmpty, let data = try? JSON(parsing: message.data) else { return }
        for reader in readers { reader.mailbox.put(BridgeEvent(name: name, data: data)) }
    }

    func end(_ end: Result<Void, BridgeError>) {
        for subscription in subscriptions { subscription.mailbox.finish(end) }
        subscriptions = []
    }

    private func remove(_ subscription: Subscription) {
        subscriptions.removeAll { $0 === subscription }
    }
}
