import BridgeJSON
import EventLoop
import Synchronization
import Testing

@testable import BridgeClient

@Suite(.timeLimit(.minutes(20))) @LoopActor struct HandlerTests {
    private struct Who: Codable, Sendable { var name: String }
    private struct Greeting: Codable, Sendable { var text: String }

    @Test("A handler gets its typed options first, and its result is returned as JSON")
    func typed() async throws {
        try await withFakeDaemon { bridge, connection, _ in
            async let registered = bridge.register("greet") { (who: Who, call) in
                Greeting(text: "\(call.task) \(who.name)")
            }
            connection.answer(await connection.next(), [:])
            let registration = try await registered
            #expect(registration.task == "greet")
            connection.send(["task": "greet", "options": ["name": "Ada"], "callbackId": 1])
            #expect(await connection.next() == ["callbackId": 1, "result": ["text": "greet Ada"]])
            for options: JSON in [["name": 1], [:], ["name": "Ada", "age": 3]] {
                connection.send(["task": "greet", "options": options, "callbackId": 2])
                #expect(await connection.next()["error"]?["code"] == "options.invalid")
            }
        }
    }

    @Test("Unregistering has no effect after the registration has ended or was replaced")
    func registrations() async throws {
        try await withFakeDaemon { bridge, connection, _ in
            async let first = bridge.registerJSON("a") { _, _ in 1 }
            connection.answer(await connection.next(), [:])
            let old = try await first
            async let second = bridge.registerJSON("a") { _, _ in 2 }
            connection.answer(await connection.next(), [:])
            let new = try await second
            try await old.unregister()
            connection.send(["task": "a", "callbackId": 1])
            #expect(await connection.next() == ["callbackId": 1, "result": 2])
            async let ended: Void = new.unregister()
            let message = await connection.next()
            #expect(message["task"] == "bridge.unregister")
            connection.answer(message, [:])
            try await ended
            try await new.unregister()
            try await bridge.notify("marker")
            #expect(await connection.next()["task"] == "marker")
        }
    }

    @Test("The remaining time is computed when it is read and is never negative")
    func timeRemaining() {
        func call(_ deadline: ContinuousClock.Instant?) -> IncomingCall {
            IncomingCall(
                task: "a", caller: .init(nil), deadline: deadline, wantsProgress: false, isOneWay: false, id: nil,
                report: nil)
        }
        #expect(call(nil).timeRemaining == nil)
        #expect(call(.now - .seconds(1)).timeRemaining == .zero)
        let patient = call(.now + .seconds(3_600))
        let before = patient.timeRemaining
        #expect(before.map { $0 > .zero && $0 <= .seconds(3_600) } == true)
        #expect(patient.timeRemaining.map { $0 <= before ?? .zero } == true)
    }

    @Test("A caller has the properties that the daemon sends, and defaults for the others")
    func caller() {
        let unknown = IncomingCall.Caller(nil)
        #expect(unknown.session == 0 && unknown.uid == nil && unknown.origin == "local" && !unknown.isTrusted)
        let known = IncomingCall.Caller([
            "session": 3, "uid": 1, "gid": 2, "pid": 4, "origin": "https://x", "user": "ann", "client": "notes",
            "trusted": true,
        ])
        #expect(known.gid == 2 && known.pid == 4 && known.client == "notes" && known.isTrusted)
    }
}

@Suite(.timeLimit(.minutes(20))) @LoopActor struct ProgressReportTests {
    @Test("Progress is refused if the caller does not request it or if the value has no JSON")
    func unwanted() async throws {
        try await withHandler { call in
            [call.reportProgress(1), call.reportProgress(Double.nan)]
        } body: { connection in
            connection.send(["task": "work", "callbackId": 1])
            #expect(await connection.next() == ["callbackId": 1, "result": [false, false]])
            connection.send(["task": "work", "callbackId": 2, "progress": true])
            #expect(await connection.next() == ["callbackId": 2, "progress": 1, "sequence": 0])
            #expect(await connection.next() == ["callbackId": 2, "result": [true, false]])
        }
    }

    @Test("All accepted progress arrives before the result, in order", arguments: 0..<20)
    func order(round: Int) async throws {
        try await withHandler { call in
            (0..<50).map { call.reportProgress($0) }
        } body: { connection in
            connection.send(["task": "work", "callbackId": 1, "progress": true])
            for number in 0..<50 {
                let progress = JSON.number(JSONNumber(number))
                #expect(
                    await connection.next() == ["callbackId": 1, "progress": progress, "sequence": progress])
            }
            #expect(await connection.next()["result"] != nil)
        }
    }

    @Test("Any JSON value is valid progress, also null, outgoing and incoming")
    func anyJSON() async throws {
        let values: [JSON] = [1, ["a": [2]], nil]
        try await withHandler { call in
            values.map { call.reportProgress($0) }
        } body: { connection in
            connection.send(["task": "work", "callbackId": 1, "progress": true])
            for value in values { #expect(await connection.next()["progress"] == .some(value)) }
        }
        try await withFakeDaemon { bridge, connection, _ in
            let call = try await bridge.progressJSON("work")
            let message = await connection.next()
            for value in values {
                connection.send(["callbackId": message["callbackId"] ?? nil, "progress": value, "sequence": 0])
            }
            connection.answer(message, nil)
            var seen: [JSON] = []
            for await value in call { seen.append(value) }
            #expect(seen == values)
            #expect(try await call.result == nil)
        }
    }

    @Test("Progress never waits: it is refused while the daemon does not read")
    func noRoom() async throws {
        let filler = String(repeating: "x", count: 100_000)
        try await withHandler { call in
            // More than the socket and the output hold. The last values are refused.
            let taken = (0..<100).map { _ in call.reportProgress(filler) }
            return [taken.contains(true), taken.contains(false)]
        } body: { connection in
            connection.stopReading()
            connection.send(["task": "work", "callbackId": 1, "progress": true])
            connection.startReading()
            while case let message = await connection.next() {
                guard let result = message["result"] else { continue }
                #expect(result == [true, true])
                break
            }
        }
    }

    @Test("Progress that is on its way to the loop when the call ends does not follow the callback")
    func overtaken() async throws {
        try await withFakeDaemon { client, connection, _ in
            let open = try #require(client.session.link.openConnection)
            let report = ProgressReport(open, id: Array("1".utf8))
            // The value is posted to the loop thread, on which this test runs.
            #expect(report.send(Array("5".utf8)))
            report.end()
            #expect(!report.send(Array("6".utf8)))
            async let answered = client.callJSON("bridge.ping")
            let next = await connection.next()
            #expect(next["task"] == "bridge.ping")
            connection.answer(next, [:])
            _ = try await answered
        }
    }

    @Test("Progress is refused after the call has ended")
    func late() async throws {
        let kept = Mutex<IncomingCall?>(nil)
        try await withHandler { call in
            kept.withLock { $0 = call }
            return [call.reportProgress(1)]
        } body: { connection in
            connection.send(["task": "work", "callbackId": 1, "progress": true])
            #expect(await connection.next()["progress"] == 1)
            #expect(await connection.next()["result"] == [true])
            let call = try #require(kept.withLock { $0 })
            #expect(!call.reportProgress(2))
        }
    }

    /// Runs a test with a bridge with little room that provides `work`.
    private func withHandler(
        _ handler: @escaping @Sendable (IncomingCall) async throws -> [Bool],
        body: @LoopActor (FakeConnection) async throws -> Void
    ) async throws {
        let daemon = try FakeDaemon()
        defer { daemon.close() }
        let limits = Bridge.Limits(maximumQueuedBytes: 1 << 20)
        let bridge = try await Bridge.connect(
            socket: daemon.path, configuration: .init(reconnect: nil, limits: limits))
        let connection = daemon.connections[0]
        async let registered = bridge.register("work") { (_: JSON, call) in try await handler(call) }
        connection.answer(await connection.next(), [:])
        _ = try await registered
        try await body(connection)
        withExtendedLifetime(bridge) {}
    }
}
