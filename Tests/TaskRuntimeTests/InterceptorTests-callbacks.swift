import BridgeJSON
import BridgeMessage
import TestSupport
import Testing

@testable import TaskRuntime

extension InterceptorTests {
    @Test("A second decision is dropped, and counted")
    func twice() {
        let one = FakeInterceptor(bench, "look", ["work"])
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":7}"#)
        one.decide(0, #"{"pass":true}"#)
        one.decide(0, #"{"result":1}"#)
        #expect(client.read().isEmpty)
        #expect(bench.runtime.statistics.droppedReplies == 1)
        bench.reply(0, "2")
        #expect(client.read() == [["callbackId": 7, "result": 2]])
    }

    @Test(
        "An invalid decision is a failure of the interceptor; the error states what is invalid",
        arguments: [
            ("{}", "it has none of pass, options, task, result and error"),
            (#"{"pass":true,"result":1}"#, "it has several of"), (#"{"pass":false}"#, "pass is not true"),
            (#"{"pass":1}"#, "pass is not true"), (#"{"task":5}"#, "task is not the name of a task"),
            (#"{"task":""}"#, "task is not the name of a task"), (#"{"error":"no"}"#, "error is not an object"),
            (#"{"error":{"code":"a"}}"#, "error is not an object"),
            (#"{"error":{"message":"\#(String(repeating: "b", count: 65_536))"}}"#, "error has more than 65536"),
            (#"{"task":"\#(String(repeating: "b", count: 65_536))"}"#, "task is not the name of a task"),
            (#"{"options":1,"extra":2}"#, "the member \"extra\""),
            (#"{"options":1,"options":2}"#, "occurs twice"), ("[1]", "it is an array, not an object"),
            ("null", "it is null, not an object"), ("", "there is no JSON value"),
            (#"{"result":"#, "expected a value"), ("{\"result\":\"\u{1}\"}", "raw control character"),
            (#"{"task":"\#(String(repeating: "x", count: 65_536))"}"#, "task is not the name of a task"),
            (
                #"{"error":{"code":"a","message":"\#(String(repeating: "x", count: 65_536))"}}"#,
                "error has more than 65536 bytes"
            ),
            (#"{"result":1,"options":2}"#, "several"), (#"{"p\u0061ss":true}"#, "is not one of a decision"),
        ])
    func garbage(decision: String, reason: String) {
        let one = FakeInterceptor(bench, "look", ["work"]) { _ in decision }
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":7}"#)
        let error = client.readOne()?["error"]
        #expect(error?["code"] == "reply.invalid")
        #expect(error?["message"]?.stringValue?.contains(reason) == true, "\(error?["message"]?.text ?? "")")
        #expect(error?["data"]?["interceptor"] == "look.all")
        #expect(one.report?["failed"] == 1)
        #expect(bench.runtime.calls.count == 0)
    }

    @Test("A decision with too many members is refused without being read to its end")
    func members() {
        let one = FakeInterceptor(bench, "look", ["work"])
        let client = bench.client()
        let many = (0..<100_000).map { "\"k\($0 + 100_000)\":0" }.joined(separator: ",")
        func decide(_ decision: [UInt8]) {
            client.send(#"{"task":"work","callbackId":7}"#)
            decision.withUnsafeBytes { one.instance.reply(one.host.started[one.host.started.count - 1].handle, $0) }
        }
        let refused = Array("{\(many)}".utf8)
        let result = Array("{\"result\":{\(many)}}".utf8)
        let (dear, usual) = (cpuTime { decide(refused) }, cpuTime { decide(result) })
        #expect(dear / usual < 1)
        decide(refused)
        let error = client.read().last?["error"]
        #expect(error?["message"]?.stringValue?.contains("it has more than 2 members") == true, "\(error?.text ?? "")")
    }

    @Test(
        "Decisions with random changed bytes end the call exactly once",
        arguments: 0..<40 as Range<UInt64>)
    func mutated(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let good = [
            #"{"pass":true}"#, #"{"options":{"a":[1,2]}}"#, #"{"task":"slow","options":[]}"#, #"{"result":"x"}"#,
            #"{"error":{"code":"a.b","message":"c"}}"#,
        ]
        let one = FakeInterceptor(bench, "look", ["work"])
        let client = bench.client()
        for id in 0..<50 {
            client.send(#"{"task":"work","callbackId":\#(id)}"#)
            var bytes = Array(good[Int.random(in: good.indices, using: &generator)].utf8)
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            bytes.withUnsafeBytes { one.instance.reply(one.host.started[id].handle, $0) }
            if let last = bench.host.started.last {
                Array("1".utf8).withUnsafeBytes { bench.instance.reply(last.handle, $0) }
            }
            #expect(client.read().filter { $0["callbackId"]?.int64Value == Int64(id) }.count == 1)
        }
        #expect(bench.runtime.calls.count == 0)
    }

    @Test("A call that interceptors redirect in a circle starts, and each interceptor is asked once")
    func loops() {
        let there = FakeInterceptor(bench, "there", ["work"]) { _ in #"{"task":"slow"}"# }
        let back = FakeInterceptor(bench, "back", ["slow"]) { _ in #"{"task":"work"}"# }
        let itself = FakeInterceptor(bench, "itself", ["work"]) { _ in #"{"task":"work"}"# }
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":1}"#)
        #expect(bench.host.started.map(\.work) == [.task(0)])
        for one in [there, back, itself] { #expect(one.questions.count == 1) }
        bench.reply(0, "1")
        #expect(client.read() == [["callbackId": 1, "result": 1]])
    }
}
