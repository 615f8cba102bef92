public import BridgeJSON

/// An event that is kept for those who subscribe later.
public struct RetainedEvent: Codable, Sendable, Equatable {
    /// The event's name.
    public var event: String
    /// Its data.
    public var data: JSON
}

/// The last events of names that somebody asked to be retained: one for each name, in the order in which they were
/// published.
struct RetainedEvents {
    /// So many are enough for the states of a desk full of pages; each costs memory until it is forgotten.
    static let most = 1_024
    /// All names and data together.
    static let mostBytes = 4 << 20

    private var events: [(name: String, data: [UInt8])] = []
    private var bytes = 0

    /// All of them.
    var all: [RetainedEvent] {
        // What is kept was JSON.
        events.map { RetainedEvent(event: $0.name, data: (try? JSON(parsing: $0.data)) ?? .null) }
    }

    /// Keeps an event in the place of the one before of its name.
    ///
    /// - Throws: `busy`, where too many are kept, or too much; the one before is kept then.
    mutating func keep(_ name: String, _ data: [UInt8]) throws(BridgeError) {
        let known = events.firstIndex { $0.name == name }
        let cost = name.utf8.count + data.count
        let freed = known.map { name.utf8.count + events[$0].data.count } ?? 0
        guard known != nil || events.count < Self.most, bytes - freed + cost <= Self.mostBytes else {
            throw BridgeError(
                .busy,
                "\(events.count) events of \(bytes) bytes are retained; \(Self.most) and \(Self.mostBytes) bytes may be"
            )
        }
        if let known { events.remove(at: known) }
        events.append((name, data))
        bytes += cost - freed
    }

    /// Keeps the event of this name no longer.
    mutating func forget(_ name: String) {
        guard let known = events.firstIndex(where: { $0.name == name }) else { return }
        bytes -= name.utf8.count + events[known].data.count
        events.remove(at: known)
    }

    /// Those that fulfil a condition.
    func events(where isWanted: (String) -> Bool) -> [(name: String, data: [UInt8])] {
        events.filter { isWanted($0.name) }
    }
}

extension TaskRuntime {
    /// Events that are kept for those who subscribe later, in the order in which they were published.
    public var retainedEvents: [RetainedEvent] { retained.all }

    /// Keeps what the daemon before kept. What is too much is left out.
    public func retain(_ events: [RetainedEvent]) {
        for event in events { try? retained.keep(event.event, event.data.bytes) }
    }
}
