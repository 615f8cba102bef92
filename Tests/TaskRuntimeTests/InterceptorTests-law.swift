import BridgeJSON
import BridgeMessage
import TestSupport
import Testing

@testable import TaskRuntime

extension InterceptorTests {
    @Test("Each call gets one callback, with random decisions at random times", arguments: 0..<40 as Range<UInt64>)
    func law(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let interceptors = [
            FakeInterceptor(bench, "a", ["work", "one"]), FakeInterceptor(bench, "b", ["*"], onFailure: .pass),
        ]
        let decisions = [
            #"{"pass":true}"#, #"{"pass":true}"#, #"{"options":5}"#, #"{"task":"work"}"#, #"{"task":"one"}"#,
            #"{"task":"quick","options":1}"#, #"{"result":1}"#, #"{"error":{"code":"x.y","message":"z"}}"#, "{}",
        ]
        let client = bench.client()
        var sent: Set<Int64> = []
        var ended: [Int64: Int] = [:]
        for step in 0..<400 {
            switch Int.random(in: 0..<12, using: &generator) {
            case 0..<4:
                let task = ["work", "one", "quick", "slow"].randomElement(using: &generator) ?? "work"
                client.send(
                    #"{"task":"\#(task)","callbackId":\#(step),"timeout":\#(Int.random(in: 1...300, using: &generator))}"#
                )
                sent.insert(Int64(step))
            case 4..<8:
                let one = interceptors[Int.random(in: 0...1, using: &generator)]
                guard let index = one.host.started.indices.randomElement(using: &generator) else { continue }
                one.decide(index, decisions.randomElement(using: &generator) ?? "")
            case 8: bench.clock.advance(.milliseconds(Int64.random(in: 0...40, using: &generator)))
            case 9: client.send(#"{"cancel":\#(Int.random(in: 0...step, using: &generator))}"#)
            case 10 where Int.random(in: 0..<8, using: &generator) == 0:
                let one = interceptors[Int.random(in: 0...1, using: &generator)]
                one.instance.crashed(
                    BridgeError(.pluginCrashed, "gone"), lost: one.host.started.map(\.handle), isRestarting: true)
                one.instance.restarted()
            default:
                guard let index = bench.host.started.indices.randomElement(using: &generator) else { continue }
                bench.reply(index, "1")
            }
            if Bool.random(using: &generator) { bench.runtime.writeOutput() }
            for message in client.read() { ended[message["callbackId"]?.int64Value ?? -1, default: 0] += 1 }
        }
        bench.clock.advance(.seconds(1000))
        bench.runtime.writeOutput()
        for message in client.read() { ended[message["callbackId"]?.int64Value ?? -1, default: 0] += 1 }
        #expect(Set(ended.keys) == sent)
        #expect(ended.values.allSatisfy { $0 == 1 })
        #expect(bench.runtime.calls.count == 0 && bench.runtime.calls.clientCallCount == 0)
        #expect(bench.instance.waitingCount == 0)
        for task in bench.runtime.tasks.all { #expect(task.statistics.inFlight == 0, "\(task.name)") }
        for one in interceptors { #expect(one.instance.interceptors[0].entry.statistics.inFlight == 0) }
    }
}
