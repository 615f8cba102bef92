// Attacks with events: many subscribers, many patterns, many retained events.

/// The maximum of patterns of one user, over several sessions.
private let patternsOfSession = 256
private let sessionsWithPatterns = 64
private let retainedEvents = 256
private let subscribers = 900

private func patterns(_ session: Int, _ beginning: String) -> String {
    let texts = (0..<patternsOfSession).map { "\"\(beginning)\(session * patternsOfSession + $0)*\"" }
    return "{\"events\":[" + texts.joined(separator: ",") + "]}"
}

extension AttackField {
    /// Subscribes to the attacker's maximum of patterns; none of them matches an event.
    fileprivate func takePatterns(_ beginning: String) throws -> [AttackConnection] {
        try (0..<sessionsWithPatterns).map { session in
            let connection = try connect()
            try ask(connection, callLine("bridge.subscribe", patterns(session, beginning)))
            return connection
        }
    }
}

extension Assault {
    /// Connections that call Echo once and close, one after the other.
    fileprivate static func connectAndClose(_ count: Int, on field: AttackField) -> Assault {
        let echo = callLine("Echo", "{}")
        return Assault(lineBytes: 150, bytes: count * 150) {
            for _ in 0..<count {
                let connection = try field.connect()
                try field.ask(connection, echo)
                field.close([connection])
            }
        }
    }
}

/// The attacker subscribes to an event on 900 connections, and publishes it.
private func fanOut(_ name: String, bytes: Int, events: Int = 1) -> Attack {
    Attack(name: name) { field in
        try field.subscribe(subscribers, to: "e")
        let data = "\"" + String(repeating: "x", count: bytes) + "\""
        let lines = Array(
            repeating: callLine("bridge.publish", #"{"event":"e","data":\#(data)}"#), count: events)
        var assault = Assault.message(
            lines.joined(separator: "\n"), on: try field.connect(), of: field, answers: events)
        assault.lineBytes /= events
        return assault
    }
}

/// Like ``fanOut(_:bytes:events:)``, from many sessions at the same time.
private let fanOutOfMany = Attack(name: "30 sessions publish to 900") { field in
    try field.subscribe(subscribers, to: "e")
    let line = Array((callLine("bridge.publish", #"{"event":"e","data":1}"#) + "\n").utf8)
    let publishers = try (0..<30).map { _ in try field.connect() }
    return Assault(lineBytes: line.count, bytes: line.count * publishers.count) {
        try field.strike(publishers, line)
    }
}

/// The attacker listens to the beginnings of sessions on 900 connections.
private let fanOutOfSessions = Attack(name: "900 hear of 20 × connect and close") { field in
    try field.subscribe(subscribers, to: "session.opened", "session.closed")
    return .connectAndClose(20, on: field)
}

/// The attacker watches a table on 900 connections, and changes records.
private let fanOutOfChanges = Attack(name: "900 watch 100 creates") { field in
    for _ in 0..<subscribers {
        try field.ask(try field.connect(), callLine("persistence.watch", #"{"table":"t"}"#))
    }
    let lines = Array(repeating: callLine("persistence.create", #"{"table":"t","record":{"n":1}}"#), count: 100)
    var assault = Assault.message(lines.joined(separator: "\n"), on: try field.connect(), of: field, answers: 100)
    assault.lineBytes /= 100
    return assault
}

let eventAttacks = [
    fanOut("publish 1 MB to 900", bytes: 1_000_000),
    fanOut("publish 90 kB to 900", bytes: 90_000),
    fanOut("publish 100 small events to 900", bytes: 10, events: 100),
    fanOutOfMany,
    fanOutOfSessions,
    fanOutOfChanges,
    Attack(name: "16,384 patterns, array of 20,000 bridge.publish") { field in
        _ = try field.takePatterns("a")
        let event = #"{"task":"bridge.publish","options":{"event":"a"}}"#
        let lines = "[" + Array(repeating: event, count: 20_000).joined(separator: ",") + "]\n" + callLine("Echo", "{}")
        return .message(lines, on: try field.connect(), of: field)
    },
    Attack(name: "16,384 patterns, 100 events") { field in
        _ = try field.takePatterns("a")
        let lines = Array(repeating: callLine("bridge.publish", #"{"event":"a"}"#), count: 100).joined(separator: "\n")
        var assault = Assault.message(lines, on: try field.connect(), of: field, answers: 100)
        assault.lineBytes /= 100
        return assault
    },
    Attack(name: "16,384 patterns, 20 × connect and close") { field in
        _ = try field.takePatterns("session.opened.")
        return .connectAndClose(20, on: field)
    },
    Attack(name: "16,384 patterns × 256 retained events") { field in
        let publisher = try field.connect()
        for index in 0..<retainedEvents {
            try field.ask(publisher, callLine("bridge.publish", #"{"event":"r\#(index)","retain":true}"#))
        }
        let listening = try field.takePatterns("r.")
        let subscriptions = listening.indices.map { session in
            let options = patterns(session, "r.")
            return Array(
                (callLine("bridge.unsubscribe", options) + "\n" + callLine("bridge.subscribe", options) + "\n").utf8)
        }
        let bytes = subscriptions.reduce(0) { $0 + $1.count }
        return Assault(lineBytes: bytes / listening.count / 2, bytes: bytes) {
            let wanted = listening.map { $0.answers + 2 }
            for (connection, lines) in zip(listening, subscriptions) { connection.queue(lines) }
            try field.pump { zip(listening, wanted).allSatisfy { $0.isClosed || $0.answers >= $1 } }
        }
    },
]
