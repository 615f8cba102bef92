import BridgeJSON
import BridgeMessage

/// The listeners of a session: ids of messages under which events of one name come. Each takes the place of a
/// subscription in the session's quota.
struct EventListeners {
    /// So many listeners a session may have to the events of one name: each is a line of its own.
    static let maximumOfEvent = 8
    /// The bytes of an id as it is written.
    static let maximumIDBytes = CallbackID.maximumBytes + 2

    private struct Entry {
        var ids: [[UInt8]]
        /// Whether the session subscribed for these alone.
        var isOwn: Bool
    }

    /// By the event's name.
    private var entries: [ExactText: Entry] = [:]
    private(set) var count = 0

    init() {}

    /// Those of the daemon before.
    init(_ records: [ListenerRecord]) {
        for record in records {
            let ids = record.ids.map(\.bytes).filter { $0.count <= Self.maximumIDBytes }.prefix(Self.maximumOfEvent)
            guard !ids.isEmpty, let pattern = EventPattern(record.event), !pattern.isBeginning else { continue }
            entries[ExactText(record.event)] = Entry(ids: Array(ids), isOwn: record.isOwn)
            count += ids.count
        }
    }

    /// What the next daemon has to know; nil: nothing.
    var records: [ListenerRecord]? {
        if entries.isEmpty { return nil }
        return entries.map { name, entry in
            ListenerRecord(
                event: name.text, ids: entry.ids.compactMap { try? JSON(parsing: $0) }, isOwn: entry.isOwn)
        }
    }

    var isEmpty: Bool { entries.isEmpty }

    /// The ids of the listeners to an event, as they are written.
    func ids(for event: String) -> [[UInt8]] { entries[ExactText(event)]?.ids ?? [] }

    /// - Parameter isOwn: whether the session subscribed for it.
    mutating func add(_ id: [UInt8], to event: String, isOwn: Bool) {
        entries[ExactText(event), default: Entry(ids: [], isOwn: isOwn)].ids.append(id)
        count += 1
    }

    /// Removes a listener.
    ///
    /// - Returns: the event whose subscription ends with it; nil: none.
    mutating func remove(_ id: [UInt8]) -> String? {
        // At most as many as a session may have subscriptions.
        guard let (name, entry) = entries.first(where: { $0.value.ids.contains(id) }) else { return nil }
        count -= 1
        guard entry.ids.count == 1 else {
            entries[name]?.ids.removeAll { $0 == id }
            return nil
        }
        entries[name] = nil
        return entry.isOwn ? name.text : nil
    }

    /// Removes the listeners to events of one plugin: those whose names are the beginning with a name behind it that has
    /// no dot.
    ///
    /// - Returns: the events whose subscriptions end with them.
    mutating func removeAll(of beginning: [UInt8]) -> [String] {
        let names = entries.keys.filter { name in
            name.utf8.starts(with: beginning) && !name.utf8[beginning.count...].contains(UInt8(ascii: "."))
        }
        return names.compactMap { name in
            guard let entry = entries.removeValue(forKey: name) else { return nil }
            count -= entry.ids.count
            return entry.isOwn ? name.text : nil
        }
    }

    /// The session subscribes to an event by itself.
    mutating func keepSubscription(to event: String) { entries[ExactText(event)]?.isOwn = false }

    /// The session no longer listens to an event.
    mutating func removeAll(to event: String) {
        if let entry = entries.removeValue(forKey: ExactText(event)) { count -= entry.ids.count }
    }
}

/// The listeners of a session to the events of one name.
public struct ListenerRecord: Codable, Sendable, Equatable {
    /// The event's name.
    public var event: String
    /// The ids of the messages that began them.
    public var ids: [JSON]
    /// Whether the session subscribed for them alone.
    public var isOwn: Bool
}
