import BridgeJSON
import EventLoop
import Testing

@testable import BridgeClient

@Suite(.timeLimit(.minutes(20))) @LoopActor struct ClientCallTests {
    @Test("A call is sent as the protocol specifies, and its result is returned")
    func call() async throws {
        try await withFakeDaemon { client, connection, _ in
            async let result = client.callJSON(
                "Alert", ["content": "hi"], session: 12, timeout: .milliseconds(90_500))
            let message = await connection.next()
            #expect(message["task"] == "Alert")
            #expect(message["options"] == ["content": "hi"])
            #expect(message["session"] == 12)
            #expect(message["timeout"] == 90_500)
            #expect(message["progress"] == nil)
            connection.answer(message, ["button": "OK"])
            let resultValue = try await result
            #expect(resultValue == ["button": "OK"])
        }
    }

    @Test("Callbacks may arrive in any order")
    func order() async throws {
        try await withFakeDaemon { client, connection, _ in
            async let first = client.callJSON("a")
            let one = await connection.next()
            async let second = client.callJSON("b")
            let two = await connection.next()
            connection.answer(two, 2)
            let secondValue = try await second
            #expect(secondValue == 2)
            connection.answer(one, 1)
            let firstValue = try await first
            #expect(firstValue == 1)
        }
    }

    @Test("An error object is thrown with all its parts")
    func failure() async throws {
        try await withFakeDaemon { client, connection, _ in
            async let failed = error { () async throws(BridgeError) in _ = try await client.callJSON("a") }
            let id = await connection.next()["callbackId"] ?? nil
            let object: JSON = [
                "code": "busy", "message": "try again", "data": ["x": 1], "transient": true, "retryAfter": 250,
            ]
            connection.send(["callbackId": id, "error": object])
            #expect(
                await failed
                    == BridgeError(
                        .busy, "try again", data: ["x": 1], isTransient: true, retryAfter: .milliseconds(250)))
        }
    }

    @Test("Cancelling the Swift task cancels the call; a later callback is ignored")
    func cancel() async throws {
        try await withFakeDaemon { client, connection, _ in
            let task = Task { await error { () async throws(BridgeError) in _ = try await client.callJSON("slow") } }
            let call = await connection.next()
            task.cancel()
            #expect(await task.value?.code == .callCancelled)
            #expect(await connection.next() == ["cancel": call["callbackId"] ?? nil])
            connection.answer(call, "too late")
            async let next = client.callJSON("next")
            let message = await connection.next()
            connection.answer(message, "in time")
            let nextValue = try await next
            #expect(nextValue == "in time")
        }
    }

    @Test("A call in a cancelled Swift task is not sent")
    func cancelledBefore() async throws {
        try await withFakeDaemon { client, connection, _ in
            let task = Task { () -> BridgeError? in
                withUnsafeCurrentTask { $0?.cancel() }
                return await error { () async throws(BridgeError) in _ = try await client.callJSON("a") }
            }
            let failure = await task.value
            #expect(failure?.code == .callCancelled)
            #expect(failure?.data == ["started": false])
            try await client.notifyJSON("marker")
            #expect(await connection.next()["task"] == "marker")
        }
    }

    @Test("Options and results are encoded and decoded; a value that does not fit is an error")
    func typed() async throws {
        struct Options: Encodable, Sendable { var who: String }
        struct Answer: Decodable, Equatable, Sendable { var greeting: String }
        try await withFakeDaemon { client, connection, _ in
            async let greeted: Answer = client.call("greet", Options(who: "you"))
            let call = await connection.next()
            #expect(call["options"] == ["who": "you"])
            connection.answer(call, ["greeting": "Hello, you"])
            let greetedValue = try await greeted
            #expect(greetedValue == Answer(greeting: "Hello, you"))

            async let failed = error { () async throws(BridgeError) in
                _ = try await client.call("greet", Options(who: "you"), as: Answer.self)
            }
            connection.answer(await connection.next(), ["greeting": 1])
            #expect(await failed?.code == .resultInvalid)

            let unsent = await error { () async throws(BridgeError) in
                _ = try await client.call("greet", ["n": Double.nan], as: JSON.self)
            }
            #expect(unsent?.code == .optionsInvalid)
        }
    }

    @Test("Progress arrives in order; then the sequence ends and the result is available")
    func progress() async throws {
        try await withFakeDaemon { client, connection, _ in
            async let stream = client.progressJSON("count")
            let call = await connection.next()
            #expect(call["progress"] == true)
            let id = call["callbackId"] ?? nil
            for number in 0..<3 {
                connection.send(["callbackId": id, "progress": .number(JSONNumber(number)), "sequence": 0])
            }
            connection.answer(call, "done")
            var seen: [JSON] = []
            for await value in try await stream { seen.append(value) }
            #expect(seen == [0, 1, 2])
            #expect(try await stream.result == "done")
        }
    }

    @Test("The 256 newest unread progress values are kept; an error ends the sequence and is thrown by the result")
    func coalesced() async throws {
        try await withFakeDaemon { client, connection, _ in
            let stream = try await client.progressJSON("count")
            let id = await connection.next()["callbackId"] ?? nil
            for number in 0..<1_000 {
                connection.send(["callbackId": id, "progress": .number(JSONNumber(number)), "sequence": 0])
            }
            connection.send(["callbackId": id, "error": ["code": "x.y", "message": "no"]])
            let failure = await error { () async throws(BridgeError) in _ = try await stream.result }
            #expect(failure?.code == "x.y")
            var seen: [JSON] = []
            for await value in stream { seen.append(value) }
            #expect(seen.last == 999)
            #expect(seen.count == 256)
        }
    }

    @Test("A call with progress is cancelled at the daemon if it is released or cancelled")
    func abandoned() async throws {
        try await withFakeDaemon { client, connection, _ in
            _ = try await client.progressJSON("first")
            let first = await connection.next()
            #expect(await connection.next() == ["cancel": first["callbackId"] ?? nil])
            let stream = try await client.progressJSON("second")
            let second = await connection.next()
            await stream.cancel()
            #expect(await connection.next() == ["cancel": second["callbackId"] ?? nil])
            for await _ in stream { Issue.record("there was no progress") }
            #expect(await error { () async throws(BridgeError) in _ = try await stream.result }?.code == .callCancelled)
        }
    }

    @Test("A one-way call has no callbackId")
    func oneWay() async throws {
        try await withFakeDaemon { client, connection, _ in
            try await client.notifyJSON("note", [1, 2])
            #expect(await connection.next() == ["task": "note", "options": [1, 2]])
        }
    }

    @Test("A message longer than the daemon's limit is refused before it is sent")
    func tooLarge() async throws {
        try await withFakeDaemon { client, connection, _ in
            let failure = await error { () async throws(BridgeError) in
                _ = try await client.callJSON("a", .string(String(repeating: "x", count: 1_048_576)))
            }
            #expect(failure?.code == .messageTooLarge)
            #expect(failure?.data == ["started": false])
            try await client.notifyJSON("marker")
            #expect(await connection.next()["task"] == "marker")
        }
    }

    @Test("A call ends here if the daemon sends neither a callback nor a timeout")
    func silentDaemon() async throws {
        try await withFakeDaemon { client, connection, _ in
            client.session.calls.grace = .zero
            let failure = await error { () async throws(BridgeError) in
                _ = try await client.callJSON("a", timeout: .milliseconds(1))
            }
            #expect(failure?.code == .callTimeout)
            let call = await connection.next()
            #expect(await connection.next() == ["cancel": call["callbackId"] ?? nil])
        }
    }

    @Test("A call without a task name is refused here")
    func noName() async throws {
        try await withFakeDaemon { client, _, _ in
            #expect(
                await error { () async throws(BridgeError) in _ = try await client.callJSON("") }?.code == .taskNotFound
            )
        }
    }
}
