import BridgeJSON
import BridgeMessage

/// The event listeners of a session. Each is the id of a message; the events of one name are sent with this id. Each
/// counts as a subscription in the session's quota.
struct EventListeners {
    /// The maximum number of listeners of a session to the events of one name: each requires a line of its own.
    static let maximumOfEvent = 8
    /// The maximum length of an id as it is written.
    static let maximumIDBytes = CallbackID.maximumBytes + 2

    private struct Entry {
        var ids: [[UInt8]]
        /// Whether the subscription exists only for these listeners.
        var isOwn: Bool
    }

    /// By the event's name.
    private var entries: [ExactText: Entry] = [:]
    private(set) var count = 0

    init() {}

    /// Restores listeners from the records of the previous daemon.
    init(_ records: [ListenerRecord]) {
        for record in records {
            let ids = record.ids.map(\.bytes).filter { $0.count <= Self.maximumIDBytes }.prefix(Self.maximumOfEvent)
            guard !ids.isEmpty, let pattern = EventPattern(record.event), !pattern.isPrefix else { continue }
            entries[ExactText(record.event)] = Entry(ids: Array(ids), isOwn: record.isOwn)
            count += ids.count
        }
    }

    /// The records for the next daemon; `nil` if there are no listeners.
    var records: [ListenerRecord]? {
        if entries.isEmpty { return nil }
        return entries.map { name, entry in
            ListenerRecord(
                event: name.text, ids: entry.ids.compactMap { try? JSON(parsing: $0) }, isOwn: entry.isOwn)
        }
    }

    var isEmpty: Bool { entries.isEmpty }

    /// Returns the ids of the listeners to an event, as they are written.
    func ids(for event: String) -> [[UInt8]] { entries[ExactText(event)]?.ids ?? [] }

    /// - Parameter isOwn: Whether the session is subscribed only for this listener.
    mutating func add(_ id: [UInt8], to event: String, isOwn: Bool) {
        entries[ExactText(event), default: Entry(ids: [], isOwn: isOwn)].ids.append(id)
        count += 1
    }

    /// Removes a listener.
    ///
    /// - Returns: The event whose subscription ends with this listener; `nil` if none does.
    mutating func remove(_ id: [UInt8]) -> String? {
        // There are at most as many entries as a session may have subscriptions.
        guard let (name, entry) = entries.first(where: { $0.value.ids.contains(id) }) else { return nil }
        count -= 1
        guard entry.ids.count == 1 else {
            entries[name]?.ids.removeAll { $0 == id }
            return nil
        }
        entries[name] = nil
        return entry.isOwn ? name.text : nil
    }

    /// Removes the listeners to the events of one plugin: those whose names consist of the prefix and a name without a
    /// dot.
    ///
    /// - Returns: The events whose subscriptions end with these listeners.
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

    /// Keeps the subscription to an event when its listeners end: the session has now subscribed to the event itself.
    mutating func keepSubscription(to event: String) { entries[ExactText(event)]?.isOwn = false }

    /// Removes all listeners to an event.
    mutating func removeAll(to event: String) {
        if let entry = entries.removeValue(forKey: ExactText(event)) { count -= entry.ids.count }
    }
}

/// The listeners of a session to the events of one name.
public struct ListenerRecord: Codable, Sendable, Equatable {
    /// The event's name.
    public var event: String
    /// The ids of the messages that created the listeners.
    public var ids: [JSON]
    /// Whether the subscription exists only for these listeners.
    public var isOwn: Bool
}
