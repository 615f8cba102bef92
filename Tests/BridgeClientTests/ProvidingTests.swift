import BridgeJSON
import EventLoop
import Testing

@testable import BridgeClient

@Suite(.timeLimit(.minutes(20))) @LoopActor struct ProvidingTests {
    @Test("A forwarded call reaches the handler with its caller, and its result is returned")
    func forwarded() async throws {
        try await withProvider { options, call in
            #expect(call.task == "echo")
            #expect(call.caller == .init(["session": 3, "uid": 1_000, "origin": "https://x", "user": "ann"]))
            #expect(call.timeRemaining.map { $0 <= .milliseconds(900) } == true)
            #expect(call.deadline.map { $0 <= .now + .milliseconds(900) } == true)
            #expect(!call.isOneWay)
            return options
        } body: { connection in
            connection.send(
                """
                {"task":"echo","options":{"a":1.50},"callbackId":"id \\u0041","timeout":900,\
                "caller":{"session":3,"uid":1000,"origin":"https://x","user":"ann"}}
                """)
            let answer = await connection.next()
            #expect(answer == ["callbackId": "id A", "result": ["a": .number(JSONNumber(text: "1.50") ?? .init(0))]])
        }
    }

    @Test("An error that the handler throws becomes the error of the call")
    func thrown() async throws {
        struct Odd: Error {}
        try await withProvider { options, _ in
            switch options {
            case 1: throw BridgeError("own.code", "no", data: [1])
            case 2: throw CancellationError()
            default: throw Odd()
            }
        } body: { connection in
            var codes: [JSON?] = []
            for number in 1...3 {
                connection.send(["task": "echo", "options": .number(JSONNumber(number)), "callbackId": 5])
                codes.append(await connection.next()["error"]?["code"])
            }
            #expect(codes == ["own.code", "call.cancelled", "internal"])
        }
    }

    @Test("Progress is sent to callers that request it, numbered, before the callback")
    func progress() async throws {
        try await withProvider { _, call in
            for number in 10..<13 { call.reportProgress(number) }
            return "end"
        } body: { connection in
            connection.send(["task": "echo", "callbackId": 1, "progress": true])
            var messages: [JSON] = []
            for _ in 0..<4 { messages.append(await connection.next()) }
            let progress = (0..<3).map { number -> JSON in
                [
                    "callbackId": 1, "progress": .number(JSONNumber(number + 10)),
                    "sequence": .number(JSONNumber(number)),
                ]
            }
            #expect(messages == progress + [["callbackId": 1, "result": "end"]])
            connection.send(["task": "echo", "callbackId": 2])
            #expect(await connection.next() == ["callbackId": 2, "result": "end"])
        }
    }

    @Test("A cancel by the caller cancels the handler's Swift task, and the call is still answered once")
    func cancel() async throws {
        try await withProvider { _, call in
            call.reportProgress("started")
            try await Task.sleep(for: .seconds(3_600))
            return nil
        } body: { connection in
            connection.send(["task": "echo", "callbackId": 1, "progress": true])
            _ = await connection.next()
            connection.send(["cancel": 2])
            connection.send(["cancel": 1])
            let answer = await connection.next()
            #expect(answer["callbackId"] == 1)
            #expect(answer["error"]?["code"] == "call.cancelled")
        }
    }

    @Test("A one-way call runs without an answer; a call of a task that is not provided gets task.not_found")
    func oneWayAndUnknown() async throws {
        let (ran, confirm) = AsyncStream<Bool>.makeStream()
        try await withProvider { _, call in
            confirm.yield(call.isOneWay)
            return nil
        } body: { connection in
            connection.send(["task": "echo"])
            connection.send(["task": "other"])
            connection.send(["task": "other", "callbackId": 4])
            #expect(await connection.next()["error"]?["code"] == "task.not_found")
            for await isOneWay in ran {
                #expect(isOneWay)
                break
            }
            #expect(connection.untaken.isEmpty)
        }
    }

    @Test("A registration and a subscription that are cancelled after they were sent are taken back at the daemon")
    func takenBack() async throws {
        try await withFakeDaemon { client, connection, _ in
            let registering = Task { @LoopActor in try await client.registerJSON("echo") { _, _ in nil } }
            #expect(await connection.next()["task"] == "bridge.register")
            registering.cancel()
            await #expect(throws: BridgeError.self) { _ = try await registering.value }
            #expect(await connection.next()["cancel"] != nil)
            let unregister = await connection.next()
            #expect(unregister["task"] == "bridge.unregister" && unregister["options"] == ["tasks": ["echo"]])

            let subscribing = Task { @LoopActor in _ = try await client.subscribe(to: "x.*", "y") }
            #expect(await connection.next()["task"] == "bridge.subscribe")
            subscribing.cancel()
            await #expect(throws: BridgeError.self) { try await subscribing.value }
            #expect(await connection.next()["cancel"] != nil)
            let unsubscribe = await connection.next()
            #expect(unsubscribe["task"] == "bridge.unsubscribe" && unsubscribe["options"] == ["events": ["x.*", "y"]])
        }
    }

    @Test("A refused registration is thrown; a task is not found after it was unregistered")
    func registration() async throws {
        try await withFakeDaemon { client, connection, _ in
            async let refused = error { () async throws(BridgeError) in
                try await client.registerJSON("echo", scope: .session) { _, _ in nil }
            }
            let register = await connection.next()
            #expect(register["task"] == "bridge.register")
            #expect(register["options"] == ["tasks": ["echo"], "scope": "session"])
            connection.send([
                "callbackId": register["callbackId"] ?? nil, "error": ["code": "task.exists", "message": "x"],
            ])
            #expect(await refused?.code == "task.exists")
            connection.send(["task": "echo", "callbackId": 1])
            #expect(await connection.next()["error"]?["code"] == "task.not_found")

            async let registered = client.registerJSON("echo") { _, _ in "here" }
            connection.answer(await connection.next(), [:])
            let registration = try await registered
            async let unregistered: Void = registration.unregister()
            let unregister = await connection.next()
            #expect(unregister["options"] == ["tasks": ["echo"]])
            connection.send(["task": "echo", "callbackId": 2])
            #expect(await connection.next() == ["callbackId": 2, "result": "here"])
            connection.answer(unregister, [:])
            try await unregistered
            connection.send(["task": "echo", "callbackId": 3])
            #expect(await connection.next()["error"]?["code"] == "task.not_found")
        }
    }

    @Test("When the connection is lost, running handlers are cancelled")
    func lost() async throws {
        let (cancelled, confirm) = AsyncStream<Void>.makeStream()
        try await withProvider { _, call in
            call.reportProgress("started")
            try? await Task.sleep(for: .seconds(3_600))
            if Task.isCancelled { confirm.yield() }
            return nil
        } body: { connection in
            connection.send(["task": "echo", "callbackId": 1, "progress": true])
            _ = await connection.next()
            connection.close()
            for await _ in cancelled { break }
        }
    }

    @Test("A client that finishes answers running calls, refuses new ones, and disconnects after the last answer")
    func finishing() async throws {
        let (begun, begin) = AsyncStream<Void>.makeStream()
        let (released, release) = AsyncStream<Void>.makeStream()
        try await withFakeDaemon { client, connection, _ in
            async let registered = client.registerJSON("echo") { options, _ in
                begin.yield()
                for await _ in released { break }
                return options
            }
            connection.answer(await connection.next(), [:])
            _ = try await registered
            connection.send(["task": "echo", "options": 1, "callbackId": 1])
            for await _ in begun { break }
            async let finished: Void = client.finish()
            // Until the client finishes, it looks up the task.
            var code: JSON? = "task.not_found"
            while code == "task.not_found" {
                connection.send(["task": "unknown", "callbackId": 2])
                code = await connection.next()["error"]?["code"]
            }
            #expect(code == "provider.closed")
            release.yield()
            #expect(await connection.next() == ["callbackId": 1, "result": 1])
            await connection.end()
            connection.close()
            await finished
        }
    }

    /// Runs a test with a client that provides `echo`.
    private func withProvider(
        _ handler: @escaping TaskHandler, body: @LoopActor (FakeConnection) async throws -> Void
    ) async throws {
        try await withFakeDaemon { client, connection, _ in
            async let registered = client.registerJSON("echo", handler)
            connection.answer(await connection.next(), [:])
            _ = try await registered
            try await body(connection)
        }
    }
}

@Suite(.timeLimit(.minutes(20))) @LoopActor struct EventTests {
    @Test("Events reach the streams whose patterns they match, also directly after the callback")
    func routed() async throws {
        try await withFakeDaemon { client, connection, _ in
            async let first = client.subscribe(to: "record.*", "login.changed")
            let subscribe = await connection.next()
            #expect(subscribe["task"] == "bridge.subscribe")
            #expect(subscribe["options"] == ["events": ["record.*", "login.changed"]])
            connection.answer(subscribe, [:])
            connection.send(["event": "record.changed", "data": 1])
            async let second = client.subscribe(to: "login.*")
            connection.answer(await connection.next(), [:])
            connection.send(["event": "login.changed", "data": 2])
            connection.send(["event": "other", "data": 3])
            connection.send(["event": "record.changed"])
            let (one, two) = (try await first, try await second)
            var seen: [BridgeEvent] = []
            for try await event in one {
                seen.append(event)
                if seen.count == 3 { break }
            }
            #expect(
                seen == [
                    BridgeEvent(name: "record.changed", data: 1), BridgeEvent(name: "login.changed", data: 2),
                    BridgeEvent(name: "record.changed", data: nil),
                ])
            for try await event in two {
                #expect(event == BridgeEvent(name: "login.changed", data: 2))
                break
            }
        }
    }

    @Test("An ended or released stream is unsubscribed from the patterns that no other stream uses")
    func unsubscribed() async throws {
        try await withFakeDaemon { client, connection, _ in
            async let first = client.subscribe(to: "a", "b")
            connection.answer(await connection.next(), [:])
            let one = try await first
            do {
                async let second = client.subscribe(to: "b", "c")
                connection.answer(await connection.next(), [:])
                _ = try await second
            }
            let dropped = await connection.next()
            #expect(dropped["task"] == "bridge.unsubscribe")
            #expect(dropped["options"] == ["events": ["c"]])
            await one.end()
            #expect(await connection.next()["options"] == ["events": ["a", "b"]])
            for try await _ in one { Issue.record("the stream had ended") }
        }
    }

    @Test("A slow reader loses the oldest events and receives the number of them")
    func slowReader() async throws {
        try await withFakeDaemon { client, connection, _ in
            async let subscribed = client.subscribe(to: "*")
            connection.answer(await connection.next(), [:])
            let events = try await subscribed
            for number in 0..<1_034 { connection.send(["event": "e", "data": .number(JSONNumber(number))]) }
            // The client has read the events before it reads this answer.
            async let called = client.callJSON("marker")
            connection.answer(await connection.next(), nil)
            _ = try await called
            var seen: [BridgeEvent] = []
            for try await event in events {
                seen.append(event)
                if seen.count == 1_025 { break }
            }
            #expect(seen.first == BridgeEvent(name: "bridge.events_dropped", data: ["count": 10]))
            #expect(seen.dropFirst().map(\.data) == (10..<1_034).map { .number(JSONNumber($0)) })
        }
    }

    @Test("A Swift task that waits for an event can be cancelled")
    func cancelled() async throws {
        try await withFakeDaemon { client, connection, _ in
            async let subscribed = client.subscribe(to: "e")
            connection.answer(await connection.next(), [:])
            let events = try await subscribed
            let reader = Task {
                for try await _ in events { Issue.record("there was no event") }
                return true
            }
            reader.cancel()
            #expect(try await reader.value)
        }
    }
}
