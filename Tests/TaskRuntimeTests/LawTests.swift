import BridgeJSON
import TestSupport
import Testing

@testable import TaskRuntime

/// The law of the bridge: each call gets exactly one terminal callback, and its progress comes before it. This holds in
/// any order of replies, second replies, failures, progress, cancels, timeouts and disconnects.
@Suite("The law: one callback for each call")
struct LawTests {
    private struct Client {
        var fake: FakeClient
        var nextID = 0
        var sent: Set<Int64> = []
        var ended: [Int64: Int] = [:]
        var isGone = false
    }

    @Test("Each call gets exactly one callback, in random orders of events", arguments: 0..<60 as Range<UInt64>)
    func exactlyOne(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let bench = Bench()
        var clients = (0..<4).map { _ in Client(fake: bench.client()) }
        for _ in 0..<600 {
            let index = Int.random(in: clients.indices, using: &generator)
            step(&clients[index], bench, &generator)
            for index in clients.indices { collect(&clients[index]) }
        }
        bench.clock.advance(.seconds(1000))
        for index in clients.indices {
            collect(&clients[index])
            let client = clients[index]
            guard !client.isGone else { continue }
            #expect(Set(client.ended.keys) == client.sent, "a call had no callback")
            #expect(client.ended.values.allSatisfy { $0 == 1 }, "a call had more than one callback")
            #expect(client.fake.session.callsInFlight == 0)
        }
        #expect(bench.runtime.calls.count == 0)
        #expect(bench.runtime.calls.clientCallCount == 0)
        #expect(bench.clock.wakeTime == nil)
    }

    private func step(_ client: inout Client, _ bench: Bench, _ generator: inout SeededGenerator) {
        let started = bench.host.started
        let anyStarted = started.isEmpty ? nil : Int.random(in: started.indices, using: &generator)
        switch Int.random(in: 0..<20, using: &generator) {
        case 0..<7 where !client.isGone:
            client.nextID += 1
            let task = ["work", "one", "quick"].randomElement(using: &generator) ?? "work"
            let timeout = Int.random(in: 1...400, using: &generator)
            client.fake.send(
                #"{"task":"\#(task)","callbackId":\#(client.nextID),"timeout":\#(timeout),"progress":true}"#)
            client.sent.insert(Int64(client.nextID))
        case 7..<12: if let anyStarted { bench.reply(anyStarted, "\(anyStarted)") }
        case 12: if let anyStarted { bench.instance.fail(started[anyStarted].handle, BridgeError(.internal, "no")) }
        case 13..<16: if let anyStarted { bench.progress(anyStarted, "0") }
        case 16 where !client.isGone:
            client.fake.send(#"{"cancel":\#(Int.random(in: 0...client.nextID, using: &generator))}"#)
        case 17: bench.clock.advance(.milliseconds(Int64.random(in: 0...120, using: &generator)))
        case 18 where !client.isGone && Int.random(in: 0..<20, using: &generator) == 0:
            collect(&client)
            bench.runtime.hangUp(client.fake.session)
            client.isGone = true
        default: break
        }
    }

    private func collect(_ client: inout Client) {
        guard !client.isGone else { return }
        for message in client.fake.read() {
            guard let id = message["callbackId"]?.int64Value else {
                Issue.record("a message without an id: \(message.text)")
                continue
            }
            if message["progress"] != nil {
                #expect(client.ended[id] == nil, "progress after the callback")
            } else {
                client.ended[id, default: 0] += 1
            }
        }
    }
}
