import BridgeJSON
import Testing

@testable import TaskRuntime

extension Bench {
    /// Allows all users to call tasks, and to publish and receive events.
    func allowEvents() {
        let rule = PolicyRule(.allow, [.call, .publish, .subscribe], file: "t.toml", line: 1)
        runtime.apply(Policy(daemonUID: Self.daemonUID, rules: [rule]))
    }
}

@Suite("An event for many sessions", .timeLimit(.minutes(5)))
struct FanOutTests {
    private let bench = Bench()
    private let turns: FakeTurns
    private let readers: [FakeClient]
    private let publisher: FakeClient
    private static let readerCount = 200

    init() {
        let bench = bench
        turns = FakeTurns(bench)
        bench.allowEvents()
        // Another user than the readers: jobs of one user wait for one another.
        publisher = bench.client(uid: 7)
        readers = (0..<Self.readerCount).map { _ in bench.subscriber("lamp", "la*") }
    }

    private func publish(_ data: Int, _ more: String = "", by client: FakeClient? = nil) {
        (client ?? publisher)
            .send(
                #"{"task":"bridge.publish","options":{"event":"lamp","data":\#(data)\#(more)},"callbackId":\#(data)}"#)
    }

    /// Begins to publish an event. Some readers have received it when this returns, and others have not.
    private func beginSlowly(_ data: Int, _ more: String = "") {
        turns.slow()
        publish(data, more)
        #expect(turns.waitingUsers == 1)
        #expect(publisher.read().isEmpty)
    }

    private func data(of client: FakeClient) -> [Int64?] {
        client.read().filter { $0["event"] == "lamp" }.map { $0["data"]?.int64Value }
    }

    @Test("is sent once to each of them over several turns; the callback follows the last one")
    func steps() {
        beginSlowly(1)
        let received = readers.map { data(of: $0) }
        #expect(received.contains([1]) && received.contains([]))
        #expect(turns.runJobs() > 3)
        #expect(publisher.read() == [["callbackId": 1, "result": [:]]])
        for (before, reader) in zip(received, readers) { #expect(before + data(of: reader) == [1]) }
    }

    @Test("precedes every later event, of other users and of the daemon, in all of them")
    func order() {
        let all = bench.subscriber("*")
        beginSlowly(1)
        let other = bench.client(uid: 8)
        publish(2, by: other)
        _ = turns.runJobs()
        for reader in readers { #expect(data(of: reader) == [1, 2]) }
        let events = all.read().compactMap { $0["event"]?.stringValue }
        #expect(events.filter { $0 == "lamp" }.count == 2)
        #expect(events.first == "lamp", "the other session connected afterwards: \(events)")
        #expect(publisher.read().map { $0["callbackId"] } == [1])
        #expect(other.read().map { $0["callbackId"] } == [2])
    }

    @Test("is not sent to sessions that unsubscribe or disconnect meanwhile")
    func leaving() {
        beginSlowly(1)
        let late = readers.filter { data(of: $0).isEmpty }
        #expect(late.count > 2)
        let (gone, silent) = (late[late.count - 1], late[late.count - 2])
        bench.clock.tick = .zero
        silent.send(#"{"task":"bridge.unsubscribe","options":{"events":["lamp","la*"]},"callbackId":1}"#)
        #expect(data(of: late[0]).isEmpty, "the event is still being sent")
        bench.runtime.hangUp(gone.session)
        _ = turns.runJobs()
        #expect(silent.read().map { $0["event"] } == [nil])
        #expect(data(of: gone).isEmpty)
        for reader in late.dropLast(2) { #expect(data(of: reader) == [1]) }
    }

    @Test("that is retained is received once by a session that subscribes meanwhile")
    func retained() {
        let late = bench.client(uid: 8)
        beginSlowly(1, #","retain":true"#)
        bench.clock.tick = .zero
        late.send(#"{"task":"bridge.subscribe","options":{"events":["lamp"]},"callbackId":"s"}"#)
        _ = turns.runJobs()
        #expect(late.read().map { $0["callbackId"] ?? $0["event"] } == ["s", "lamp"])
        for reader in readers { #expect(data(of: reader) == [1]) }
    }

    @Test("reaches all of them if its publisher disconnects meanwhile")
    func abandoned() {
        beginSlowly(1)
        bench.runtime.hangUp(publisher.session)
        _ = turns.runJobs()
        for reader in readers { #expect(data(of: reader) == [1]) }
        #expect(bench.runtime.callsInFlight == 0)
    }

    @Test("precedes the publisher's next message")
    func nextMessage() {
        beginSlowly(1)
        #expect(publisher.session.waitsForJobs)
        _ = turns.runJobs()
        #expect(!publisher.session.waitsForJobs)
    }
}
