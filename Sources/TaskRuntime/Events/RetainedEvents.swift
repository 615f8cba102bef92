public import BridgeJSON

/// An event that is retained for later subscribers.
public struct RetainedEvent: Codable, Sendable, Equatable {
    /// The event's name.
    public var event: String
    /// The event's data.
    public var data: JSON
    /// The user of the session that published it; `nil` if no session did.
    public var uid: UInt32?
    /// The origin that this session represented; `nil` if it represented only its user.
    public var origin: String?
}

/// The retained events: the last one of each name, in the order of their publication.
struct RetainedEvents {
    /// The number of events, and the bytes of their names and data.
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
        /// The owner whose size includes the event.
        struct Payer: Hashable {
            /// The user of the session that published it; `nil` if no session did.
            var uid: UInt32?
            /// Whether that session was trusted.
            var isTrusted: Bool
            /// The plugin that published it; `nil` if no plugin did.
            var plugin: String?
        }

        /// The name and the data, and the lines that have been made of them.
        var event: EventLines
        let payer: Payer
        /// The origin that the publishing session represented.
        let origin: String
        /// Its position in the order of publication.
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

        /// Returns whether the session has the same user and origin as the publisher.
        func isOwned(by session: Session) -> Bool {
            uid == session.peer.uid && origin.isExactly(session.origin)
        }
    }

    /// The maximum for all. It suffices for the state of many open pages. Each event costs memory until it is removed.
    static let maximum = Size(events: 1_024, bytes: 4 << 20)
    /// The maximum for one plugin, and for the sessions of one user that are not trusted, so that others have room too.
    static let maximumOfUser = Size(events: 256, bytes: 1 << 20)

    /// The events by name.
    private var entries: [ExactText: Entry] = [:]
    private var lastOrder: UInt64 = 0
    private var size = Size()
    private var sizeOfUser: [Entry.Payer: Size] = [:]

    /// The events except those of plugins.
    var ofClients: [RetainedEvent] {
        // `try?`: the stored text was JSON.
        entries.values.filter { $0.payer.plugin == nil }.sorted { $0.order < $1.order }.map {
            RetainedEvent(
                event: $0.name, data: (try? JSON(parsing: $0.event.text)) ?? .null, uid: $0.uid,
                origin: $0.origin.isExactly(Session.localOrigin) ? nil : $0.origin)
        }
    }

    /// Returns the sizes of all events, and of the payer's, after an event would replace the previous one of its name.
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

    /// Returns the event with this name; `nil` if there is none.
    func event(_ name: String) -> Entry? { entries[ExactText(name)] }

    /// Stores an event and replaces the previous one of its name.
    mutating func keep(_ event: Entry) {
        forget(event.name)
        lastOrder += 1
        var entry = event
        entry.order = lastOrder
        entries[ExactText(event.name)] = entry
        size.add(entry)
        sizeOfUser[entry.payer, default: Size()].add(entry)
    }

    /// Removes the event with this name.
    mutating func forget(_ name: String) {
        guard let entry = entries.removeValue(forKey: ExactText(name)) else { return }
        size.remove(entry)
        var ofUser = sizeOfUser[entry.payer] ?? Size()
        ofUser.remove(entry)
        sizeOfUser[entry.payer] = ofUser.events == 0 ? nil : ofUser
    }

    /// Removes the events of this plugin.
    mutating func forget(ofPlugin plugin: String) {
        for entry in entries.values where entry.payer.plugin == plugin { forget(entry.name) }
    }

    var isEmpty: Bool { entries.isEmpty }

    /// The names of all events, each with its position in the order of publication.
    var names: [(order: UInt64, name: String)] { entries.values.map { ($0.order, $0.name) } }
}
