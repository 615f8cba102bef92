import BridgeJSON
import BridgeMessage

// bridge.hello, bridge.ping: the introduction of client and daemon, and the daemon's clocks.
extension TaskRuntime {
    var greetingTasks: [BridgeTasks.Task] {
        [
            BridgeTasks.Task(
                "bridge.hello", "Names the client, and returns the daemon's version and limits.", Hello.self,
                isPublic: true
            ) {
                [unowned self] call, options throws(BridgeError) in try hello(call, options)
            },
            BridgeTasks.Task("bridge.ping", "Returns the daemon's clocks.", isPublic: true) { [unowned self] _ in
                ping()
            },
        ]
    }

    private struct Hello: Decodable {
        struct Page: Decodable {
            var url: String?
            var title: String?
        }
        var client: String?
        var version: String?
        var userAgent: String?
        var origin: String?
        var page: Page?
        /// The dialect of messages that do not specify one.
        var dialect: String?
    }

    private static func dialect(_ name: String) throws(BridgeError) -> DialectID {
        if let dialect = DialectID(named: name) { return dialect }
        let names = DialectID.allCases.map(\.name).joined(separator: ", ")
        throw BridgeError(
            JSONMismatch(path: "$.dialect", expected: "one of \(names)", got: "\"\(name.prefix(64))\""))
    }

    private func hello(_ call: Call, _ hello: Hello) throws(BridgeError) -> JSON {
        let session = try callingSession(call)
        try check(hello)
        let dialect = try hello.dialect.map { (name) throws(BridgeError) in try Self.dialect(name) }
        if let origin = hello.origin { try name(origin, session) }
        session.namedDialect = dialect ?? session.namedDialect
        session.client = hello.client ?? session.client
        clients.reconsider(session)
        session.version = hello.version ?? session.version
        session.userAgent = hello.userAgent ?? session.userAgent
        if let page = hello.page {
            session.page = ["url": page.url.map(JSON.string) ?? .null, "title": page.title.map(JSON.string) ?? .null]
        }
        return [
            "protocol": .number(JSONNumber(DaemonDescription.protocolVersion)),
            "session": .number(JSONNumber(session.number)),
            "daemon": ["name": "trestled", "version": .string(daemon.version)],
            "features": ["batch", "progress", "cancel", "events", "providers"],
            "limits": [
                "messageBytes": .number(JSONNumber(quotas.limits.messageBytes)),
                "callsInFlight": .number(JSONNumber(quotas.limits.callsInFlight)),
                "callTimeoutMs": .number(JSONNumber(quotas.limits.callTimeout.wholeMilliseconds)),
            ],
        ]
    }

    private func check(_ hello: Hello) throws(BridgeError) {
        try TextBounds.check("$.client", hello.client?.utf8.count ?? 0, atMost: TextBounds.name)
        try TextBounds.check("$.version", hello.version?.utf8.count ?? 0, atMost: TextBounds.name)
        try TextBounds.check("$.userAgent", hello.userAgent?.utf8.count ?? 0, atMost: TextBounds.userAgent)
        let pageBytes = (hello.page?.url?.utf8.count ?? 0) + (hello.page?.title?.utf8.count ?? 0)
        try TextBounds.check("$.page", pageBytes, atMost: TextBounds.page)
    }

    private func name(_ origin: String, _ session: Session) throws(BridgeError) {
        let isSame = session.origin.isExactly(origin)
        guard !session.hasNamedOrigin || isSame else {
            throw BridgeError(.permissionDenied, "the session named its origin before: \(session.origin)")
        }
        guard !origin.isEmpty, origin.utf8.count <= TextBounds.origin else {
            throw BridgeError(
                JSONMismatch(
                    path: "$.origin", expected: "a string of 1 to \(TextBounds.origin) bytes",
                    got: "\(origin.utf8.count) bytes"))
        }
        if !isSame { try rights.check(.origin, origin, by: session, to: "represent \(origin)") }
        try lifecycle.speak(for: origin, session)
    }

    private func ping() -> JSON {
        [
            "monotonicNs": .number(JSONNumber(clock.now.nanoseconds)),
            "wallMs": .number(JSONNumber(WallClock.milliseconds)),
        ]
    }
}
