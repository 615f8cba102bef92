import BridgeJSON
import EventLoop
import Testing

@testable import BridgeClient

@Suite(.timeLimit(.minutes(10))) @LoopActor struct ReconnectingTests {
    @Test("A new connection sends hello, then registrations in order, then subscriptions, then waiting calls")
    func order() async throws {
        try await withReconnecting(origin: "https://x") { test in
            let client = test.client
            var registrations: [Registration] = []
            for (task, scope) in [("b", ProviderScope.session), ("a", .any), ("c", .any)] {
                async let registered = client.registerJSON(
                    task, scope: scope, description: TaskDescription(summary: task, options: ["type": "object"])
                ) { options, _ in options }
                test.first.answer(await test.first.next(), [:])
                registrations.append(try await registered)
            }
            let last = registrations[2]
            async let unregistered: Void = last.unregister()
            test.first.answer(await test.first.next(), [:])
            try await unregistered
            async let subscribed = client.subscribe(to: "x.*", "y")
            test.first.answer(await test.first.next(), [:])
            let events = try await subscribed

            test.first.close()
            let pause = await test.pause()
            async let waiting = client.callJSON("waiting")
            await test.timers.running(.seconds(60))
            test.timers.advance(by: try #require(pause))
            let second = await test.daemon.nextConnection()
            var received: [JSON?] = []
            for _ in 0..<3 {
                let call = await second.next()
                received.append(call["options"])
                #expect(second.untaken.isEmpty)
                second.answer(call, [:])
            }
            #expect(second.hello == ["client": "tester", "version": "1.2", "origin": "https://x"])
            let described: (JSON) -> JSON = { ["summary": $0, "options": ["type": "object"]] }
            #expect(
                received == [
                    ["tasks": ["b"], "scope": "session", "descriptions": ["b": described("b")]],
                    ["tasks": ["a"], "scope": "any", "descriptions": ["a": described("a")]],
                    ["events": ["x.*", "y"]],
                ])
            second.answer(await second.next(), "done")
            let result = try await waiting
            #expect(result == "done")

            // The handler and the stream from before are still used.
            second.send(["task": "a", "options": [1], "callbackId": 1])
            #expect(await second.next() == ["callbackId": 1, "result": [1]])
            second.send(["event": "y", "data": 2])
            var seen: [BridgeEvent] = []
            for try await event in events {
                seen.append(event)
                if seen.count == 2 { break }
            }
            #expect(seen == [.missed, BridgeEvent(name: "y", data: 2)])
        }
    }

    @Test("A registration and a subscription whose answers are lost are repeated at the next daemon")
    func lostAnswers() async throws {
        try await withReconnecting { test in
            let client = test.client
            async let registered = client.registerJSON("a") { options, _ in options }
            let registration = await test.first.next()
            async let subscribed = client.subscribe(to: "x")
            let subscription = await test.first.next()
            let second = await test.renew(test.first)
            // Their own pause ends together with the pause before the connection, so they wait for the connection.
            #expect(await test.opened() == [])
            for _ in 0..<2 {
                let call = await second.next()
                #expect([registration["options"], subscription["options"]].contains(call["options"]))
                second.answer(call, [:])
            }
            _ = try await (registered, subscribed)
            second.send(["task": "a", "options": [1], "callbackId": 1])
            #expect(await second.next() == ["callbackId": 1, "result": [1]])
        }
    }

    @Test("A client without a reconnection configuration does not reconnect")
    func notAsked() async throws {
        try await withFakeDaemon { client, connection, daemon in
            connection.close()
            #expect(await client.session.link.ended().code == .sessionClosed)
            #expect(daemon.connections.count == 1)
        }
    }

    @Test("The new daemon's information replaces the old daemon's")
    func hello() async throws {
        try await withReconnecting { test in
            test.daemon.helloResult = [
                "session": 9, "daemon": ["name": "trestled", "version": "10"], "limits": ["messageBytes": 100],
            ]
            _ = await test.renew(test.first)
            #expect(await test.opened() == [])
            #expect(test.client.daemon?.session == 9)
            let failure = await error { () async throws(BridgeError) in
                _ = try await test.client.callJSON("a", .string(String(repeating: "x", count: 100)))
            }
            #expect(failure?.code == .messageTooLarge)
        }
    }

    @Test("Pauses grow while the daemon does not listen, and start again after a connection that lasted")
    func pauses() async throws {
        try await withReconnecting(chance: 0.5) { test in
            test.daemon.stopListening()
            test.first.close()
            for milliseconds in [75, 150, 300] {
                let pause = await test.pause()
                #expect(pause == .milliseconds(milliseconds))
                if milliseconds == 300 { try test.daemon.listen() }
                test.timers.advance(by: .milliseconds(milliseconds))
            }
            let second = await test.daemon.nextConnection()
            #expect(await test.opened() == [])
            test.timers.advance(by: .milliseconds(300))
            second.close()
            #expect(await test.pause() == .milliseconds(75))
        }
    }

    @Test("The pauses grow for a daemon that accepts connections and then hangs up", arguments: [false, true])
    func hangsUp(afterHello: Bool) async throws {
        try await withReconnecting { test in
            if !afterHello { test.daemon.onAccept = { $0.close() } }
            test.first.close()
            var pauses: [Duration?] = []
            for _ in 0..<5 {
                let pause = await test.pause()
                pauses.append(pause)
                test.timers.advance(by: pause ?? .zero)
                guard afterHello else { continue }
                #expect(await test.opened() == [])
                await test.daemon.nextConnection().close()
            }
            #expect(pauses == [100, 200, 400, 800, 1_600].map { .milliseconds($0) })
            _ = await test.nextState()
            #expect(test.daemon.connections.count == 6)
        }
    }

    @Test("A daemon that accepts a connection but does not answer is abandoned after a timeout and tried again")
    func silentDaemon() async throws {
        try await withReconnecting { test in
            test.daemon.onAccept = { $0.stopReading() }
            _ = await test.renew(test.first)
            let timeout = ClientSession.helloTimeout + test.client.session.calls.grace
            await test.timers.running(timeout)
            test.timers.advance(by: timeout)
            #expect(await test.pause() == .milliseconds(200))
        }
    }

    @Test("A task that the next daemon refuses is reported, keeps its handler, and is registered again later")
    func refusedTask() async throws {
        try await withReconnecting { test in
            async let registered = test.client.registerJSON("a") { _, _ in "kept" }
            test.first.answer(await test.first.next(), [:])
            _ = try await registered
            let second = await test.renew(test.first)
            second.fail(await second.next(), ["code": "task.exists", "message": "no"])
            let refusal = RefusedRegistration(task: "a", error: BridgeError("task.exists", "no"))
            #expect(await test.opened() == [refusal])
            let third = await test.renew(second)
            third.answer(await third.next(), [:])
            #expect(await test.opened() == [])
            third.send(["task": "a", "callbackId": 1])
            #expect(await third.next() == ["callbackId": 1, "result": "kept"])
        }
    }

    @Test("An event stream that the next daemon refuses ends with the daemon's error")
    func refusedStream() async throws {
        try await withReconnecting { test in
            async let subscribed = test.client.subscribe(to: "e")
            test.first.answer(await test.first.next(), [:])
            let events = try await subscribed
            let second = await test.renew(test.first)
            second.fail(await second.next(), ["code": "busy", "message": "no"])
            let ended = await error { () async throws(BridgeError) in for try await _ in events {} }
            #expect(ended == BridgeError(.busy, "no"))
        }
    }

    @Test("The client tries a busy daemon again, and closes if the daemon denies its hello")
    func refusedHello() async throws {
        try await withReconnecting(origin: "https://x") { test in
            test.daemon.helloError = ["code": "busy", "message": "later", "transient": true]
            _ = await test.renew(test.first)
            #expect(await test.pause() == .milliseconds(200))
            test.daemon.helloError = ["code": "permission.denied", "message": "not for you"]
            test.timers.advance(by: .milliseconds(200))
            #expect(await test.client.session.link.ended() == BridgeError(.permissionDenied, "not for you"))
            #expect(await test.nextState() == .closed(BridgeError(.permissionDenied, "not for you")))
            #expect(await test.nextState() == nil)
        }
    }

    @Test("A session that is closed on purpose is not restored, and its info is in the error")
    func closedOnPurpose() async throws {
        try await withReconnecting { test in
            async let called = error { () async throws(BridgeError) in _ = try await test.client.callJSON("a") }
            _ = await test.first.next()
            test.first.send(["event": "web.close", "data": ["info": "bye"]])
            test.first.close()
            let failure = await called
            #expect(failure?.code == .sessionClosed)
            #expect(failure?.data == ["info": "bye", "started": true])
            #expect(await test.client.session.link.ended().data == ["info": "bye"])
            #expect(test.timers.count == 0)
            #expect(test.daemon.connections.count == 1)
        }
    }

    @Test("A web.close event that is followed by others does not count as the end of the session")
    func onlyPublished() async throws {
        try await withReconnecting { test in
            test.first.send(["event": "web.close", "data": ["info": "bye"]])
            test.first.send(["event": "other", "data": nil])
            _ = await test.renew(test.first)
            #expect(await test.opened() == [])
        }
    }

    @Test("A handler's late answer to the previous daemon is not sent to the next one")
    func lateAnswer() async throws {
        try await withReconnecting { test in
            let (begun, confirm) = AsyncStream<String>.makeStream()
            async let registered = test.client.registerJSON("a") { options, _ in
                confirm.yield("begun")
                guard options == "slow" else { return "new" }
                try? await Task.sleep(for: .seconds(3_600))
                confirm.yield("cancelled")
                return "old"
            }
            test.first.answer(await test.first.next(), [:])
            _ = try await registered
            test.first.send(["task": "a", "options": "slow", "callbackId": 1])
            var progress = begun.makeAsyncIterator()
            #expect(await progress.next(isolation: LoopActor.shared) == "begun")
            let second = await test.renew(test.first)
            #expect(await progress.next(isolation: LoopActor.shared) == "cancelled")
            second.answer(await second.next(), [:])
            second.send(["task": "a", "callbackId": 1])
            #expect(await second.next() == ["callbackId": 1, "result": "new"])
            #expect(second.untaken.isEmpty)
        }
    }

    @Test("Registrations and subscriptions that end while there is no connection are not restored")
    func givenUp() async throws {
        try await withReconnecting { test in
            var registrations: [Registration] = []
            for task in ["a", "b"] {
                async let registered = test.client.registerJSON(task) { _, _ in nil }
                test.first.answer(await test.first.next(), [:])
                registrations.append(try await registered)
            }
            async let subscribed = test.client.subscribe(to: "e")
            test.first.answer(await test.first.next(), [:])
            let events = try await subscribed
            test.first.close()
            let pause = await test.pause()
            try await registrations[0].unregister()
            await events.end()
            test.timers.advance(by: try #require(pause))
            let second = await test.daemon.nextConnection()
            let call = await second.next()
            #expect(call["options"]?["tasks"] == ["b"])
            second.answer(call, [:])
            try await test.client.notifyJSON("marker")
            #expect(await second.next()["task"] == "marker")
        }
    }
}
