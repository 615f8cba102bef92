import BridgeJSON

// bridge.hello, bridge.ping: getting to know each other.
extension TaskRuntime {
    var greetingTasks: [BridgeTasks.Task] {
        [
            BridgeTasks.Task("bridge.hello", "Names the client and tells about the daemon.", Hello.self, isOpen: true) {
                [unowned self] call, options throws(BridgeError) in try hello(call, options)
            },
            BridgeTasks.Task("bridge.ping", "Answers with the daemon's clocks.", isOpen: true) { [unowned self] _ in
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
    }

    private func hello(_ call: Call, _ hello: Hello) throws(BridgeError) -> JSON {
        let session = try callingSession(call)
        if let origin = hello.origin { try name(origin, session) }
        session.client = hello.client ?? session.client
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
                "messageBytes": .number(JSONNumber(limits.messageBytes)),
                "callsInFlight": .number(JSONNumber(limits.callsInFlight)),
                "callTimeoutMs": .number(JSONNumber(limits.callTimeout.wholeMilliseconds)),
            ],
        ]
    }

    private func name(_ origin: String, _ session: Session) throws(BridgeError) {
        guard !session.hasNamedOrigin || session.origin == origin else {
            throw BridgeError(.permissionDenied, "the session named its origin before: \(session.origin)")
        }
        guard !origin.isEmpty, origin.utf8.count <= Self.longestOriginBytes else {
            throw BridgeError(
                JSONMismatch(
                    path: "$.origin", expected: "a string of 1 to \(Self.longestOriginBytes) bytes",
                    got: "\(origin.utf8.count) bytes"))
        }
        if session.origin != origin { try check(.origin, origin, by: session, to: "speak for \(origin)") }
        session.origin = origin
        session.hasNamedOrigin = true
    }

    /// An origin is a scheme, a host and a port: a DNS name has at most 253 bytes.
    private static var longestOriginBytes: Int { 512 }

    private func ping() -> JSON {
        [
            "monotonicNs": .number(JSONNumber(clock.now.nanoseconds)),
            "wallMs": .number(JSONNumber(WallClock.milliseconds)),
        ]
    }
}
