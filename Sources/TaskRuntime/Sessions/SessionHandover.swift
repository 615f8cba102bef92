import BridgeJSON
import BridgeMessage

// Sessions that go from one daemon to the next: what a daemon that is replaced hands over of them, and how the one that
// replaces it goes on with them. The connections themselves are the server's affair.

/// What is known of a session without its connection. Read by daemons of other versions too: members are added and
/// never change their meaning, those that are missing have a default, and those that are not known are passed over.
public struct SessionRecord: Codable, Sendable, Equatable {
    /// Its number, which it keeps.
    public var number: UInt64
    /// How long it has been open, in milliseconds.
    public var openMs: Int64?
    /// What it named as what it speaks for.
    public var origin: String?
    /// Who is logged in.
    public var user: String?
    /// The client's name, as it says.
    public var client: String?
    /// The client's version, as it says.
    public var version: String?
    /// What shows the client's page, as it says.
    public var userAgent: String?
    /// The client's page, as it says.
    public var page: JSON?
    /// What it subscribed to.
    public var events: [String]?
    /// Which traffic it watches; nil: none.
    public var traffic: TrafficRecord?
    /// The dialects that it has spoken.
    public var dialects: [String]?
    /// The dialect in which it gets events; nil: it has not subscribed.
    public var eventDialect: String?
    /// The dialect that it named as its own.
    public var dialect: String?
    /// Its listeners, beside what it subscribed to.
    public var listeners: [ListenerRecord]?
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

/// Which traffic a session watches: the options of `bridge.monitor`.
public struct TrafficRecord: Codable, Sendable, Equatable {
    /// A task's name, or the beginning of names with `*` behind it.
    public var task: String?
    /// A session's number.
    public var session: UInt64?
    /// A user.
    public var uid: UInt32?
    /// As much as is shown of a payload; nil: as much as usual.
    public var payloadBytes: Int?
}

/// That a session provides a task, for one list of all such facts in the order in which they came to be: the newest
/// provider of a task is preferred.
public struct ProviderRecord: Codable, Sendable, Equatable {
    /// The task's name.
    public var task: String
    /// The session's number.
    public var session: UInt64
    /// Whose calls it takes: "any" or "session".
    public var scope: String?
    /// The dialect in which it is called; nil: the native one.
    public var dialect: String?
    /// What it says of the task.
    public var description: ProvidedDescription?
}

extension TaskRuntime {
    /// The number of the last session that was opened: the next daemon goes on behind it.
    public var lastSession: UInt64 { lastSessionNumber }

    /// All sessions, in their order.
    public var sessionNumbers: [UInt64] { sessions.keys }

    /// The sessions that can go on in another process, in their order.
    public var sessionsAtRest: [UInt64] { sessions.values.filter(isAtRest).map(\.number).sorted() }

    /// The open session of this number.
    public func session(_ number: UInt64) -> Session? { sessions[number] }

    /// Whether a session can go on in another process: no call by it or to it is in flight, and it is not about to end.
    public func isAtRest(_ session: Session) -> Bool {
        session.phase == .open && session.callsInFlight == 0 && session.forwardedCount == 0
    }

    /// Whether the session works on others' calls, so that these end only if it is read on.
    public func isProviding(_ session: Session) -> Bool { session.forwardedCount > 0 }

    /// What the next daemon has to know of a session that is at rest. Events that waited for its reader are moved to
    /// its output.
    public func record(of session: Session) -> SessionRecord {
        moveEventsToOutput(of: session)
        return SessionRecord(
            number: session.number, openMs: clock.now.since(session.openedAt).wholeMilliseconds,
            origin: session.hasNamedOrigin ? session.origin : nil, user: session.user, client: session.client,
            version: session.version, userAgent: session.userAgent, page: session.page,
            events: session.subscriptions.isEmpty ? nil : session.patterns.map(\.text),
            traffic: watchers.first { $0.session === session }?.filter.record,
            dialects: DialectID.allCases.filter { $0.bit & session.dialects != 0 }.map(\.name),
            eventDialect: session.subscribedDialect?.name, dialect: session.namedDialect?.name,
            listeners: session.listeners.records)
    }

    /// Which of these sessions provide what.
    public func providers(among numbers: Set<UInt64>) -> [ProviderRecord] {
        registry.all.flatMap { entry -> [ProviderRecord] in
            guard let task = entry.provider as? ClientTask else { return [] }
            return task.providers.filter { numbers.contains($0.session.number) }
                .map {
                    ProviderRecord(
                        task: entry.name, session: $0.session.number, scope: $0.provision.scope.rawValue,
                        dialect: $0.provision.dialect.name, description: $0.provision.description?.provided)
                }
        }
    }

    /// Goes on with a session of the daemon before. Its number must not be in use. Plugins are notified that it opened;
    /// no one else is, for nothing has happened to it.
    ///
    /// - Parameter peer: As the kernel reports it.
    public func resume(_ record: SessionRecord, peer: PeerIdentity, transport: (any SessionTransport)?) -> Session {
        lastSessionNumber = max(lastSessionNumber, record.number)
        let openNanoseconds = UInt64(clamping: record.openMs ?? 0).multipliedReportingOverflow(by: 1_000_000)
        let now = clock.now.nanoseconds
        let session = Session(
            number: record.number, peer: peer, account: account(of: peer),
            openedAt: RuntimeInstant(
                nanoseconds: openNanoseconds.overflow ? 0 : now - min(now, openNanoseconds.partialValue)),
            transport: transport)
        session.account.connections += 1
        if let origin = record.origin { session.speak(for: origin, on: account(of: peer, origin: origin)) }
        session.user = record.user
        session.client = TextBounds.kept(record.client, atMost: TextBounds.name)
        session.version = TextBounds.kept(record.version, atMost: TextBounds.name)
        session.userAgent = TextBounds.kept(record.userAgent, atMost: TextBounds.userAgent)
        // Twice as long with its escapes.
        if let page = record.page, page.bytes.count <= 2 * TextBounds.page { session.page = page }
        for dialect in (record.dialects ?? []).compactMap(DialectID.init(named:)) { session.dialects |= dialect.bit }
        session.subscribedDialect = record.eventDialect.flatMap(DialectID.init(named:))
        for pattern in (record.events ?? []).compactMap(EventPattern.init) { subscriptions.add(pattern, to: session) }
        session.namedDialect = record.dialect.flatMap(DialectID.init(named:))
        session.listeners = EventListeners(record.listeners ?? [])
        if let filter = record.traffic.flatMap(TrafficFilter.init) { watchTraffic(session, filter) }
        sessions[session.number] = session
        for plugin in plugins { plugin.notify(.opened, session) }
        return session
    }

    /// Sessions up to this number have been: no new one bears it.
    public func continueSessions(after number: UInt64) { lastSessionNumber = max(lastSessionNumber, number) }

    /// Enters what sessions of the daemon before provide. What cannot be entered, because the session is not here or
    /// the task belongs to a plugin now, is returned. Schemas are read when their tasks are first called.
    public func restore(_ providers: [ProviderRecord]) -> [ProviderRecord] {
        providers.filter { provider in
            guard let session = sessions[provider.session], session.phase == .open, TaskName.isAllowed(provider.task)
            else { return true }
            do {
                let provision = Provision(
                    restoring: provider.scope.flatMap(ProviderScope.init) ?? .any,
                    dialect: provider.dialect.flatMap(DialectID.init(named:)) ?? .native,
                    description: provider.description)
                try register(provider.task, by: session, provision)
                return false
            } catch {
                return true
            }
        }
    }

    /// Closes a session that cannot be handed over, or gone on with, after a message that says why.
    public func end(_ session: Session, because reason: String) {
        guard session.phase == .open || session.phase == .inputEnded else { return }
        let data: JSON = ["reason": .string(reason)]
        close(session, saying: "session.lost", data)
    }
}
