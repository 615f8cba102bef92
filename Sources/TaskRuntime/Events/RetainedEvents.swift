public import BridgeJSON

/// An event that is kept for those who subscribe later.
public struct RetainedEvent: Codable, Sendable, Equatable {
    /// The event's name.
    public var event: String
    /// Its data.
    public var data: JSON
    /// Whose session it came from; nil: no session.
    public var uid: UInt32?
    /// What that session spoke for; nil: nothing but its user.
    public var origin: String?
}

/// The last events of names that a publisher asked to be retained: one for each name, in the order in which they were
/// published.
struct RetainedEvents {
    /// How many are kept, and their names and data together.
    struct Size {
        var events = 0
        var bytes = 0

        mutating func remove(_ event: Entry) {
            events -= 1
            bytes -= event.name.utf8.count + event.event.text.count
        }

        mutating func add(_ event: Entry) {
            events += 1
            bytes += event.name.utf8.count + event.event.text.count
        }
    }

    struct Entry {
        /// Whose size it counts for.
        struct Payer: Hashable {
            /// Whose session it came from; nil: no session.
            var uid: UInt32?
            /// Whether that session was trusted.
            var isTrusted: Bool
            /// Which plugin it came from; nil: none.
            var plugin: String?
        }

        /// Its name, its data, and its lines once they have been asked for.
        var event: EventLines
        let payer: Payer
        /// What the session that it came from spoke for.
        let origin: String
        /// Its position in the order in which the events were published.
        var order: UInt64 = 0

        init(name: String, data: [UInt8], uid: UInt32?, origin: String, isTrusted: Bool) {
            event = EventLines(name, data, isRetained: true)
            payer = Payer(uid: uid, isTrusted: isTrusted)
            self.origin = origin
        }

        init(name: String, data: [UInt8], plugin: String) {
            event = EventLines(name, data, isRetained: true)
            payer = Payer(uid: nil, isTrusted: false, plugin: plugin)
            origin = Session.localOrigin
        }

        var name: String { event.name }
        var uid: UInt32? { payer.uid }

        /// Whether it is this session's user's, in the same origin.
        func isOwned(by session: Session) -> Bool {
            uid == session.peer.uid && origin.isExactly(session.origin)
        }
    }

    /// So many are enough for the states of a desk full of pages; each costs memory until it is forgotten.
    static let maximum = Size(events: 1_024, bytes: 4 << 20)
    /// Of one plugin, and of one user who is not root or the daemon's: others have to find room, too.
    static let maximumOfUser = Size(events: 256, bytes: 1 << 20)

    /// By name.
    private var entries: [ExactText: Entry] = [:]
    private var lastOrder: UInt64 = 0
    private var size = Size()
    private var sizeOfUser: [Entry.Payer: Size] = [:]

    /// All but those of plugins.
    var ofClients: [RetainedEvent] {
        // What is kept was JSON.
        entries.values.filter { $0.payer.plugin == nil }.sorted { $0.order < $1.order }.map {
            RetainedEvent(
                event: $0.name, data: (try? JSON(parsing: $0.event.text)) ?? .null, uid: $0.uid,
                origin: $0.origin.isExactly(Session.localOrigin) ? nil : $0.origin)
        }
    }

    /// What there would be with an event in the place of the one before of its name: of all, and of its user.
    func size(with new: Entry) -> (all: Size, ofUser: Size) {
        var sizes = (all: size, ofUser: sizeOfUser[new.payer] ?? Size())
        if let old = entries[ExactText(new.name)] {
            sizes.all.remove(old)
            if old.payer == new.payer { sizes.ofUser.remove(old) }
        }
        sizes.all.add(new)
        sizes.ofUser.add(new)
        return sizes
    }

    /// The event of this name.
    func event(_ name: String) -> Entry? { entries[ExactText(name)] }

    /// Keeps an event in the place of the one before of its name.
    mutating func keep(_ event: Entry) {
        forget(event.name)
        lastOrder += 1
        var entry = event
        entry.order = lastOrder
        entries[ExactText(event.name)] = entry
        size.add(entry)
        sizeOfUser[entry.payer, default: Size()].add(entry)
    }

    /// Keeps the event of this name no longer.
    mutating func forget(_ name: String) {
        guard let entry = entries.removeValue(forKey: ExactText(name)) else { return }
        size.remove(entry)
        var ofUser = sizeOfUser[entry.payer] ?? Size()
        ofUser.remove(entry)
        sizeOfUser[entry.payer] = ofUser.events == 0 ? nil : ofUser
    }

    /// Keeps the events of this plugin no longer.
    mutating func forget(ofPlugin plugin: String) {
        for entry in entries.values where entry.payer.plugin == plugin { forget(entry.name) }
    }

    var isEmpty: Bool { entries.isEmpty }

    /// The names of all, each with the position of its event in the order in which they were published.
    var names: [(order: UInt64, name: String)] { entries.values.map { ($0.order, $0.name) } }
}
