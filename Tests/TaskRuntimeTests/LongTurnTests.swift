import BridgeJSON
import TestSupport
import Testing

@testable import TaskRuntime

@Suite("Long turns of the loop")
struct LongTurnTests {
    let bench = Bench()

    private func longTurns() throws -> JSON {
        let client = bench.client()
        client.send(#"{"task":"bridge.status","callbackId":1}"#)
        return try #require(client.readOne()?["result"]?["longTurns"])
    }

    /// Ends a turn that took the given CPU time.
    private func end(_ cpuTime: Duration) {
        bench.runtime.writeOutput()
        bench.runtime.noteSlowTurn(cpuTime: cpuTime)
    }

    @Test("A turn of more than 20 ms counts for the task and the user of the last call in it")
    func calls() throws {
        let first = bench.client(uid: 0)
        let second = bench.client(uid: Bench.daemonUID)
        first.send(#"{"task":"bridge.ping","callbackId":1}"#)
        end(.milliseconds(20))
        first.send(#"{"task":"work","callbackId":2}"#)
        second.send(#"{"task":"slow","callbackId":1}"#)
        end(.milliseconds(21))
        second.send(#"{"task":"slow","callbackId":2}"#)
        end(.milliseconds(40))
        first.send(#"{"task":"work","callbackId":3}"#)
        end(.milliseconds(30))
        #expect(
            try longTurns() == [
                "count": 3, "longestUs": 40_000,
                "steps": [
                    ["step": "call", "of": "slow", "uid": 900, "count": 2, "longestUs": 40_000],
                    ["step": "call", "of": "work", "uid": 0, "count": 1, "longestUs": 30_000],
                ],
            ])
    }

    @Test("The maximum CPU time of a turn is reported, also if no turn was long")
    func longest() throws {
        end(.microseconds(7_500))
        end(.microseconds(6_000))
        #expect(try longTurns() == ["count": 0, "longestUs": 7_500, "steps": []])
    }

    @Test("A step that is not a call is reported by its kind")
    func others() throws {
        let client = bench.client()
        func last(_ happens: () -> Void) throws -> JSON? {
            let before = try Set(longTurns()["steps"]?.arrayValue?.map(\.text) ?? [])
            happens()
            end(.milliseconds(50))
            return try longTurns()["steps"]?.arrayValue?.first { !before.contains($0.text) }
        }
        #expect(try last { client.send("{") }?["step"] == "line")
        #expect(try last { client.send(#"{"cancel":"x"}"#) }?["step"] == "message")
        #expect(try last { client.send(#"{"task":"no.such"}"#) }?["step"] == "refused call")
        #expect(try last { _ = bench.client(uid: 7) } == step("connection", uid: 7))
        client.send(#"{"task":"work","callbackId":1}"#)
        #expect(try last { bench.clock.advance(.seconds(3600)) }?["step"] == "deadlines")
        #expect(try last { bench.runtime.noteStep(of: bench.instance) }?["of"] == "worker")
    }

    private func step(_ name: JSON, uid: JSON) -> JSON {
        ["step": name, "of": nil, "uid": uid, "count": 1, "longestUs": 50_000]
    }

    @Test("A turn without a step of the runtime is reported as other, not for an earlier call")
    func stale() throws {
        bench.client(uid: 1000).send(#"{"task":"bridge.ping","callbackId":1}"#)
        for _ in 0..<3 { bench.runtime.writeOutput() }
        bench.runtime.noteSlowTurn(cpuTime: .milliseconds(30))
        #expect(try longTurns()["steps"]?[0]?["step"] == "other")
    }

    @Test("The number of separately reported steps is limited; further steps are counted together")
    func bounded() throws {
        for uid in 1...(UInt32(LongTurns.maximumSteps) + 20) {
            bench.client(uid: uid).send("{")
            end(.milliseconds(30))
        }
        let turns = try longTurns()
        let steps = turns["steps"]?.arrayValue ?? []
        #expect(steps.count == LongTurns.maximumSteps + 1)
        #expect(steps.first?["step"] == "other")
        #expect(steps.reduce(0) { $0 + ($1["count"]?.int64Value ?? 0) } == turns["count"]?.int64Value)
    }

    @Test("bridge.metrics reports long turns by step, task and user")
    func metrics() throws {
        bench.client().send(#"{"task":"work","callbackId":1}"#)
        end(.milliseconds(1500))
        let client = bench.client()
        client.send(#"{"task":"bridge.metrics","callbackId":1}"#)
        let text = try #require(client.readOne()?["result"]?["text"]?.stringValue)
        let metrics = try OpenMetrics(text)
        #expect(metrics.value("trestle_longest_turn_seconds") == 1.5)
        #expect(metrics.value("trestle_long_turns_total", ["step": "call", "of": "work", "uid": "0"]) == 1)
    }

    @Test("At most one line in ten seconds is logged, with the number of long turns since the last line")
    func log() {
        var turns = LongTurns()
        var now = RuntimeInstant(nanoseconds: 5)
        #expect(turns.takeUnlogged(at: now) == 1)
        for _ in 0..<9 {
            now = now.advanced(by: .seconds(1))
            #expect(turns.takeUnlogged(at: now) == nil)
        }
        now = now.advanced(by: .seconds(1))
        #expect(turns.takeUnlogged(at: now) == 10)
    }
}
