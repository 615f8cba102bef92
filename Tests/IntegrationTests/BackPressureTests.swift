import BridgeJSON
import Glibc
import TestSupport
import Testing

/// The default maximum number of bytes that a session may leave unread.
private let unreadBytes: Int64 = 4 << 20

@Suite("A client that does not read", .blocking)
struct BackPressureTests {
    @Test("is no longer read, delays no other client, and gets every callback exactly once when it reads again")
    func readsLate() throws {
        try withDaemon { daemon in
            let other = try daemon.connect()
            var sender = Sender(try daemon.connect(), EchoFlood())
            try sender.stuff(daemon, boundBytes: unreadBytes)
            for number in 1...100 {
                let options = JSON.number(JSONNumber(number))
                #expect(try other.result("Echo", options) == options)
            }
            // The daemon has read nothing more in the meantime.
            #expect(try sender.sendWhatFits() == 0)
            try sender.pump()
            #expect(sender.isDone)
        }
    }

    @Test("gets the callback after a long event in the same turn, without sending another message")
    func behindLongEvent() throws {
        try withDaemon { daemon in
            let client = try daemon.connect()
            _ = try client.result("bridge.subscribe", ["events": ["e"]])
            // The callback of this call follows the event, which is not copied into the session's output.
            let text = String(repeating: "x", count: 6_000)
            try client.send(
                ["task": "bridge.publish", "options": ["event": "e", "data": .string(text)], "callbackId": 2])
            #expect(try client.receive()["data"]?.stringValue == text)
            #expect(try client.receive()["callbackId"] == 2)
        }
    }

    @Test("gets every callback, then the end of the stream, if it closes its sending side first")
    func readsAfterHalfClose() throws {
        try withDaemon("limits.unread_bytes = \"64KiB\"") { daemon in
            // Small messages: the socket accepts each one whole or not at all.
            let flood = EchoFlood(count: 64 * 1_024, optionsBytes: 1_024)
            let client = try daemon.connect()
            var sender = Sender(client, flood)
            try sender.stuff(daemon, boundBytes: 64 * 1_024)
            let calls = try #require(sender.callsSent)
            // The end of input follows messages that the daemon has not read.
            client.shutdownWrite()
            var answered = 0
            while let line = try client.receiveLine(), flood.isCallback(line, of: answered) { answered += 1 }
            #expect(answered == calls)
            #expect(client.hasEnded)
        }
    }

    @Test("is disconnected after the time limit, and the log states the reason")
    func stalled() throws {
        try withDaemon("limits.stalled = \"300ms\"") { daemon in
            let client = try daemon.connect()
            let session = try #require(try client.result("bridge.hello")["session"]?.int64Value)
            var sender = Sender(client, EchoFlood())
            try sender.stuff(daemon, boundBytes: unreadBytes)
            try client.awaitHangUp()
            #expect(daemon.log.contains("session \(session) was closed: it left"))
            let sessions = try daemon.connect().result("bridge.sessions")["sessions"]?.arrayValue ?? []
            #expect(!sessions.contains { $0["session"]?.int64Value == session })
        }
    }

    @Test("and provides a task blocks neither its callers nor itself: all calls complete once it reads")
    func bothFull() throws {
        try withDaemon { daemon in
            let provider = try daemon.connect()
            _ = try provider.result("bridge.register", ["tasks": ["slow"]])
            let caller = try daemon.connect()
            let filling = String(repeating: "x", count: 64 * 1024)
            // Calls fill the daemon's buffers for the provider. Further calls fail with `busy`.
            let calls = 100
            for id in 0..<calls { try caller.send(#"{"task":"slow","callbackId":\#(id),"options":"\#(filling)"}"#) }
            var outcomes: [Int64: JSON] = [:]
            while outcomes.isEmpty { try take(caller.receive(), &outcomes) }
            #expect(outcomes.values.allSatisfy { $0["error"]?["code"] == "busy" })
            // The provider's own calls fill the other direction.
            var sender = Sender(provider, EchoFlood(count: 256))
            try sender.stuff(daemon, boundBytes: unreadBytes)
            // Now the provider reads: its calls get their callbacks, and the caller gets its own.
            try answerAll(provider, &sender, caller: caller, calls: calls, &outcomes)
            #expect(outcomes.count == calls)
            #expect(outcomes.values.contains { $0["result"] == "done" })
        }
    }

    private func take(_ callback: JSON, _ outcomes: inout [Int64: JSON]) throws {
        let id = try #require(callback["callbackId"]?.int64Value, "\(callback.text)")
        #expect(outcomes.updateValue(callback, forKey: id) == nil, "a second callback of \(id)")
    }

    /// Serves the provider until it and the caller have all their callbacks.
    private func answerAll(
        _ provider: Wire, _ sender: inout Sender, caller: Wire, calls: Int, _ outcomes: inout [Int64: JSON]
    ) throws {
        let deadline = Deadline()
        var echoes = 0
        var answers: ArraySlice<UInt8> = []
        while echoes < sender.flood.count || outcomes.count < calls {
            try #require(!deadline.isOver && !provider.hasEnded, "\(echoes) echoes, \(outcomes.count) callbacks")
            // A call that has been sent in part is completed before an answer is sent.
            _ = try sender.sendWhatFits()
            if sender.isDone, !answers.isEmpty { answers = answers.dropFirst(try provider.offer(answers)) }
            while let line = provider.lineAtHand() {
                if let id = forwardedID(line) {
                    answers += Array("{\"callbackId\":\(id),\"result\":\"done\"}\n".utf8)
                } else {
                    try #require(sender.flood.isCallback(line, of: echoes))
                    echoes += 1
                }
            }
            while let line = caller.lineAtHand() { try take(JSON(parsing: line), &outcomes) }
            let out = Int16(sender.isDone && answers.isEmpty ? 0 : POLLOUT)
            var states = [
                pollfd(fd: provider.descriptor, events: Int16(POLLIN) | out, revents: 0),
                pollfd(fd: caller.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            guard echoes < sender.flood.count || outcomes.count < calls else { return }
            poll(&states, 2, deadline.millisecondsLeft)
        }
    }

    /// The id of a call that the daemon forwarded; `nil` for the provider's own callbacks.
    private func forwardedID(_ line: [UInt8]) -> Int64? {
        guard line.starts(with: Array(#"{"task":"slow""#.utf8)) else { return nil }
        return (try? JSON(parsing: line))?["callbackId"]?.int64Value
    }
}
