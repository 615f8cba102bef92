import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

extension CallTests {
    @Test("After its deadline, a call ends with call.timeout, the plugin is notified, and its reply is dropped")
    func timeout() {
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":1,"timeout":250}"#)
        bench.clock.advance(.milliseconds(249))
        #expect(client.read().isEmpty)
        bench.clock.advance(.milliseconds(1))
        let answer = client.readOne()
        #expect(answer?.errorCode == "call.timeout")
        #expect(answer?["error"]?["data"]?["started"] == true)
        #expect(bench.host.cancelled.map(\.1) == [.timeout])
        bench.reply(0, "1")
        #expect(client.read().isEmpty)
        #expect(bench.runtime.statistics.droppedReplies == 1)
    }

    @Test("A call's timeout is its own, else its task's, else the daemon's; some tasks have none")
    func deadlines() {
        let client = bench.client()
        for (id, task) in [(1, "work"), (2, "slow"), (3, "quick")] {
            client.send(#"{"task":"\#(task)","callbackId":\#(id)}"#)
        }
        client.send(#"{"task":"quick","callbackId":4,"timeout":100000}"#)
        bench.clock.advance(.milliseconds(50))
        #expect(client.readOne()?["callbackId"] == 3)
        bench.clock.advance(.seconds(60))
        #expect(client.readOne()?["callbackId"] == 1)
        bench.clock.advance(.seconds(40))
        #expect(client.readOne()?["callbackId"] == 4)
        bench.clock.advance(.seconds(1_000_000))
        #expect(client.read().isEmpty)
        #expect(client.session.callsInFlight == 1)
    }

    @Test("Each of many calls ends at its own deadline, also after other calls have been answered")
    func manyDeadlines() {
        let client = bench.client()
        // Each of the timeouts from 1 to 100 ms once, out of order: 37 and 101 have no common divisor.
        let timeouts = (1...100).map { $0 * 37 % 101 }
        for timeout in timeouts {
            client.send(#"{"task":"work","callbackId":\#(timeout),"timeout":\#(timeout)}"#)
        }
        for index in stride(from: 0, to: 100, by: 3) { bench.reply(index, "1") }
        let answered = Set(stride(from: 0, to: 100, by: 3).map { timeouts[$0] })
        #expect(client.read().count == answered.count)
        for timeout in 1...100 {
            bench.clock.advance(.milliseconds(1))
            let ended = client.read().map { $0["callbackId"] }
            #expect(ended == (answered.contains(timeout) ? [] : [.number(JSONNumber(timeout))]))
        }
    }

    @Test("A cancel ends a call once; a cancel of an unknown call has no effect")
    func cancel() {
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":"a"}"#)
        client.send(#"{"cancel":"b"}"#)
        #expect(client.read().isEmpty)
        client.send(#"{"cancel":"a"}"#)
        let answer = client.readOne()
        #expect(answer?["callbackId"] == "a")
        #expect(answer?.errorCode == "call.cancelled")
        #expect(answer?["error"]?["data"]?["started"] == true)
        client.send(#"{"cancel":"a"}"#)
        bench.reply(0, "1")
        #expect(client.read().isEmpty)
        #expect(bench.host.cancelled.count == 1)
    }

    @Test("The calls of a client that disconnects are cancelled, and no others")
    func gone() {
        let client = bench.client()
        let other = bench.client()
        client.send(#"{"task":"work","callbackId":1}"#)
        client.send(#"{"task":"work"}"#)
        other.send(#"{"task":"work","callbackId":1}"#)
        bench.runtime.hangUp(client.session)
        #expect(bench.host.cancelled.map(\.1) == [.gone, .gone])
        bench.reply(2, "1")
        #expect(other.readOne() == ["callbackId": 1, "result": 1])
        bench.reply(0, "1")
        #expect(client.session.output.isEmpty)
    }

    @Test("After a half-close, outstanding replies are still sent, then the connection closes")
    func halfClose() {
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":1}"#)
        client.send(#"{"task":"work","callbackId":2}"#)
        bench.runtime.endInput(of: client.session)
        bench.reply(1, "2")
        #expect(!client.transport.isToBeClosed)
        bench.reply(0, "1")
        #expect(client.transport.isToBeClosed)
        #expect(client.read().map { $0["callbackId"] } == [2, 1])
    }

    @Test("Calls above a session's limit of calls in flight are answered with busy and can be retried")
    func bound() {
        var limits = RuntimeLimits()
        limits.callsInFlight = 3
        let bench = Bench(limits: limits)
        let client = bench.client()
        for id in 1...4 { client.send(#"{"task":"work","callbackId":\#(id)}"#) }
        let answer = client.readOne()
        #expect(answer?["callbackId"] == 4)
        #expect(answer?.errorCode == "busy")
        #expect(answer?["error"]?["transient"] == true)
        #expect((answer?["error"]?["retryAfter"]?.int64Value ?? 0) > 0)
        bench.reply(0, "1")
        client.send(#"{"task":"work","callbackId":4}"#)
        #expect(client.read().count == 1)
        #expect(bench.host.started.count == 4)
    }
}
