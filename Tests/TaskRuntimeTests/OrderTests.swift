import BridgeJSON
import Testing

@testable import TaskRuntime

@Suite("The order of calls")
struct OrderTests {
    let bench = Bench()

    @Test("A task gets no more concurrent calls than it declares; the others wait")
    func concurrency() {
        let client = bench.client()
        for id in 1...3 { client.send(#"{"task":"one","options":\#(id),"callbackId":\#(id)}"#) }
        #expect(bench.host.started.map(\.options) == ["1"])
        bench.reply(0, "1")
        #expect(bench.host.started.map(\.options) == ["1", "2"])
        bench.reply(1, "2")
        bench.reply(2, "3")
        #expect(client.read().map { $0["result"] } == [1, 2, 3])
    }

    @Test("A session's calls do not overtake its waiting calls; calls of other sessions do")
    func noOvertaking() {
        let client = bench.client()
        let other = bench.client()
        client.send(#"{"task":"one","options":1}"#)
        client.send(#"{"task":"one","options":2}"#)
        client.send(#"{"task":"work","options":3}"#)
        other.send(#"{"task":"work","options":4}"#)
        #expect(bench.host.started.map(\.options) == ["1", "4"])
        bench.reply(0, "1")
        #expect(bench.host.started.map(\.options) == ["1", "4", "2", "3"])
    }

    @Test("A call that is cancelled while it waits does not start, and its error states that")
    func cancelledWhileWaiting() {
        let client = bench.client()
        client.send(#"{"task":"one","callbackId":1}"#)
        client.send(#"{"task":"one","callbackId":2}"#)
        client.send(#"{"cancel":2}"#)
        let answer = client.readOne()
        #expect(answer?.errorCode == "call.cancelled")
        #expect(answer?["error"]?["data"]?["started"] == false)
        bench.reply(0, "1")
        #expect(bench.host.started.count == 1)
        #expect(bench.host.cancelled.isEmpty)
    }

    @Test("A call that waited behind an ended call starts")
    func behindCancelled() {
        let client = bench.client()
        for id in 1...2 { client.send(#"{"task":"one","options":\#(id),"callbackId":\#(id)}"#) }
        client.send(#"{"task":"work","options":3,"callbackId":3}"#)
        client.send(#"{"cancel":2}"#)
        bench.runtime.writeOutput()
        #expect(bench.host.started.map(\.options) == ["1", "3"])
    }

    @Test("Work whose call has timed out occupies its slot until it ends")
    func abandonedWork() {
        let client = bench.client()
        client.send(#"{"task":"one","callbackId":1,"timeout":10}"#)
        client.send(#"{"task":"one","callbackId":2}"#)
        bench.clock.advance(.milliseconds(10))
        #expect(client.readOne()?.errorCode == "call.timeout")
        #expect(bench.host.started.count == 1)
        bench.reply(0, "1")
        #expect(bench.host.started.count == 2)
    }

    @Test("Tasks that answer at once are answered in order, for any number of waiting calls")
    func immediateAnswers() {
        bench.host.onStart = { [unowned bench] started in
            Array(started.options.utf8).withUnsafeBytes { bench.instance.reply(started.handle, $0) }
        }
        let client = bench.client()
        for id in 1...100 { client.send(#"{"task":"one","options":\#(id),"callbackId":\#(id)}"#) }
        #expect(client.read().compactMap { $0["result"]?.int64Value } == Array(1...100))
    }
}
