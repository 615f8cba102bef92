import BridgeJSON
import Testing

@testable import TaskRuntime

@Suite("Events for named sessions")
struct NamedReceiverTests {
    let bench = Bench()

    /// Publishes an event of the plugin to the sessions with these numbers.
    private func publish(_ event: String, to numbers: [UInt64], direct: Bool = false) {
        _ = Array("1".utf8).withUnsafeBytes {
            bench.runtime.events.publish(event, data: $0, to: numbers, direct: direct, for: bench.instance.account)
        }
    }

    @Test("An event for named sessions reaches only them, and only if they subscribed or it is direct")
    func namedSessions() {
        let listener = bench.subscriber("e")
        let other = bench.subscriber("e")
        let deaf = bench.client()
        let numbers = [listener.session.number, deaf.session.number, 999]
        publish("e", to: numbers)
        #expect(listener.read().count == 1)
        #expect(deaf.read().isEmpty)
        publish("e", to: numbers, direct: true)
        #expect(listener.read().count == 1)
        #expect(deaf.read().count == 1)
        #expect(other.read().isEmpty)
    }

    @Test("Among many named sessions, only subscribers get an event that is not direct")
    func manyNamedSessions() {
        let listeners = (0..<10).map { _ in bench.subscriber("e", "e*") }
        let others = (0..<10).map { _ in bench.subscriber("f") }
        let unnamed = bench.subscriber("e")
        let numbers = (listeners + others).map(\.session.number)
        publish("e", to: numbers)
        #expect(listeners.map { $0.read().count } == Array(repeating: 1, count: 10))
        #expect(others.allSatisfy { $0.read().isEmpty } && unnamed.read().isEmpty)
    }

    @Test("A session that is named several times as a receiver gets the event once")
    func repeatedReceivers() {
        let client = bench.client()
        let numbers = Array(repeating: client.session.number, count: 1_000)
        publish("x", to: numbers, direct: true)
        #expect(client.read() == [["event": "x", "data": 1]])
    }
}
