public import BridgeJSON

/// An event that is kept for those who subscribe later.
public struct RetainedEvent: Codable, Sendable, Equatable {
    /// The event's name.
    public var event: String
    /// Its data.
    public var data: JSON
    /// Whose session it came from; nil: no session.
    public var uid: UInt32?
}

/// The last events of names that somebody asked to be retained: one for each name, in the order in which they were
/// published.
struct RetainedEvents {
    /// How many are kept, and their names and data together.
    struct Size {
        var events = 0
        var bytes = 0

        mutating func add(_ event: Entry) {
            events += 1
            bytes += event.name.utf8.count + event.data.count
        }
    }

    struct Entry {
        var name: String
        var data: [UInt8]
        var uid: UInt32?
    }

    /// So many are enough for the states of a desk full of pages; each costs memory until it is forgotten.
    static let most = Size(events: 1_024, bytes: 4 << 20)
    /// Of one user who is not root or the daemon's: others have to find room, too.
    static let mostOfUser = Size(events: 256, bytes: 1 << 20)

    private var entries: [Entry] = []

    /// All of them.
    var all: [RetainedEvent] {
        // What is kept was JSON.
        entries.map { RetainedEvent(event: $0.name, data: (try? JSON(parsing: $0.data)) ?? .null, uid: $0.uid) }
    }

    /// What there would be with an event in the place of the one before of its name: of all, and of its user.
    func size(with new: Entry) -> (all: Size, ofUser: Size) {
        var sizes = (all: Size(), ofUser: Size())
        for entry in entries where entry.name != new.name {
            sizes.all.add(entry)
            if entry.uid == new.uid { sizes.ofUser.add(entry) }
        }
        sizes.all.add(new)
        sizes.ofUser.add(new)
        return sizes
    }

    /// Keeps an event in the place of the one before of its name.
    mutating func keep(_ event: Entry) {
        forget(event.name)
        entries.append(event)
    }

    /// Keeps the event of this name no longer.
    mutating func forget(_ name: String) { entries.removeAll { $0.name == name } }

    /// Those that fulfil a condition.
    func events(where isWanted: (String) -> Bool) -> [(name: String, data: [UInt8])] {
        entries.filter { isWanted($0.name) }.map { ($0.name, $0.data) }
    }
}

extension TaskRuntime {
    /// Events that are kept for those who subscribe later, in the order in which they were published.
    public var retainedEvents: [RetainedEvent] { retained.all }

    /// Keeps what the daemon before kept. What is too much is left out.
    public func retain(_ events: [RetainedEvent]) {
        for event in events {
            let entry = RetainedEvents.Entry(name: event.event, data: event.data.bytes, uid: event.uid)
            let size = retained.size(with: entry).all
            guard size.events <= RetainedEvents.most.events, size.bytes <= RetainedEvents.most.bytes else { continue }
            retained.keep(entry)
        }
    }

    /// Keeps an event for those who subscribe later.
    ///
    /// - Parameter account: Whose session published it; nil: no session.
    /// - Throws: `quota.exceeded`; the one before of its name is kept then.
    func retain(_ name: String, _ data: [UInt8], of account: UserAccount?) throws(BridgeError) {
        let entry = RetainedEvents.Entry(name: name, data: data, uid: account?.uid)
        let sizes = retained.size(with: entry)
        if let account, !account.isTrusted {
            try checkRetained(sizes.ofUser, RetainedEvents.mostOfUser, of: account.label)
        }
        try checkRetained(sizes.all, RetainedEvents.most, of: "all users")
        retained.keep(entry)
    }
}
