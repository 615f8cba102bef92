import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("Long checks in a lane beside the loop", .blocking)
struct LaneTests {
    /// A schema with so many alternatives for each element that its check takes several times the steps of a quick
    /// check.
    private static let slowSchema: JSON = [
        "items": ["anyOf": .array((0..<300).map { ["enum": [.number(JSONNumber($0))]] })]
    ]
    private static let slowOptions = "[" + Array(repeating: "299", count: 30).joined(separator: ",") + "]"

    /// Runs `body` with a daemon and a client that provides the task "slow".
    private func withSlowTask(_ body: (_ provider: Wire, DaemonProcess) throws -> Void) throws {
        try withDaemon { daemon in
            let provider = try daemon.connect()
            let registered = try provider.result(
                "bridge.register", ["tasks": ["slow"], "descriptions": ["slow": ["options": Self.slowSchema]]])
            #expect(registered == ["tasks": ["slow"]])
            try body(provider, daemon)
        }
    }

    @Test("The messages of a session keep their order after a long check, also within an array")
    func order() throws {
        try withSlowTask { provider, daemon in
            let client = try daemon.connect()
            let call = #"{"task":"slow","options":\#(Self.slowOptions)}"#
            let quick = #"{"task":"slow","options":[1]}"#
            for _ in 0..<5 {
                try client.send("\(call)\n\(quick)\n[\(quick),\(call),\(quick)]\n\(quick)")
                for expected in [Self.slowOptions, "[1]", "[1]", Self.slowOptions, "[1]", "[1]"] {
                    #expect(try provider.receive()["options"]?.text == expected)
                }
            }
        }
    }

    @Test("Other sessions are served while many checks wait, and every call gets one callback")
    func others() throws {
        try withSlowTask { provider, daemon in
            let busy = try (0..<20).map { _ in try daemon.connect() }
            for client in busy {
                for id in 0..<3 {
                    try client.send(#"{"task":"slow","options":\#(Self.slowOptions),"callbackId":\#(id)}"#)
                }
                try client.send(#"{"task":"bridge.ping","callbackId":"last"}"#)
            }
            let quiet = try daemon.connect()
            #expect(try quiet.result("Echo", 1) == 1)
            for _ in 0..<60 {
                let id = try #require(try provider.receive()["callbackId"])
                try provider.send(["callbackId": id, "result": 1])
            }
            for client in busy {
                let ids = try (0..<4).map { _ in try client.receive()["callbackId"] }
                #expect(Set(ids.compactMap { $0?.text }) == ["0", "1", "2", #""last""#])
                #expect(client.lineAtHand() == nil)
            }
        }
    }

    @Test("Sessions that close during a check leave no calls and no sessions")
    func closing() throws {
        try withSlowTask { _, daemon in
            for _ in 0..<50 {
                let client = try daemon.connect()
                try client.send(#"{"task":"slow","options":\#(Self.slowOptions),"callbackId":1}"#)
                client.close()
            }
            let client = try daemon.connect()
            try client.result("bridge.status") { $0["callsInFlight"] == 1 && $0["sessions"] == 2 }
        }
    }

    @Test("A daemon that drains completes a check and the call")
    func draining() throws {
        try withSlowTask { provider, daemon in
            let client = try daemon.connect()
            try client.send(#"{"task":"slow","options":\#(Self.slowOptions),"callbackId":1}"#)
            // The call is being checked or has reached its provider.
            try daemon.connect().result("bridge.status") { $0["callsInFlight"] == 2 }
            daemon.signal(SIGTERM)
            let id = try #require(try provider.receive()["callbackId"])
            try provider.send(["callbackId": id, "result": "done"])
            #expect(try client.receive() == ["callbackId": 1, "result": "done"])
            #expect(try daemon.wait() == .exited(0))
        }
    }
}
