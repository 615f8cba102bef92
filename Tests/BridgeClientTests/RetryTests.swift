import BridgeJSON
import EventLoop
import Testing

@testable import BridgeClient

@Suite(.timeLimit(.minutes(10))) @LoopActor struct RetryTests {
    private static let busy: JSON = [
        "code": "busy", "message": "later", "data": ["started": false], "transient": true, "retryAfter": 700,
    ]

    @Test(
        "never repeats no call, unstarted a transient failure before the start, transient any transient failure",
        arguments: [
            (Retry.never, ["transient": true, "data": ["started": false]], false),
            (.unstarted, ["transient": true, "data": ["started": false]], true),
            (.unstarted, ["transient": true, "data": ["started": true]], false),
            (.unstarted, ["transient": true], false), (.unstarted, ["data": ["started": false]], false),
            (.transient, ["transient": true], true),
            (.transient, ["transient": true, "data": ["started": true]], true),
            (.transient, ["data": ["started": false]], false),
        ] as [(Retry, JSON, Bool)])
    func rules(retry: Retry, more: JSON, isRepeated: Bool) throws {
        var object: JSONObject = ["code": "x.y", "message": "no"]
        for (name, value) in more.objectValue ?? [:] { object[name] = value }
        #expect(retry.allows(try #require(BridgeError(json: .object(object)))) == isRepeated)
    }

    @Test(
        "A call is not repeated after a cancel, a timeout, or if no connection was made",
        arguments: [ErrorCode.callCancelled, .callTimeout, .daemonUnreachable])
    func pointless(code: ErrorCode) {
        let error = BridgeError(code, "no", data: ["started": false], isTransient: true)
        #expect(Retry.allCases.allSatisfy { !$0.allows(error) })
    }

    @Test("A call is repeated after the pause that the error specifies, and returns the later result")
    func retryAfter() async throws {
        try await withReconnecting { test in
            async let result = test.client.callJSON("a", ["n": 1], retry: .unstarted)
            let first = await test.first.next()
            test.first.fail(first, Self.busy)
            await test.timers.running(.milliseconds(700))
            test.timers.advance(by: .milliseconds(700))
            let second = await test.first.next()
            #expect(second["task"] == "a")
            #expect(second["options"] == ["n": 1])
            test.first.answer(second, "done")
            let value = try await result
            #expect(value == "done")
        }
    }

    @Test("Pauses grow if the error specifies none, and the last error is thrown after five attempts")
    func fiveAttempts() async throws {
        try await withReconnecting { test in
            async let failed = error { () async throws(BridgeError) in
                _ = try await test.client.callJSON("a", retry: .transient)
            }
            for (number, pause) in [50, 100, 200, 400, nil].enumerated() {
                let message = JSON.string("attempt \(number + 1)")
                test.first.fail(await test.first.next(), ["code": "x.y", "message": message, "transient": true])
                guard let pause else { break }
                await test.timers.running(.milliseconds(pause))
                test.timers.advance(by: .milliseconds(pause))
            }
            #expect(await failed == BridgeError("x.y", "attempt 5", isTransient: true))
            #expect(test.timers.count == 0)
        }
    }

    @Test("No attempt begins after the deadline; others get the remaining timeout")
    func withinTheTimeout() async throws {
        try await withReconnecting { test in
            async let failed = error { () async throws(BridgeError) in
                _ = try await test.client.callJSON("a", timeout: .milliseconds(1_000), retry: .unstarted)
            }
            test.first.fail(await test.first.next(), Self.busy)
            await test.timers.running(.milliseconds(700))
            test.timers.advance(by: .milliseconds(700))
            let second = await test.first.next()
            #expect(second["timeout"] == 300)
            test.first.fail(second, Self.busy)
            #expect(await failed?.code == .busy)
        }
    }

    @Test("A call of a lost connection is repeated on the next one if its retry setting permits it")
    func lost() async throws {
        try await withReconnecting { test in
            async let result = test.client.callJSON("a", retry: .transient)
            _ = await test.first.next()
            test.first.close()
            let pause = try #require(await test.pause())
            // The call's own pause ends earlier.
            test.timers.advance(by: pause)
            let second = await test.daemon.nextConnection()
            second.answer(await second.next(), "done")
            let value = try await result
            #expect(value == "done")
        }
    }

    @Test("A call with progress is repeated as well, and its sequence continues")
    func progress() async throws {
        try await withReconnecting { test in
            let call = try await test.client.progressJSON("a", retry: .unstarted)
            test.first.fail(await test.first.next(), Self.busy)
            await test.timers.running(.milliseconds(700))
            test.timers.advance(by: .milliseconds(700))
            let second = await test.first.next()
            test.first.send(["callbackId": second["callbackId"] ?? nil, "progress": 1, "sequence": 0])
            test.first.answer(second, "done")
            var seen: [JSON] = []
            for await value in call { seen.append(value) }
            #expect(seen == [1])
            #expect(try await call.result == "done")
        }
    }

    @Test("A pausing call can be cancelled, and ends with its last error when the bridge is closed")
    func ended() async throws {
        try await withReconnecting { test in
            let cancelled = Task {
                await error { () async throws(BridgeError) in
                    _ = try await test.client.callJSON("a", retry: .unstarted)
                }
            }
            test.first.fail(await test.first.next(), Self.busy)
            await test.timers.running(.milliseconds(700))
            cancelled.cancel()
            let failure = await cancelled.value
            #expect(failure?.code == .callCancelled)
            #expect(failure?.started == false)
            #expect(test.timers.count == 0)

            async let closed = error { () async throws(BridgeError) in
                _ = try await test.client.callJSON("b", retry: .unstarted)
            }
            test.first.fail(await test.first.next(), Self.busy)
            await test.timers.running(.milliseconds(700))
            async let end: Void = test.client.close()
            await test.first.end()
            test.first.close()
            await end
            #expect(await closed?.code == .busy)
            #expect(test.timers.count == 0)
        }
    }
}
