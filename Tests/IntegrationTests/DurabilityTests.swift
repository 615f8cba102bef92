import BridgeJSON
import Glibc
import TestSupport
import Testing

/// A client that creates records without waiting for each, and stores which were acknowledged.
private struct Writer {
    let wire: Wire
    private(set) var acknowledged: [Int: Int64] = [:]
    private var next: Int

    /// The number of calls that are open at a time. It is large enough for the daemon to share commits between them.
    private static let window = 64

    init(_ wire: Wire, from first: Int) {
        self.wire = wire
        next = first
    }

    /// Returns the record of a number. Every eighth record does not fit into a page of the database.
    static func record(_ number: Int) -> JSON {
        [
            "number": .number(JSONNumber(number)),
            "text": .string(String(repeating: "r", count: number % 8 == 0 ? 9_000 : 40)),
        ]
    }

    mutating func send() throws {
        let options: JSON = ["table": "t", "key": .string("\(next)"), "record": Self.record(next)]
        try wire.send(["task": "persistence.create", "options": options, "callbackId": .number(JSONNumber(next))])
        next += 1
    }

    private mutating func take(_ callback: JSON) throws {
        let number = try #require(callback["callbackId"]?.int64Value)
        let version = try #require(callback["result"]?["version"]?.int64Value, "\(callback.text)")
        #expect(acknowledged.updateValue(version, forKey: Int(number)) == nil)
    }

    /// Writes until the specified number of records is acknowledged.
    mutating func run(until count: Int) throws {
        for _ in 0..<Self.window { try send() }
        while acknowledged.count < count {
            try take(wire.receive())
            try send()
        }
    }

    /// Receives the callbacks that the daemon had sent before it ended.
    mutating func takeRest() throws {
        while let line = try wire.receiveLine() { try take(JSON(parsing: line)) }
    }
}

@Suite("Acknowledged records", .blocking)
struct DurabilityTests {
    @Test("survive SIGKILL at any moment during writes, and versions only grow")
    func kill() throws {
        let home = try DaemonHome()
        var acknowledged: [Int: Int64] = [:]
        for round in 0..<10 {
            let newest = acknowledged.values.max() ?? 0
            try withDaemon(in: home) { daemon in
                try check(acknowledged, try daemon.connect())
                var writer = Writer(try daemon.connect(), from: round * 10_000)
                // A number of acknowledgements determines the moment: from the first one to the middle of many.
                try writer.run(until: [1, 2, 3, 7, 20, 45, 64, 100, 150, 300][round])
                daemon.signal(SIGKILL)
                try writer.takeRest()
                #expect(try daemon.wait() == .killed(by: SIGKILL))
                #expect(writer.acknowledged.values.allSatisfy { $0 > newest })
                acknowledged.merge(writer.acknowledged) { _, new in new }
            }
        }
        #expect(Set(acknowledged.values).count == acknowledged.count)
        try withDaemon(in: home) { daemon in try check(acknowledged, try daemon.connect()) }
    }

    @Test("survive a termination signal; a write that arrives too late is not acknowledged")
    func terminate() throws {
        let home = try DaemonHome()
        var acknowledged: [Int: Int64] = [:]
        try withDaemon(in: home) { daemon in
            let client = try daemon.connect()
            var writer = Writer(client, from: 0)
            try writer.run(until: 20)
            daemon.signal(SIGTERM)
            client.shutdownWrite()
            acknowledged = writer.acknowledged
            while let line = try client.receiveLine() {
                let callback = try JSON(parsing: line)
                let number = Int(try #require(callback["callbackId"]?.int64Value))
                if let version = callback["result"]?["version"]?.int64Value {
                    #expect(acknowledged.updateValue(version, forKey: number) == nil)
                } else {
                    #expect(callback["error"]?["code"] == "daemon.stopping", "\(callback.text)")
                }
            }
            #expect(try daemon.wait() == .exited(0))
        }
        try withDaemon(in: home) { daemon in
            let client = try daemon.connect()
            try check(acknowledged, client)
            let records = try client.result("persistence.query", ["table": "t", "limit": 1_000])["records"]?.arrayValue
            #expect(Set(records?.compactMap { $0["key"]?.stringValue } ?? []) == Set(acknowledged.keys.map { "\($0)" }))
        }
    }

    /// Expects that each record exists, complete and with its version.
    private func check(_ acknowledged: [Int: Int64], _ client: Wire) throws {
        for (number, version) in acknowledged {
            let found = try client.result("persistence.read", ["table": "t", "key": .string("\(number)")])
            #expect(found["version"]?.int64Value == version)
            #expect(found["record"] == Writer.record(number))
        }
    }
}
