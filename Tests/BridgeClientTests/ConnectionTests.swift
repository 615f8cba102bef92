import BridgeJSON
import EventLoop
import Testing

@testable import BridgeClient

@Suite(.timeLimit(.minutes(20))) @LoopActor struct ConnectionTests {
    @Test("Connecting introduces the client and stores the daemon's information")
    func hello() async throws {
        try await withFakeDaemon(as: "tester") { client, _, daemon in
            #expect(client.daemon?.json == daemon.helloResult)
            #expect(client.daemon?.session == 7)
            #expect(client.daemon?.name == "trestled")
            #expect(client.daemon?.version == "9.9")
            #expect(client.daemon?.limits.messageBytes == 1_048_576)
            #expect(client.daemon?.limits.callTimeout == .seconds(60))
        }
    }

    @Test("Connecting without a daemon reports the path", arguments: ["/nowhere/bridge.sock", "/dev/null"])
    func noDaemon(path: String) async throws {
        let failure = await error { () async throws(BridgeError) in _ = try await Bridge.connectOnce(to: path) }
        #expect(failure?.code == .daemonUnreachable)
        #expect(failure?.message.hasPrefix("no daemon at \(path): ") == true)
    }

    @Test("A server that closes at once counts as unreachable")
    func closesAtOnce() async throws {
        let daemon = try FakeDaemon()
        defer { daemon.close() }
        daemon.onAccept = { $0.close() }
        let failure = await error { () async throws(BridgeError) in _ = try await Bridge.connectOnce(to: daemon.path)
        }
        #expect(failure?.code == .daemonUnreachable)
    }

    @Test("When the connection is lost, open calls, event streams and later calls end with session.closed")
    func lost() async throws {
        try await withFakeDaemon { client, connection, _ in
            async let called = error { () async throws(BridgeError) in _ = try await client.callJSON("a") }
            _ = await connection.next()
            async let subscribed = client.subscribe(to: "x")
            connection.answer(await connection.next(), [:])
            let events = try await subscribed
            connection.close()
            let failure = await called
            #expect(failure?.code == .sessionClosed)
            #expect(failure?.data == ["started": true])
            let ended = await error { () async throws(BridgeError) in for try await _ in events {} }
            #expect(ended?.code == .sessionClosed)
            #expect(await client.session.link.ended().code == .sessionClosed)
            let later = await error { () async throws(BridgeError) in _ = try await client.callJSON("b") }
            #expect(later?.code == .sessionClosed)
        }
    }

    @Test("Lines that are not messages are ignored; an invalid answer to a call ends that call")
    func badLines() async throws {
        try await withFakeDaemon { client, connection, _ in
            connection.send("what?")
            connection.send("[]")
            connection.send(#"{"callbackId":null,"error":{"code":"call.duplicate","message":"x"}}"#)
            connection.send(#"{"callbackId":"never","result":1}"#)
            async let neither = error { () async throws(BridgeError) in _ = try await client.callJSON("a") }
            connection.send(["callbackId": await connection.next()["callbackId"] ?? nil])
            #expect(await neither?.code == .replyInvalid)
            async let twice = error { () async throws(BridgeError) in _ = try await client.callJSON("b") }
            let id = await connection.next()["callbackId"] ?? nil
            connection.send(#"{"callbackId":\#(id.text),"result":1,"result":2}"#)
            #expect(await twice?.code == .replyInvalid)
            async let codeless = error { () async throws(BridgeError) in _ = try await client.callJSON("c") }
            connection.send(["callbackId": await connection.next()["callbackId"] ?? nil, "error": "no"])
            #expect(await codeless?.code == .replyInvalid)
        }
    }

    @Test("Both ends can write more than the socket holds at the same time, and everything arrives")
    func bothWrite() async throws {
        try await withFakeDaemon { client, connection, _ in
            async let subscribed = client.subscribe(to: "x")
            connection.answer(await connection.next(), [:])
            let events = try await subscribed
            client.session.link.openConnection?.roomBytes = 200_000
            // The daemon's end does not read before it has written everything, which is more than a socket's 208 KiB.
            connection.stopReading()
            let text = JSON.string(String(repeating: "d", count: 20_000))
            for _ in 0..<30 { connection.send(["event": "x", "data": text]) }
            let calls = (0..<20).map { number in
                Task {
                    let filler = JSON.string(String(repeating: "c", count: 40_000))
                    return try await client.callJSON("a", [.number(JSONNumber(number)), filler])
                }
            }
            var seen = 0
            for try await event in events {
                #expect(event.data == text)
                seen += 1
                if seen == 30 { break }
            }
            #expect(!connection.hasUnsentOutput)
            connection.startReading()
            for _ in calls {
                let call = await connection.next()
                connection.answer(call, call["options"]?[0] ?? nil)
            }
            for (number, call) in calls.enumerated() { #expect(try await call.value == .number(JSONNumber(number))) }
        }
    }

    @Test("A call that waits for room in a full output can be cancelled")
    func cancelledWhileWaiting() async throws {
        try await withFakeDaemon { client, connection, _ in
            connection.stopReading()
            client.session.link.openConnection?.roomBytes = 100_000
            let filler = JSON.string(String(repeating: "c", count: 50_000))
            let sender = Task { () -> Int in
                var sent = 0
                while (try? await client.notifyJSON("filler", filler)) != nil { sent += 1 }
                return sent
            }
            // The sender stops once the socket and the output are full. Only the cancel ends it.
            sender.cancel()
            let waiting = Task {
                await error { () async throws(BridgeError) in while true { try await client.notifyJSON("x", filler) }
                }
            }
            waiting.cancel()
            let failure = await waiting.value
            #expect(failure?.code == .callCancelled)
            let sent = await sender.value
            connection.startReading()
            try await client.notifyJSON("marker")
            var received = 0
            while await connection.next()["task"] != "marker" { received += 1 }
            #expect(received >= sent)
        }
    }

    @Test("close cancels open calls, delivers sent messages, and ends event streams without an error")
    func close() async throws {
        try await withFakeDaemon { client, connection, _ in
            async let called = error { () async throws(BridgeError) in _ = try await client.callJSON("a") }
            let call = await connection.next()
            async let subscribed = client.subscribe(to: "x")
            connection.answer(await connection.next(), [:])
            let events = try await subscribed
            try await client.notifyJSON("last words")
            async let closed: Void = client.close()
            #expect(await connection.next()["task"] == "last words")
            #expect(await connection.next() == ["cancel": call["callbackId"] ?? nil])
            await connection.end()
            connection.close()
            await closed
            #expect(await called?.code == .sessionClosed)
            for try await _ in events { Issue.record("there was no event") }
            #expect(
                await error { () async throws(BridgeError) in _ = try await client.callJSON("b") }?.code
                    == .sessionClosed)
            await client.close()
        }
    }

    @Test("A released client disconnects")
    func dropped() async throws {
        let daemon = try FakeDaemon()
        defer { daemon.close() }
        _ = try await Bridge.connectOnce(to: daemon.path)
        await daemon.connections[0].end()
    }
}
