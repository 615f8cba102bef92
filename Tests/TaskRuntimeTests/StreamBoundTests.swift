import BridgeJSON
import TestSupport
import Testing

@testable import TaskRuntime

@Suite("Limits and timeouts of streams")
struct StreamBoundTests {
    private func bench(_ change: (inout QuotaLimits) -> Void = { _ in }) -> Bench {
        var quotas = QuotaLimits()
        quotas.trustedFactor = 1
        change(&quotas)
        let bench = Bench()
        bench.runtime.apply(quotas)
        return bench
    }

    @Test("A session has at most 64 streams, and all sessions of a user share the user's limit")
    func counts() {
        let bench = bench { $0.user.streams = 100 }
        let (first, second) = (StreamClient(bench), StreamClient(bench))
        for _ in 0..<64 { #expect(first.make() != "") }
        let refusal = first.call("new", [:])["error"]
        #expect(refusal?["code"] == "quota.exceeded")
        #expect(refusal?["data"]?["of"] == "session 1")
        for _ in 0..<36 { #expect(second.make() != "") }
        #expect(second.call("new", [:])["error"]?["data"]?["of"] == "uid 0")
        #expect(StreamClient(bench, uid: Bench.daemonUID).make() != "")
        bench.runtime.hangUp(first.client.session)
        bench.clock.advance(.seconds(60))
        #expect(second.make() != "")
    }

    @Test("A read returns what fits into a message together with the type, but at least 192 bytes")
    func shortMessages() throws {
        let bench = bench()
        let client = StreamClient(bench)
        let reader = StreamClient(bench)
        for (messageBytes, type) in [(1_024, ""), (1_024, String(repeating: "\"", count: 256)), (2_048, "image/png")] {
            let stream = JSON.string(client.make(["type": .string(type)]))
            var limits = RuntimeLimits()
            limits.messageBytes = messageBytes
            bench.runtime.apply(limits)
            let piece = JSON.string(String(repeating: "AAAA", count: 200))
            for _ in 0..<4 { client.begin("write", ["stream": stream, "base64": piece]) }
            let first = reader.call("read", ["stream": stream])
            let text = try #require(first["base64"]?.stringValue)
            #expect(text.count >= 256 && first.text.utf8.count <= messageBytes, "\(first.text)")
            #expect(type.isEmpty || first["type"]?.stringValue == type)
            let second = try #require(reader.call("read", ["stream": stream])["base64"]?.stringValue)
            #expect(second.count > messageBytes / 2 && second.count <= messageBytes)
            _ = reader.call("close", ["stream": stream])
            _ = client.answers()
            bench.runtime.apply(RuntimeLimits())
        }
    }

    @Test("A stream's window counts for its user's queued bytes until the reader has left")
    func windows() {
        let bench = bench { $0.user.queuedBytes = 600 << 10 }
        let (writer, reader) = (StreamClient(bench), StreamClient(bench))
        let streams = (0..<2).map { _ in JSON.string(writer.make()) }
        #expect(writer.client.session.account.queuedBytes == 512 << 10)
        #expect(writer.call("new", [:]).errorCode == "busy")
        // The writer still holds its end, and has made no call since.
        _ = reader.call("close", ["stream": streams[0]])
        #expect(writer.client.session.account.queuedBytes == 256 << 10)
        #expect(writer.make() != "")
        bench.runtime.hangUp(writer.client.session)
        bench.runtime.hangUp(reader.client.session)
        // Until then, a reader can still take its end.
        bench.clock.advance(.seconds(60))
        #expect(writer.client.session.account.queuedBytes == 0)
        #expect(bench.runtime.streams.count == 0)
    }

    @Test("A stream that a plugin makes for a client's call counts for the client")
    func madeForCall() {
        let bench = bench { $0.sessionStreams = 2 }
        let client = StreamClient(bench)
        client.client.send(#"{"task":"work","callbackId":"w"}"#)
        let plugin = StreamPlugin(bench, bench.instance)
        for _ in 0..<2 { #expect(plugin.call("new", [:], for: bench.host.started[0].handle)["stream"] != nil) }
        #expect(plugin.call("new", [:], for: bench.host.started[0].handle).errorCode == "quota.exceeded")
        #expect(client.call("new", [:]).errorCode == "quota.exceeded")
        #expect(plugin.call("new", [:])["stream"] != nil)
    }

    @Test("A stream whose other end is not taken ends after a minute, and waiting calls get the reason")
    func unclaimed() {
        let bench = bench()
        let client = StreamClient(bench)
        let stream = JSON.string(client.make())
        let end = client.begin("write", ["stream": stream, "base64": "AAAA", "end": true])
        bench.clock.advance(.seconds(59))
        #expect(client.answers() == [:])
        bench.clock.advance(.seconds(1))
        #expect(client.answers()[end]?["error"]?["code"] == "stream.unclaimed")
        #expect(bench.runtime.streams.count == 0)
        #expect(client.client.session.account.queuedBytes == 0)
    }

    @Test("The minute does not pass while a call that may take the other end is in flight")
    func awaited() {
        let bench = bench()
        let client = StreamClient(bench)
        _ = client.make()
        client.client.send(#"{"task":"slow","callbackId":"s"}"#)
        for _ in 0..<100 { bench.clock.advance(.seconds(60)) }
        #expect(bench.runtime.streams.count == 1)
        bench.reply(0, "1")
        bench.clock.advance(.seconds(60))
        #expect(bench.runtime.streams.count == 1)
        bench.clock.advance(.seconds(60))
        #expect(bench.runtime.streams.count == 0)
    }

    @Test("Streams that are made and never used take no more memory than the quota allows")
    func unused() {
        let bench = bench()
        let client = StreamClient(bench)
        for _ in 0..<1_000 { _ = client.call("new", [:]) }
        #expect(bench.runtime.streams.count == 64)
        for _ in 0..<1_000 { _ = client.call("close", ["stream": .string(client.make(["side": "read"]))]) }
        bench.clock.advance(.seconds(60))
        #expect(bench.runtime.streams.count == 0)
    }

    @Test("A reader that stalls for an hour limits its writer to the window, and affects no other client")
    func stalled() {
        let bench = bench()
        let (writer, reader, other) = (StreamClient(bench), StreamClient(bench), StreamClient(bench))
        let stream = JSON.string(writer.make())
        _ = reader.call("close", ["stream": .string(reader.make())])
        reader.begin("read", ["stream": stream, "bytes": 1])
        let chunk = JSON.string(String(repeating: "A", count: 65_536 / 3 * 4))
        var answered = 0
        for _ in 0..<4 {
            writer.begin("write", ["stream": stream, "base64": chunk])
            answered += writer.answers().count
        }
        for _ in 0..<60 { bench.clock.advance(.seconds(60)) }
        #expect(answered + writer.answers().count == 2)
        #expect(bench.runtime.streams.waitingBytes <= 262_144)
        other.client.send(#"{"task":"work","callbackId":"w"}"#)
        bench.reply(0, "1")
        #expect(other.client.readOne()?["result"] == 1)
    }

    @Test("A read that waits for its user's quota continues once there is room")
    func quotaAndRead() {
        let bench = bench { $0.user.queuedBytes = 300 << 10 }
        let (writer, reader) = (StreamClient(bench), StreamClient(bench))
        let stream = JSON.string(writer.make())
        _ = writer.call("write", ["stream": stream, "base64": "AAAA"])
        bench.runtime.quotas.hold(100 << 10, for: reader.client.session.account)
        let read = reader.begin("read", ["stream": stream])
        #expect(reader.answers() == [:])
        bench.clock.advance(.milliseconds(100))
        #expect(reader.answers() == [:])
        bench.runtime.quotas.hold(-100 << 10, for: reader.client.session.account)
        bench.clock.advance(.milliseconds(100))
        #expect(reader.answers()[read]?["base64"] == "AAAA")
    }

    @Test("Draining refuses new streams, lets active streams continue, and ends streams without progress")
    func draining() {
        let bench = bench()
        let (writer, reader) = (StreamClient(bench), StreamClient(bench))
        let (moving, still) = (JSON.string(writer.make()), JSON.string(writer.make()))
        let waiting = reader.begin("read", ["stream": still])
        var isDrained = false
        bench.runtime.drain { isDrained = true }
        #expect(writer.call("new", [:]).errorCode == "daemon.stopping")
        var answers: [Int: JSON] = [:]
        for _ in 0..<3 {
            _ = writer.call("write", ["stream": moving, "base64": "AAAA"])
            let read = reader.begin("read", ["stream": moving])
            answers.merge(reader.answers()) { $1 }
            #expect(answers[read] == ["base64": "AAAA"])
            bench.clock.advance(.seconds(1))
            answers.merge(reader.answers()) { $1 }
        }
        #expect(answers[waiting]?["error"]?["code"] == "stream.closed")
        #expect(answers[waiting]?["error"]?["transient"] == true)
        #expect(!isDrained)
        bench.clock.advance(.seconds(1))
        #expect(isDrained)
        #expect(writer.call("write", ["stream": moving, "base64": "AAAA"]).errorCode == "stream.not_found")
    }

    @Test("In random use of streams, byte counts return to zero, and each call gets one answer")
    func anything() {
        var random = SeededGenerator(seed: 21)
        for _ in 0..<200 {
            let bench = bench()
            let clients = [StreamClient(bench), StreamClient(bench)]
            var names: [String] = []
            var (begun, answered) = (0, 0)
            for _ in 0..<60 {
                let client = clients[Int.random(in: 0..<2, using: &random)]
                let name = JSON.string(names.randomElement(using: &random) ?? "stream:")
                begun += 1
                switch Int.random(in: 0..<8, using: &random) {
                case 0:
                    begun -= 1
                    names.append(client.make(Bool.random(using: &random) ? [:] : ["side": "read"]))
                case 1, 2: client.begin("write", ["stream": name, "base64": "AAAA"])
                case 3: client.begin("write", ["stream": name, "base64": "AAAA", "end": true])
                case 4, 5:
                    let bytes = Int.random(in: 1...5, using: &random)
                    client.begin("read", ["stream": name, "bytes": .number(JSONNumber(bytes))])
                case 6: client.begin("close", ["stream": name])
                default: client.begin("close", ["stream": name, "error": ["code": "a.b", "message": "c"]])
                }
                answered += client.answers().count
                if Int.random(in: 0..<20, using: &random) == 0 { bench.clock.advance(.seconds(30)) }
                answered += clients.reduce(0) { $0 + $1.answers().count }
            }
            answered += clients.reduce(0) { $0 + $1.client.session.callsAside }
            #expect(begun == answered)
            for client in clients { bench.runtime.hangUp(client.client.session) }
            // Until then, a reader can still take its end.
            for _ in 0..<2 { bench.clock.advance(.seconds(60)) }
            #expect(bench.runtime.streams.count == 0 && bench.runtime.calls.count == 0)
            #expect(bench.runtime.quotas.queuedBytes == 0)
            #expect(clients[0].client.session.account.streams == 0)
        }
    }
}
