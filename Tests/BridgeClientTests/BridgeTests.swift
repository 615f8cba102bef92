import BridgeJSON
import EventLoop
import Foundation
import Testing

@testable import BridgeClient

@Suite(.timeLimit(.minutes(20))) @LoopActor struct BridgeTests {
    @Test("A program without a configured name is introduced by the name of its file")
    func programName() async throws {
        try await withFakeDaemon { _, connection, _ in
            let file = try #require(CommandLine.arguments.first?.split(separator: "/").last)
            #expect(connection.hello == ["client": .string(String(file))])
        }
        let configuration = Bridge.Configuration(client: "tester")
        #expect(configuration.client == "tester")
        #expect(configuration.reconnect == Reconnection())
    }

    @Test("With waitForDaemon the first connection is retried until a daemon exists or the wait is cancelled")
    func waitForDaemon() async throws {
        let daemon = try FakeDaemon()
        defer { daemon.close() }
        daemon.stopListening()
        let timers = FakeTimers()
        let connect: @LoopActor @Sendable () async throws(BridgeError) -> Bridge = { () async throws(BridgeError) in
            try await Bridge.connect(
                to: daemon.path, .init(waitForDaemon: true), timers: timers, random: { 0 })
        }
        let cancelled = Task { await error { () async throws(BridgeError) in _ = try await connect() } }
        await timers.running(.milliseconds(100))
        cancelled.cancel()
        #expect(await cancelled.value?.code == .callCancelled)

        let connecting = Task { try await connect() }
        for pause in [100, 200] {
            await timers.running(.milliseconds(pause))
            if pause == 200 { try daemon.listen() }
            timers.advance(by: .milliseconds(pause))
        }
        let bridge = try await connecting.value
        #expect(bridge.daemon?.session == 7)
        #expect(timers.count == 0)

        daemon.helloError = ["code": "options.invalid", "message": "no"]
        #expect(await error { () async throws(BridgeError) in _ = try await connect() }?.code == .optionsInvalid)
    }

    @Test("DaemonInfo is nil for an invalid description; members that an old daemon omits have defaults")
    func daemonInfo() {
        for json: JSON in [nil, [:], ["session": 1], ["session": -1, "daemon": ["name": "d", "version": "1"]]] {
            #expect(DaemonInfo(json) == nil)
        }
        let info = DaemonInfo(["session": 1, "daemon": ["name": "d", "version": "1"]])
        #expect(info?.protocolVersion == 1)
        #expect(info?.features == [])
        #expect(info?.limits == .init(messageBytes: 1 << 20, callsInFlight: nil, callTimeout: nil))
    }

    @Test("withBridge closes the bridge at the end of its body, also if the body throws or is cancelled")
    func scoped() async throws {
        let daemon = try FakeDaemon()
        defer { daemon.close() }
        daemon.onAccept = { connection in
            Task {
                await connection.end()
                connection.close()
            }
        }
        let result = try await withBridge(socket: daemon.path) { bridge in
            try await bridge.notify("first")
            return "result"
        }
        #expect(result == "result")
        #expect(daemon.connections[0].isAtEnd)
        #expect(daemon.connections[0].untaken == [["task": "first", "options": [:]]])

        struct Odd: Error {}
        await #expect(throws: Odd.self) { try await withBridge(socket: daemon.path) { _ in throw Odd() } }
        #expect(daemon.connections[1].isAtEnd)

        let task = Task {
            try await withBridge(socket: daemon.path) { bridge in
                withUnsafeCurrentTask { $0?.cancel() }
                try await bridge.notify("never")
            }
        }
        await #expect(throws: BridgeError.self) { try await task.value }
        #expect(daemon.connections[2].isAtEnd)
    }

    @Test("run returns if the bridge is closed here, and throws the reason if the connection is lost")
    func run() async throws {
        try await withFakeDaemon { bridge, connection, _ in
            let running = Task { await error { () async throws(BridgeError) in try await bridge.run() } }
            async let closed: Void = bridge.close()
            await connection.end()
            connection.close()
            await closed
            #expect(await running.value == nil)
        }
        try await withFakeDaemon { bridge, connection, _ in
            let running = Task { await error { () async throws(BridgeError) in try await bridge.run() } }
            connection.close()
            #expect(await running.value?.code == .sessionClosed)
        }
    }

    @Test("run closes the bridge if its Swift task is cancelled")
    func cancelledRun() async throws {
        try await withFakeDaemon { bridge, connection, _ in
            let running = Task { await error { () async throws(BridgeError) in try await bridge.run() } }
            running.cancel()
            await connection.end()
            connection.close()
            #expect(await running.value == nil)
            #expect(await bridge.session.link.ended() == .closedHere)
        }
    }

    @Test("The first state is open with the daemon's information, and the last is closed with the reason")
    func states() async throws {
        try await withFakeDaemon { bridge, connection, _ in
            var seen: [ConnectionState] = []
            let states = bridge.states
            connection.close()
            for await state in states { seen.append(state) }
            #expect(seen.count == 1 || seen.first == .open(bridge.daemon, isNew: false, refused: []))
            guard case .closed(let reason) = seen.last else {
                Issue.record("the last state is not the end")
                return
            }
            #expect(reason.code == .sessionClosed)
        }
    }
}

@Suite(.timeLimit(.minutes(20))) @LoopActor struct TypedCallTests {
    @Test("A call with the standard timeout sends none; an unlimited one sends the maximum")
    func timeouts() async throws {
        try await withFakeDaemon { bridge, connection, _ in
            for (timeout, wire) in [
                (Timeout.standard, nil), (.unlimited, .number(JSONNumber(366 * 86_400_000))),
                (.seconds(2_000), 2_000_000),
            ] as [(Timeout, JSON?)] {
                async let result = bridge.callJSON("a", timeout: timeout)
                let message = await connection.next()
                #expect(message["timeout"] == wire)
                connection.answer(message, nil)
                _ = try await result
            }
        }
    }

    @Test("Progress is decoded to its type and skipped if it does not fit; a result that does not fit is an error")
    func typedProgress() async throws {
        struct Step: Codable, Equatable, Sendable { var done: Int }
        try await withFakeDaemon { bridge, connection, _ in
            let call = try await bridge.callWithProgress("work", ["n": 1], progress: Step.self, as: String.self)
            let message = await connection.next()
            #expect(message["options"] == ["n": 1])
            let id = message["callbackId"] ?? nil
            for value: JSON in [["done": 1], "odd", ["done": 2]] {
                connection.send(["callbackId": id, "progress": value, "sequence": 0])
            }
            connection.answer(message, 5)
            var seen: [Step] = []
            for await step in call { seen.append(step) }
            #expect(seen == [Step(done: 1), Step(done: 2)])
            #expect(
                await error { () async throws(BridgeError) in _ = try await call.result }?.code == .resultInvalid)
        }
    }

    @Test("An event is published with bridge.publish, retained if requested; missing data are null")
    func publish() async throws {
        try await withFakeDaemon { bridge, connection, _ in
            async let published: Void = bridge.publish("page.shown", ["n": 1], retain: true)
            let message = await connection.next()
            #expect(message["task"] == "bridge.publish")
            #expect(message["options"] == ["event": "page.shown", "data": ["n": 1], "retain": true])
            connection.answer(message, [:])
            try await published
            async let bare: Void = bridge.publish("page.hidden")
            let other = await connection.next()
            #expect(other["options"] == ["event": "page.hidden", "data": nil])
            connection.fail(other, ["code": "permission.denied", "message": "no"])
            var code: ErrorCode?
            do { try await bare } catch { code = (error as? BridgeError)?.code }
            #expect(code == .permissionDenied)
        }
    }

    @Test("The error of a call states whether the call had begun")
    func started() {
        #expect(BridgeError(.busy, "x").started == nil)
        #expect(BridgeError(.busy, "x", data: ["started": false]).started == false)
        #expect(BridgeError(.busy, "x", data: ["started": true]).started == true)
        #expect(BridgeError(.busy, "x", data: ["started": "yes"]).started == nil)
    }
}
