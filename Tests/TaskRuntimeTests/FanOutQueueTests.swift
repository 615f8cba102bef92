import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

@Suite("Events for many sessions, beside other messages", .timeLimit(.minutes(5)))
struct FanOutQueueTests {
    private let bench = Bench()
    private let turns: FakeTurns
    private let readers: [FakeClient]
    private static let readerCount = 200

    init() {
        let bench = bench
        turns = FakeTurns(bench)
        bench.allowEvents()
        readers = (0..<Self.readerCount).map { _ in bench.client() }
        for reader in readers { subscribe(reader, "lamp") }
    }

    private func subscribe(_ client: FakeClient, _ event: String) {
        client.send(#"{"task":"bridge.subscribe","options":{"events":["\#(event)"]},"callbackId":"s"}"#)
        _ = turns.runJobs()
        #expect(client.read().last?["result"] != nil)
    }

    private func publish(_ event: String, _ data: Int, by client: FakeClient) {
        client.send(
            #"{"task":"bridge.publish","options":{"event":"\#(event)","data":\#(data)},"callbackId":\#(data)}"#)
    }

    /// Publishes an event to the readers. Some have received it when this returns, and others have not.
    private func beginSlowly(_ data: Int, by client: FakeClient) {
        turns.slow()
        publish("lamp", data, by: client)
        #expect(client.read().isEmpty)
    }

    private func plugin(_ event: String, _ data: String, to clients: [FakeClient]?, direct: Bool = true) {
        let fault = Array(data.utf8).withUnsafeBytes {
            bench.instance.publish(
                OutgoingEvent(event, data: $0, to: clients?.map(\.session.number), isDirect: direct))
        }
        #expect(fault == nil)
    }

    /// The names of events and the ids of callbacks that a client has received since the last time.
    private func messages(of client: FakeClient) -> [JSON?] { client.read().map { $0["event"] ?? $0["callbackId"] } }

    private func data(of client: FakeClient) -> [Int64?] {
        client.read().filter { $0["event"] == "lamp" }.map { $0["data"]?.int64Value }
    }

    private func waiting(_ data: Int64) -> [FakeClient] {
        readers.filter { !String(decoding: $0.session.output.copy(), as: UTF8.self).contains(#""data":\#(data)"#) }
    }

    @Test("A short event reaches a session after the earlier ones, and does not hasten them for others")
    func short() {
        let other = bench.client(uid: 8)
        subscribe(readers[150], "bell")
        beginSlowly(1, by: bench.client(uid: 7))
        let before = waiting(1).count
        publish("bell", 2, by: other)
        #expect(waiting(1).count == before - 1)
        #expect(messages(of: readers[150]) == ["lamp", "bell"])
        _ = turns.runJobs()
        for reader in readers where reader !== readers[150] { #expect(data(of: reader) == [1]) }
        #expect(readers[150].read().isEmpty)
    }

    @Test("A callback, an error and a forwarded call reach a session after the events before them")
    func callbacks() {
        let provider = readers[199]
        provider.send(#"{"task":"bridge.register","options":{"tasks":["door.open"]},"callbackId":"r"}"#)
        _ = turns.runJobs()
        _ = provider.read()
        let caller = bench.client(uid: 8)
        beginSlowly(1, by: bench.client(uid: 7))
        #expect(waiting(1).contains { $0 === provider })
        readers[198].send(#"{"task":"bridge.hello","callbackId":1}"#)
        readers[197].send(#"{"task":"none","callbackId":1}"#)
        readers[196].send("no message")
        caller.send(#"{"task":"door.open","callbackId":1}"#)
        #expect(messages(of: readers[198]) == ["lamp", 1])
        #expect(messages(of: readers[197]) == ["lamp", 1])
        #expect(readers[196].read().map { $0["event"] } == ["lamp", nil])
        #expect(provider.read().map { $0["event"] ?? $0["task"] } == ["lamp", "door.open"])
    }

    @Test("Only one event of a user is on the way at a time; a cancelled call does not publish")
    func sameUser() {
        let sessions = (0..<3).map { _ in bench.client(uid: 7) }
        beginSlowly(1, by: sessions[0])
        for (index, session) in sessions.enumerated().dropFirst() { publish("lamp", index + 1, by: session) }
        #expect(readers.allSatisfy { !String(decoding: $0.session.output.copy(), as: UTF8.self).contains("2") })
        sessions[1].send(#"{"cancel":2}"#)
        _ = turns.runJobs()
        for reader in readers { #expect(data(of: reader) == [1, 3]) }
        #expect(sessions[0].readOne()?["callbackId"] == 1)
        #expect(sessions[1].readOne()?.errorCode == "call.cancelled")
        #expect(sessions[2].readOne()?["callbackId"] == 3)
    }

    @Test("Events of several users are on the way together, and each session gets them in the order of publication")
    func severalUsers() {
        let users = (0..<4).map { bench.client(uid: UInt32(7 + $0)) }
        for (index, user) in users.enumerated() { beginSlowly(index + 1, by: user) }
        #expect(turns.waitingUsers == 4)
        turns.runShare()
        _ = turns.runJobs()
        for reader in readers { #expect(data(of: reader) == [1, 2, 3, 4]) }
    }

    @Test(
        "A plugin's event for many sessions is sent over several turns, to each of them once", arguments: [true, false])
    func pluginEvent(direct: Bool) {
        turns.slow()
        plugin("lamp", "1", to: readers + readers.prefix(3), direct: direct)
        #expect(waiting(1).count > 100)
        plugin("lamp", "2", to: nil)
        #expect(turns.runJobs() > 3)
        for reader in readers { #expect(data(of: reader) == [1, 2]) }
    }

    @Test("A plugin's event precedes the callback of the call during which it was published")
    func pluginCallback() {
        let caller = readers[190]
        caller.send(#"{"task":"work","callbackId":1}"#)
        turns.slow()
        plugin("lamp", "1", to: readers)
        bench.reply(0, "2")
        #expect(messages(of: caller) == ["lamp", 1])
    }

    @Test("The opening of a session is reported to many sessions over several turns")
    func openings() {
        for reader in readers { subscribe(reader, "session.opened") }
        turns.slow()
        let client = bench.client(uid: 7)
        #expect(readers.contains { $0.session.output.isEmpty } && readers.contains { !$0.session.output.isEmpty })
        #expect(turns.runJobs() > 1)
        for reader in readers {
            #expect(reader.read().map { $0["data"]?["session"]?.int64Value } == [Int64(client.session.number)])
        }
    }

    @Test("Beyond 64 events on the way, the oldest one is sent immediately")
    func tooMany() {
        turns.slow()
        for number in 1...64 { plugin("lamp", "\(number)", to: readers) }
        #expect(waiting(1).count > 100)
        plugin("lamp", "65", to: readers)
        #expect(waiting(1).isEmpty)
        #expect(waiting(2).count > 100)
        _ = turns.runJobs()
        for reader in readers { #expect(data(of: reader) == (1...65).map { $0 }) }
    }

    @Test("Beyond 4 MiB on the way, the oldest one is sent immediately")
    func tooLong() {
        var limits = bench.runtime.limits
        limits.messageBytes = 4 << 20
        bench.runtime.apply(limits)
        turns.slow()
        let long = #""\#(String(repeating: "x", count: 3 << 20))""#
        plugin("lamp", long, to: readers)
        #expect(readers.contains { $0.session.output.isEmpty })
        plugin("lamp", long, to: readers)
        #expect(readers.allSatisfy { $0.session.queuedBytes > 0 || $0.session.queuedEvents > 0 })
    }

    @Test("A session gets the events on the way before it is closed or handed over")
    func ends() {
        beginSlowly(1, by: bench.client(uid: 7))
        let (closed, handedOver) = (readers[199], readers[198])
        #expect(closed.session.output.isEmpty && handedOver.session.output.isEmpty)
        bench.runtime.end(closed.session, because: "test")
        _ = bench.runtime.record(of: handedOver.session)
        #expect(messages(of: handedOver) == ["lamp"])
        #expect(messages(of: closed) == ["lamp", "session.lost"])
        bench.runtime.finishEvents()
        #expect(waiting(1).allSatisfy { $0 === closed || $0 === handedOver })
        _ = turns.runJobs()
        #expect(closed.read().isEmpty)
        #expect(readers.dropLast(2).allSatisfy { data(of: $0) == [1] })
    }
}
