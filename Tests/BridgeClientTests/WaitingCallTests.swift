import BridgeJSON
import EventLoop
import Testing

@testable import BridgeClient

@Suite(.timeLimit(.minutes(10))) @LoopActor struct WaitingCallTests {
    @Test("Open calls end once each and state whether any part of them was sent")
    func started() async throws {
        try await withReconnecting { test in
            test.first.stopReading()
            // More than a socket holds: the first calls are written, the last are not.
            let filler = JSON.string(String(repeating: "x", count: 100_000))
            var calls: [CallProgress<JSON, JSON>] = []
            for _ in 0..<20 { calls.append(try await test.client.progressJSON("a", filler)) }
            test.first.close()
            var started: [JSON?] = []
            for call in calls {
                let failure = await error { () async throws(BridgeError) in _ = try await call.result }
                #expect(failure?.code == .sessionClosed)
                #expect(failure?.isTransient == true)
                started.append(failure?.data?["started"])
            }
            #expect(started.first == true)
            #expect(started.last == false)
            #expect(started == started.filter { $0 == true } + started.filter { $0 == false })
            // None of them is sent to the next daemon.
            if let pause = await test.pause() { test.timers.advance(by: pause) }
            let second = await test.daemon.nextConnection()
            try await test.client.notifyJSON("marker")
            #expect(await second.next()["task"] == "marker")
        }
    }

    @Test("A call that waited is sent with its remaining timeout")
    func timeoutLeft() async throws {
        try await withReconnecting { test in
            test.first.close()
            let pause = await test.pause()
            async let result = test.client.callJSON("a", timeout: .seconds(5))
            await test.timers.running(.seconds(5))
            test.timers.advance(by: try #require(pause))
            let second = await test.daemon.nextConnection()
            let call = await second.next()
            #expect(call["timeout"] == 4_900)
            second.answer(call, "done")
            let value = try await result
            #expect(value == "done")
        }
    }

    @Test("A call without a connection ends at its timeout, or after a minute if it has none")
    func tooLate() async throws {
        try await withReconnecting { test in
            test.daemon.stopListening()
            test.first.close()
            _ = await test.pause()
            async let limited = error { () async throws(BridgeError) in
                _ = try await test.client.callJSON("a", timeout: .seconds(30))
            }
            async let unlimited = error { () async throws(BridgeError) in _ = try await test.client.callJSON("b") }
            async let oneWay = error { () async throws(BridgeError) in try await test.client.notifyJSON("c") }
            await test.timers.running(.seconds(30))
            await test.timers.running(.seconds(60))
            while test.timers.count < 4 { await Task.yield() }
            test.timers.advance(by: .seconds(30))
            let first = await limited
            #expect(first?.code == .callTimeout)
            #expect(first?.data == ["started": false])
            test.timers.advance(by: .seconds(30))
            for failure in [await unlimited, await oneWay] {
                #expect(failure?.code == .daemonUnreachable)
                #expect(failure?.data?["started"] == false)
            }
        }
    }

    @Test("Waiting calls have a maximum count and size; one more gets a retry time", arguments: [true, false])
    func bounded(byCount: Bool) async throws {
        let bounds = Reconnection(
            maximumWaitingCalls: byCount ? 2 : 100, maximumWaitingBytes: byCount ? 1 << 20 : 2_500)
        try await withReconnecting(bounds) { test in
            test.first.close()
            let pause = await test.pause()
            let filler = JSON.string(String(repeating: "x", count: 1_000))
            // Each returns once its call waits.
            let calls = [
                try await test.client.progressJSON("a", filler), try await test.client.progressJSON("b", filler),
            ]
            let failure = await error { () async throws(BridgeError) in
                _ = try await test.client.callJSON("c", filler)
            }
            #expect(failure?.code == .busy)
            #expect(failure?.data == ["started": false])
            #expect(failure?.isTransient == true)
            #expect(failure?.retryAfter == .seconds(1))
            test.timers.advance(by: try #require(pause))
            let second = await test.daemon.nextConnection()
            for call in calls {
                second.answer(await second.next(), 1)
                #expect(try await call.result == 1)
            }
        }
    }

    @Test("A waiting call can be cancelled and is then not sent")
    func cancelled() async throws {
        try await withReconnecting { test in
            test.first.close()
            let pause = await test.pause()
            let task = Task { await error { () async throws(BridgeError) in _ = try await test.client.callJSON("a") } }
            await test.timers.running(.seconds(60))
            task.cancel()
            let failure = await task.value
            #expect(failure?.code == .callCancelled)
            #expect(failure?.data == ["started": false])
            test.timers.advance(by: try #require(pause))
            let second = await test.daemon.nextConnection()
            try await test.client.notifyJSON("marker")
            #expect(await second.next()["task"] == "marker")
        }
    }

    @Test("Closing without a connection ends everything at once and prevents further attempts")
    func closed() async throws {
        try await withReconnecting { test in
            async let subscribed = test.client.subscribe(to: "e")
            test.first.answer(await test.first.next(), [:])
            let events = try await subscribed
            test.first.close()
            _ = await test.pause()
            async let called = error { () async throws(BridgeError) in _ = try await test.client.callJSON("a") }
            await test.timers.running(.seconds(60))
            await test.client.close()
            let failure = await called
            #expect(failure?.code == .sessionClosed)
            #expect(failure?.data == ["started": false])
            for try await _ in events { Issue.record("there was no event") }
            #expect(await test.nextState() == .closed(.closedHere))
            #expect(await test.nextState() == nil)
            #expect(await test.client.session.link.ended() == .closedHere)
            #expect(test.timers.count == 0)
            let later = await error { () async throws(BridgeError) in _ = try await test.client.callJSON("b") }
            #expect(later?.data == ["started": false])
            #expect(test.daemon.connections.count == 1)
        }
    }

    @Test("Closing during a connection attempt ends the attempt")
    func closedWhileConnecting() async throws {
        try await withReconnecting { test in
            async let registered = test.client.registerJSON("a") { _, _ in nil }
            test.first.answer(await test.first.next(), [:])
            _ = try await registered
            let second = await test.renew(test.first)
            _ = await second.next()
            await test.client.close()
            await second.end()
            #expect(await test.nextState() == .closed(.closedHere))
            #expect(test.timers.count == 0)
        }
    }

    @Test("A call that a stopping daemon has not begun waits for the next daemon; a call that it began has ended")
    func stopping() async throws {
        try await withReconnecting { test in
            let refused = try await test.client.progressJSON("a")
            let begun = try await test.client.progressJSON("b")
            let (first, second) = (await test.first.next(), await test.first.next())
            let refusal: (Bool) -> JSON = {
                ["code": "daemon.stopping", "message": "no", "data": ["started": .bool($0)], "transient": true]
            }
            test.first.fail(first, refusal(false))
            test.first.fail(second, refusal(true))
            let failure = await error { () async throws(BridgeError) in _ = try await begun.result }
            #expect(failure?.code == .daemonStopping)
            // Made while the daemon stops, so it is not sent to that daemon.
            let later = try await test.client.progressJSON("c")
            #expect(test.first.untaken.isEmpty)
            let next = await test.renew(test.first)
            for (call, task) in [(refused, "a"), (later, "c")] as [(CallProgress<JSON, JSON>, JSON)] {
                let message = await next.next()
                #expect(message["task"] == task)
                next.answer(message, task)
                #expect(try await call.result == task)
            }
        }
    }

    @Test("Calls wait once a subscriber has received daemon.draining")
    func draining() async throws {
        try await withReconnecting { test in
            async let subscribed = test.client.subscribe(to: "daemon.*")
            test.first.answer(await test.first.next(), [:])
            let events = try await subscribed
            test.first.send(["event": "daemon.draining", "data": [:]])
            for try await _ in events { break }
            let call = try await test.client.progressJSON("a")
            let second = await test.renew(test.first)
            second.answer(await second.next(), [:])
            second.answer(await second.next(), "done")
            #expect(try await call.result == "done")
            #expect(test.first.untaken.isEmpty)
        }
    }

    @Test("If the connection outlives the daemon, refused calls are sent over it again after a second")
    func handedOver() async throws {
        try await withReconnecting { test in
            let call = try await test.client.progressJSON("a")
            let refusal: JSON = ["code": "daemon.stopping", "message": "no", "data": ["started": false]]
            test.first.fail(await test.first.next(), refusal)
            await test.timers.running(.seconds(1))
            test.timers.advance(by: .seconds(1))
            test.first.answer(await test.first.next(), "done")
            #expect(try await call.result == "done")
        }
    }

    @Test("A call that waits because the daemon does not read ends at its timeout and is not sent")
    func noRoom() async throws {
        try await withReconnecting { test in
            test.first.stopReading()
            test.client.session.link.openConnection?.roomBytes = 0
            // More than the socket holds, so that a part stays in the output.
            try await test.client.notifyJSON("filler", .string(String(repeating: "c", count: 900_000)))
            let waiting = Task {
                await error { () async throws(BridgeError) in
                    _ = try await test.client.callJSON("a", timeout: .seconds(3))
                }
            }
            await test.timers.running(.seconds(3))
            test.timers.advance(by: .seconds(3))
            let failure = await waiting.value
            #expect(failure?.code == .callTimeout && failure?.data == ["started": false])
            test.client.session.link.openConnection?.roomBytes = 4 << 20
            test.first.startReading()
            try await test.client.notifyJSON("marker")
            #expect(await test.first.next()["task"] == "filler")
            #expect(await test.first.next()["task"] == "marker")
        }
    }

    @Test("A released client that was about to reconnect leaves no session and no timer")
    func dropped() async throws {
        let daemon = try FakeDaemon()
        defer { daemon.close() }
        let timers = FakeTimers()
        var client: Bridge? = try await Bridge.connect(to: daemon.path, .init(), timers: timers, random: { 0 })
        weak let session = client?.session
        let states = try #require(client).states
        daemon.connections[0].close()
        for await state in states {
            if case .waiting = state { client = nil }
        }
        while session != nil { await Task.yield() }
        #expect(timers.count == 0)
        #expect(daemon.connections.count == 1)
    }
}
