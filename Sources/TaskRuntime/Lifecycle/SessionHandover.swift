import BridgeJSON
import BridgeMessage

// The handover of sessions to the next daemon: the state that a daemon hands over, and how the next daemon resumes the
// sessions. The server hands over the connections themselves.

/// The state of a session without its connection. Daemons of other versions read it too: new members may be added, no
/// member changes its meaning, missing members have a default, and unknown members are ignored.
public struct SessionRecord: Codable, Sendable, Equatable {
    /// Its number, which does not change.
    public var number: UInt64
    /// The time since it was opened, in milliseconds.
    public var openMs: Int64?
    /// The origin that it named; `nil` if it named none.
    public var origin: String?
    /// The user that is logged in; `nil` if there is none.
    public var user: String?
    /// The client's name, as reported by the client.
    public var client: String?
    /// The client's version, as reported by the client.
    public var version: String?
    /// The user agent that shows the client's page, as reported by the client.
    public var userAgent: String?
    /// The client's page, as reported by the client.
    public var page: JSON?
    /// The patterns of events that it subscribed to.
    public var events: [String]?
    /// The traffic that it watches; `nil` if it watches none.
    public var traffic: TrafficRecord?
    /// The dialects that it has used.
    public var dialects: [String]?
    /// The dialect in which it gets events; `nil` if it has not subscribed.
    public var eventDialect: String?
    /// The dialect that it named as its own.
    public var dialect: String?
    /// Its event listeners, beside its subscriptions.
    public var listeners: [ListenerRecord]?
}

/// A session's registration as a provider of a task. A list of these records is in the order of registration, because
/// the newest provider of a task is preferred.
public struct ProviderRecord: Codable, Sendable, Equatable {
    /// The task's name.
    public var task: String
    /// The session's number.
    public var session: UInt64
    /// The callers whose calls it takes: "any" or "session".
    public var scope: String?
    /// The dialect of calls to it; `nil` for the native one.
    public var dialect: String?
    /// The session's description of the task.
    public var description: ProvidedDescription?
}

extension SessionLifecycle {
    /// The numbers of the sessions that can continue in another process, in ascending order.
    var sessionsAtRest: [UInt64] { sessions.all.filter(isAtRest).map(\.number).sorted() }

    /// Returns whether a session can continue in another process: no call by it or to it is in flight, and it is not
    /// about to end.
    func isAtRest(_ session: Session) -> Bool {
        session.phase == .open && session.callsInFlight == 0 && session.callsAside == 0
            && session.forwardedCount == 0
    }

    /// Returns whether the session works on calls of other sessions. These calls end only if the daemon continues to
    /// read from it.
    func isProviding(_ session: Session) -> Bool { session.forwardedCount > 0 }

    /// Returns the state of a session at rest for the next daemon. Events that waited for its reader are moved to its
    /// output.
    func record(of session: Session) -> SessionRecord {
        events.catchUp(session)
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

    /// Returns the tasks that these sessions provide.
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

    /// Resumes a session of the previous daemon. Its number must not be in use. Only plugins are notified that it
    /// opened, because nothing has changed for clients.
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
        // Escapes at most double the length of the page's text.
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

    /// Registers the tasks that sessions of the previous daemon provide. Returns those that cannot be registered
    /// because the session is not here or the task now belongs to a plugin. Schemas are read when their tasks are first
    /// called.
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
