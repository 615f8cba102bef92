import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

@Suite("A reload of the configuration")
struct ReloadTests {
    let bench = Bench()

    /// The calls that requested a reload and wait for it.
    private final class Asked {
        var calls: [CallHandle] = []
    }

    private func asked() -> Asked {
        let asked = Asked()
        bench.runtime.onReload = { asked.calls.append($0) }
        return asked
    }

    @Test("is requested once, answered when it ends, and counts as a call in flight until then")
    func later() {
        let asked = asked()
        let client = bench.client()
        client.send(#"{"task":"bridge.reload","callbackId":1}"#)
        #expect(client.read().isEmpty)
        #expect(asked.calls.count == 1)
        #expect(bench.runtime.callsInFlight == 1)
        bench.runtime.answer(asked.calls[0], .success(["applied": []]))
        bench.runtime.answer(asked.calls[0], .failure(BridgeError(.internal, "again")))
        #expect(client.read() == [["callbackId": 1, "result": ["applied": []]]])
        #expect(bench.runtime.callsInFlight == 0)
    }

    @Test("that fails ends the call with its error, and has no effect if the caller has disconnected")
    func failure() {
        let asked = asked()
        let client = bench.client()
        let other = bench.client()
        client.send(#"{"task":"bridge.reload","callbackId":1}"#)
        other.send(#"{"task":"bridge.reload","callbackId":1}"#)
        bench.runtime.hangUp(other.session)
        for call in asked.calls { bench.runtime.answer(call, .failure(BridgeError("configuration.invalid", "line 3"))) }
        #expect(client.readOne()?.errorCode == "configuration.invalid")
        #expect(bench.runtime.callsInFlight == 0)
    }

    @Test("may be requested only by root and the daemon's user")
    func permission() {
        let asked = asked()
        for uid in [0, Bench.daemonUID] as [UInt32] {
            bench.client(uid: uid).send(#"{"task":"bridge.reload","callbackId":1}"#)
        }
        #expect(asked.calls.count == 2)
        let stranger = bench.client(uid: 1_000)
        stranger.send(#"{"task":"bridge.reload","callbackId":1}"#)
        let answer = stranger.readOne()
        #expect(answer?.errorCode == "permission.denied")
        #expect(answer?["error"]?["data"]?["rule"]?.stringValue?.isEmpty == false)
        #expect(asked.calls.count == 2)
    }

    @Test("is an error without a configuration, as in a plugin's test")
    func none() {
        let client = bench.client()
        client.send(#"{"task":"bridge.reload","callbackId":1}"#)
        #expect(client.readOne()?.errorCode == "internal")
    }

    @Test("applies new limits to open sessions, and keeps the deadlines of calls in flight")
    func limits() {
        let client = bench.client()
        client.send(#"{"task":"work","callbackId":1}"#)
        var limits = RuntimeLimits()
        limits.callsInFlight = 2
        limits.callTimeout = .seconds(1)
        limits.messageBytes = 1_024
        bench.runtime.apply(limits)
        client.send(#"{"task":"work","callbackId":2}"#)
        client.send(#"{"task":"work","callbackId":3}"#)
        #expect(client.readOne()?.errorCode == "busy")
        bench.clock.advance(.seconds(1))
        let late = client.readOne()
        #expect(late?.errorCode == "call.timeout")
        #expect(late?["callbackId"] == 2)
        bench.reply(0, "\"\(String(repeating: "x", count: 2_000))\"")
        #expect(client.readOne()?.errorCode == "result.too_large")
        client.send(#"{"task":"bridge.hello","callbackId":4}"#)
        #expect(client.readOne()?["result"]?["limits"]?["callsInFlight"] == 2)
    }
}
