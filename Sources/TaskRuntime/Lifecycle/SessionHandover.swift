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

extension SessionLifecycle {
    /// The sessions that can go on in another process, in their order.
    var sessionsAtRest: [UInt64] { sessions.all.filter(isAtRest).map(\.number).sorted() }

    /// Whether a session can go on in another process: no call by it or to it is in flight, and it is not about to end.
    func isAtRest(_ session: Session) -> Bool {
        session.phase == .open && session.callsInFlight == 0 && session.callsAside == 0
            && session.forwardedCount == 0
    }

    /// Whether the session works on others' calls, so that these end only if it is read on.
    func isProviding(_ session: Session) -> Bool { session.forwardedCount > 0 }

    /// What the next daemon has to know of a session that is at rest. Events that waited for its reader are moved to
    /// its output.
    func record(of session: Session) -> SessionRecord {
        events.delivery.moveAll(of: session)
        return SessionRecord(
            number: session.number, openMs: clock.now.since(session.openedAt).wholeMilliseconds,
            origin: session.hasNamedOrigin ? session.origin : nil, user: session.user, client: session.client,
            version: session.version, userAgent: session.userAgent, page: session.page,
            events: session.subscriptions.isEmpty ? nil : session.patterns.map(\.text),
            traffic: monitor.filter(of: session)?.record,
            dialects: DialectID.allCases.filter { $0.bit & session.dialects != 0 }.map(\.name),
            eventDialect: session.subscribedDialect?.name, dialect: session.namedDialect?.name,
            listeners: session.listeners.records)
    }

    /// Which of these sessions provide what.
    func providers(among numbers: Set<UInt64>) -> [ProviderRecord] {
        calls.tasks.all.flatMap { entry -> [ProviderRecord] in
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
    func resume(_ record: SessionRecord, peer: PeerIdentity, transport: (any SessionTransport)?) -> Session {
        sessions.continue(after: record.number)
        let openNanoseconds = UInt64(clamping: record.openMs ?? 0).multipliedReportingOverflow(by: 1_000_000)
        let now = clock.now.nanoseconds
        let session = Session(
            number: record.number, peer: peer, account: quotas.account(of: peer),
            openedAt: RuntimeInstant(
                nanoseconds: openNanoseconds.overflow ? 0 : now - min(now, openNanoseconds.partialValue)),
            transport: transport)
        session.account.connections += 1
        if let origin = record.origin { session.speak(for: origin, on: quotas.account(of: peer, origin: origin)) }
        session.user = record.user
        session.client = TextBounds.kept(record.client, atMost: TextBounds.name)
        session.version = TextBounds.kept(record.version, atMost: TextBounds.name)
        session.userAgent = TextBounds.kept(record.userAgent, atMost: TextBounds.userAgent)
        // Twice as long with its escapes.
        if let page = record.page, page.bytes.count <= 2 * TextBounds.page { session.page = page }
        for dialect in (record.dialects ?? []).compactMap(DialectID.init(named:)) { session.dialects |= dialect.bit }
        session.subscribedDialect = record.eventDialect.flatMap(DialectID.init(named:))
        for pattern in (record.events ?? []).compactMap(EventPattern.init) { events.add(pattern, to: session) }
        session.namedDialect = record.dialect.flatMap(DialectID.init(named:))
        session.listeners = EventListeners(record.listeners ?? [])
        if let filter = record.traffic.flatMap(TrafficFilter.init) { monitor.watch(session, filter) }
        enter(session)
        return session
    }

    /// Enters what sessions of the daemon before provide. What cannot be entered, because the session is not here or
    /// the task belongs to a plugin now, is returned. Schemas are read when their tasks are first called.
    func restore(_ providers: [ProviderRecord]) -> [ProviderRecord] {
        providers.filter { provider in
            guard let session = sessions[provider.session], session.phase == .open, TaskName.isAllowed(provider.task)
            else { return true }
            do {
                let provision = Provision(
                    restoring: provider.scope.flatMap(ProviderScope.init) ?? .any,
                    dialect: provider.dialect.flatMap(DialectID.init(named:)) ?? .native,
                    description: provider.description)
                try clients.register(provider.task, by: session, provision)
                return false
            } catch {
                return true
            }
        }
    }
}
