import BridgeJSON
import Testing

@Suite("A task that one client provides to others", .blocking)
struct ProviderTests {
    /// Runs `body` with a provider of the task "scan" and a client.
    private func withProvider(_ body: (_ provider: Wire, _ client: Wire, DaemonProcess) throws -> Void) throws {
        try withDaemon { daemon in
            let provider = try daemon.connect()
            #expect(try provider.result("bridge.register", ["tasks": ["scan"]]) == ["tasks": ["scan"]])
            try body(provider, try daemon.connect(), daemon)
        }
    }

    @Test("receives its options and its caller, and its result is returned")
    func call() throws {
        try withProvider { provider, client, _ in
            let session = try #require(try client.result("bridge.hello")["session"])
            try client.send(#"{"task":"scan","options":{"n":1e400},"callbackId":"mine","timeout":5000}"#)
            let call = try provider.receive()
            #expect(call["task"] == "scan")
            #expect(call["options"]?.text == #"{"n":1e400}"#)
            #expect(call["caller"]?["session"] == session)
            #expect((1...5_000).contains(call["timeout"]?.int64Value ?? 0))
            #expect(call["progress"] == nil)
            try provider.send(["callbackId": call["callbackId"] ?? nil, "result": ["code": "42"]])
            #expect(try client.receive() == ["callbackId": "mine", "result": ["code": "42"]])
        }
    }

    @Test("reports progress, numbered and before the callback")
    func progress() throws {
        try withProvider { provider, client, _ in
            try client.send(#"{"task":"scan","callbackId":1,"progress":true}"#)
            let call = try provider.receive()
            #expect(call["progress"] == true)
            let id = try #require(call["callbackId"])
            for value in ["a", "b"] as [JSON] { try provider.send(["callbackId": id, "progress": value]) }
            try provider.send(["callbackId": id, "result": "c"])
            #expect(try client.receive() == ["callbackId": 1, "progress": "a", "sequence": 0])
            #expect(try client.receive() == ["callbackId": 1, "progress": "b", "sequence": 1])
            #expect(try client.receive() == ["callbackId": 1, "result": "c"])
        }
    }

    @Test("receives a cancellation; its answer after that is dropped")
    func cancel() throws {
        try withProvider { provider, client, _ in
            try client.send(#"{"task":"scan","callbackId":1}"#)
            let id = try #require(try provider.receive()["callbackId"])
            try client.send(#"{"cancel":1}"#)
            let callback = try client.receive()
            #expect(callback["error"]?["code"] == "call.cancelled")
            #expect(callback["error"]?["data"]?["started"] == true)
            #expect(try provider.receive() == ["cancel": id])
            try provider.send(["callbackId": id, "result": "late"])
            // The provider's next call is answered later: the late answer has been dropped by then.
            #expect(try provider.result("bridge.status")["droppedReplies"] == 1)
            #expect(client.lineAtHand() == nil)
        }
    }

    @Test("ends with call.timeout after its deadline, and its provider is notified")
    func timeout() throws {
        try withProvider { provider, client, _ in
            try client.send(#"{"task":"scan","callbackId":1,"timeout":20}"#)
            let id = try #require(try provider.receive()["callbackId"])
            let callback = try client.receive()
            #expect(callback["error"]?["code"] == "call.timeout")
            #expect(callback["error"]?["data"]?["started"] == true)
            #expect(try provider.receive() == ["cancel": id])
        }
    }

    @Test("fails with the error of its provider")
    func failure() throws {
        try withProvider { provider, client, _ in
            try client.send(#"{"task":"scan","callbackId":1}"#)
            let id = try #require(try provider.receive()["callbackId"])
            let error: JSON = ["code": "camera.dark", "message": "It is too dark.", "data": ["lux": 0]]
            try provider.send(["callbackId": id, "error": error])
            #expect(try client.receive() == ["callbackId": 1, "error": error])
        }
    }

    @Test("ends with provider.closed when its provider disconnects, and is no longer provided")
    func providerDies() throws {
        try withProvider { provider, client, _ in
            for id in 1...3 { try client.send(#"{"task":"scan","callbackId":\#(id)}"#) }
            for _ in 1...3 { _ = try provider.receive() }
            provider.close()
            let callbacks = try (1...3).map { _ in try client.receive() }
            #expect(Set(callbacks.compactMap { $0["callbackId"]?.int64Value }) == [1, 2, 3])
            #expect(callbacks.allSatisfy { $0["error"]?["code"] == "provider.closed" })
            #expect(try client.call("scan")["error"]?["code"] == "task.not_found")
        }
    }

    @Test("ends with provider.closed when its provider closes its sending side")
    func providerHalfCloses() throws {
        try withProvider { provider, client, _ in
            try client.send(#"{"task":"scan","callbackId":1}"#)
            _ = try provider.receive()
            provider.shutdownWrite()
            #expect(try client.receive()["error"]?["code"] == "provider.closed")
            #expect(try provider.receiveAll() == [])
        }
    }

    @Test("goes to the newest of several providers, or to the session that the call specifies")
    func several() throws {
        try withProvider { older, client, daemon in
            let newer = try daemon.connect()
            _ = try newer.result("bridge.register", ["tasks": ["scan"]])
            let session = try #require(try older.result("bridge.hello")["session"])
            try client.send(#"{"task":"scan","options":"for the newer","callbackId":1}"#)
            try client.send(["task": "scan", "options": "for the older", "callbackId": 2, "session": session])
            #expect(try newer.receive()["options"] == "for the newer")
            #expect(try older.receive()["options"] == "for the older")
        }
    }

    @Test("can be called by many clients at once, each of which gets its own callback")
    func manyCallers() throws {
        try withProvider { provider, _, daemon in
            let clients = try (0..<50).map { _ in try daemon.connect() }
            for (number, client) in clients.enumerated() {
                try client.send(#"{"task":"scan","options":\#(number),"callbackId":"same"}"#)
            }
            let calls = try clients.map { _ in try provider.receive() }
            for call in calls.reversed() {
                try provider.send(["callbackId": call["callbackId"] ?? nil, "result": call["options"] ?? nil])
            }
            for (number, client) in clients.enumerated() {
                #expect(try client.receive() == ["callbackId": "same", "result": .number(JSONNumber(number))])
            }
        }
    }
}
