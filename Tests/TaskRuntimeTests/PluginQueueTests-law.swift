import BridgeJSON
import TestSupport
import Testing

@testable import TaskRuntime

extension PluginQueueTests {
    @Test("Each call gets one callback, in spite of faults, pauses and replacements", arguments: 0..<40)
    func law(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        turns.slow()
        var (instance, host) = (bench.instance!, bench.host)  // set by Bench.init
        let clients = (0..<4).map { _ in bench.client() }
        var sent: Set<String> = []
        var ended: [String: Int] = [:]
        var isDown = false
        func collect() {
            for (number, client) in clients.enumerated() {
                for message in client.read() where message["progress"] == nil {
                    ended["\(number)/\(message["callbackId"]?.int64Value ?? -1)", default: 0] += 1
                }
            }
        }
        for step in 0..<500 {
            let number = Int.random(in: 0..<4, using: &generator)
            switch Int.random(in: 0..<20, using: &generator) {
            case 0..<8:
                let task = ["work", "one", "quick", "slow"].randomElement(using: &generator) ?? "work"
                clients[number].send(#"{"task":"\#(task)","callbackId":\#(step)}"#)
                sent.insert("\(number)/\(step)")
            case 8..<12:
                guard let started = host.started.randomElement(using: &generator), !isDown else { continue }
                Array("1".utf8).withUnsafeBytes { instance.reply(started.handle, $0) }
            case 12: clients[number].send(#"{"cancel":\#(Int.random(in: 0...step, using: &generator))}"#)
            case 13: bench.clock.advance(.milliseconds(Int64.random(in: 0...20, using: &generator)))
            case 14: if !isDown { instance.pause(.unread) }
            case 15: instance.resume(.unread)
            case 16:
                if isDown {
                    instance.restarted()
                } else {
                    let isRestarting = Bool.random(using: &generator)
                    instance.crashed(crash, lost: host.started.map(\.handle), isRestarting: isRestarting)
                }
                isDown.toggle()
            case 17 where Int.random(in: 0..<4, using: &generator) == 0:
                let next = FakeHost()
                let new = try bench.runtime.candidate(instance.manifest, path: "/w.so", host: next, inPlaceOf: instance)
                try bench.runtime.replace(instance, by: new)
                if Bool.random(using: &generator) { bench.runtime.remove(instance) }
                (instance, host, isDown) = (new, next, false)
            default: turns.runShare()
            }
            if Bool.random(using: &generator) { bench.runtime.writeOutput() }
            collect()
        }
        if isDown { instance.restarted() }
        instance.resume(.unread)
        _ = turns.runJobs()
        bench.runtime.endCallsInFlight()
        bench.runtime.writeOutput()
        _ = turns.runJobs()
        collect()
        #expect(Set(ended.keys) == sent)
        #expect(ended.values.allSatisfy { $0 == 1 })
        #expect(bench.runtime.calls.count == 0 && bench.runtime.calls.clientCallCount == 0)
        #expect(instance.waiting.isEmpty && instance.waitingSessionCount == 0)
    }

    @Test("A session's calls start in order, in spite of ends and pauses", arguments: 0..<20)
    func order(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed) + 1_000)
        turns.slow()
        let clients = (0..<3).map { _ in bench.client() }
        var answered = 0
        for step in 0..<400 {
            let number = Int.random(in: 0..<3, using: &generator)
            switch Int.random(in: 0..<12, using: &generator) {
            case 0..<6:
                let task = ["work", "one", "slow"].randomElement(using: &generator) ?? "work"
                clients[number].send(#"{"task":"\#(task)","options":[\#(number),\#(step)],"callbackId":\#(step)}"#)
            case 6..<8:
                guard answered < bench.host.started.count else { continue }
                bench.reply(answered, "1")
                answered += 1
            case 8: bench.instance.pause(.unread)
            case 9: bench.instance.resume(.unread)
            case 10: clients[number].send(#"{"cancel":\#(Int.random(in: 0...step, using: &generator))}"#)
            default: turns.runShare()
            }
        }
        bench.instance.resume(.unread)
        _ = turns.runJobs()
        while answered < bench.host.started.count {
            bench.reply(answered, "1")
            answered += 1
            _ = turns.runJobs()
        }
        #expect(bench.runtime.calls.count == 0 && bench.instance.waiting.isEmpty)
        for number in 0..<3 {
            let begun = bench.host.started.compactMap { try? JSON(parsing: $0.options).arrayValue }
                .filter { $0[0].int64Value == Int64(number) }.compactMap { $0[1].int64Value }
            #expect(begun.count > 20)
            #expect(begun == begun.sorted())
        }
    }
}
