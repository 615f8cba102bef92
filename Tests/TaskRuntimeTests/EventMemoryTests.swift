import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

@Suite("Memory use of long events")
struct EventMemoryTests {
    private let bench = Bench()

    @Test("A long event is in memory once for all receivers, and counts for each of them")
    func sharedLine() throws {
        let clients = (0..<10).map { _ in bench.client(uid: 0) }
        for client in clients {
            client.send(#"{"task":"bridge.subscribe","options":{"events":["e"]},"callbackId":1}"#)
            _ = client.read()
        }
        bench.runtime.publish("e", data: .string(String(repeating: "x", count: 100_000)))
        let first = try #require(clients[0].session.output.bytes.baseAddress)
        for client in clients {
            #expect(client.session.output.bytes.baseAddress == first)
            #expect(client.session.countedBytes > 100_000)
        }
        #expect(clients[0].session.account.queuedBytes > 1_000_000)
        for client in clients {
            #expect(client.readOne()?["data"]?.stringValue?.utf8.count == 100_000)
        }
    }

    @Test("An event that exceeds the receiving user's quota of queued bytes is dropped and counted")
    func noRoom() {
        var quotas = QuotaLimits()
        quotas.user.queuedBytes = 250_000
        quotas.trustedFactor = 1
        bench.runtime.apply(quotas)
        let clients = (0..<10).map { _ in bench.client(uid: 0) }
        for client in clients {
            client.send(#"{"task":"bridge.subscribe","options":{"events":["e"]},"callbackId":1}"#)
            _ = client.read()
        }
        bench.runtime.publish("e", data: .string(String(repeating: "x", count: 100_000)))
        #expect(clients[0].session.account.queuedBytes <= 250_000)
        #expect(bench.runtime.statistics.droppedEvents == 8)
        let messages = clients.map { $0.read() + $0.read() }
        #expect(messages.count { $0.first?["event"] == "e" } == 2)
        #expect(messages.count { $0.first?["event"] == "bridge.events_dropped" } == 8)
    }
}
