import BridgeJSON
import Logging
import Testing

@testable import TaskRuntime

/// Quotas: the limits of clients, and the errors above the limits.
struct QuotaTests {
    func bench(_ change: (inout QuotaLimits) -> Void) -> Bench {
        var quotas = QuotaLimits()
        quotas.trustedFactor = 1
        change(&quotas)
        let bench = Bench()
        bench.runtime.apply(quotas)
        return bench
    }

    func call(_ client: FakeClient, _ id: Int, task: String = "work", options: String = "1") -> JSON? {
        client.send(#"{"task":"\#(task)","options":\#(options),"callbackId":\#(id)}"#)
        return client.readOne()
    }

    /// Returns whether a call starts and is not answered yet.
    func begins(_ client: FakeClient, _ id: Int, task: String = "work", options: String = "1") -> Bool {
        client.send(#"{"task":"\#(task)","options":\#(options),"callbackId":\#(id)}"#)
        return client.read().isEmpty
    }

    // MARK: Rates

    @Test("Calls are accepted up to the burst, then at the rate")
    func callsComeAsFastAsThe() {
        let bench = bench { $0.sessionCalls = CallQuota(callsPerSecond: 10, burst: 3) }
        let client = bench.client()
        for id in 1...3 { #expect(begins(client, id)) }
        let refusal = call(client, 4)
        #expect(refusal?.errorCode == "busy")
        #expect(refusal?["error"]?["retryAfter"] == 100)
        #expect(refusal?["error"]?["transient"] == true)
        #expect(
            refusal?["error"]?["data"] == [
                "quota": "calls_per_second", "limit": 10, "of": "session 1", "started": false,
            ])
        bench.clock.advance(.milliseconds(60))
        #expect(call(client, 5)?["error"]?["retryAfter"] == 40)
        bench.clock.advance(.milliseconds(40))
        #expect(begins(client, 6))
        #expect(call(client, 7)?.errorCode == "busy")
        bench.clock.advance(.seconds(1))
        for id in 8...10 { #expect(begins(client, id)) }
        #expect(call(client, 11)?.errorCode == "busy")
    }

    @Test("A caller that waits for retryAfter is accepted")
    func whoWaitsAsLongAsIt() {
        let bench = bench { $0.user.calls = CallQuota(callsPerSecond: 7, burst: 2) }
        let client = bench.client(uid: 0)
        var id = 0
        for _ in 0..<50 {
            id += 1
            guard let wait = call(client, id)?["error"]?["retryAfter"]?.int64Value else { continue }
            #expect(wait > 0)
            bench.clock.advance(.milliseconds(wait))
            id += 1
            #expect(begins(client, id))
        }
    }

    @Test("The sessions of a user share one rate; another user has its own")
    func theSessionsOfAUidShare() {
        let bench = bench { $0.user.calls = CallQuota(callsPerSecond: 1, burst: 2) }
        let (first, second, other) = (bench.client(uid: 0), bench.client(uid: 0), bench.client(uid: Bench.daemonUID))
        #expect(begins(first, 1))
        #expect(begins(second, 1))
        #expect(call(second, 2)?["error"]?["data"]?["of"] == "uid 0")
        #expect(begins(other, 1))
    }

    @Test("A new connection does not reset the rate")
    func aRateDoesNotBeginAnew() {
        let bench = bench { $0.user.calls = CallQuota(callsPerSecond: 1, burst: 1) }
        let first = bench.client(uid: 0)
        #expect(begins(first, 1))
        bench.runtime.hangUp(first.session)
        #expect(call(bench.client(uid: 0), 1)?.errorCode == "busy")
    }

    @Test("A refused call takes no token from any rate")
    func aRefusedCallTakesNoToken() {
        let bench = bench {
            $0.sessionCalls = CallQuota(callsPerSecond: 1, burst: 2)
            $0.tasks = ["one": CallQuota(callsPerSecond: 1, burst: 1)]
        }
        let client = bench.client()
        #expect(begins(client, 1, task: "one"))
        for id in 2...5 { #expect(call(client, id, task: "one")?["error"]?["data"]?["of"] == "task one") }
        #expect(begins(client, 6))
        #expect(call(client, 7)?["error"]?["data"]?["of"] == "session 1")
    }

    // MARK: In flight

    @Test("A user has a limit of calls in flight over all of its sessions")
    func theCallsInFlightOfA() {
        let bench = bench { $0.user.calls.callsInFlight = 3 }
        let (first, second) = (bench.client(uid: 0), bench.client(uid: 0))
        #expect(begins(first, 1))
        #expect(begins(first, 2))
        #expect(begins(second, 1))
        let refusal = call(second, 2)
        #expect(refusal?.errorCode == "busy")
        #expect(
            refusal?["error"]?["data"] == ["quota": "calls_in_flight", "limit": 3, "of": "uid 0", "started": false])
        bench.reply(0, "1")
        _ = first.read()
        #expect(begins(second, 3))
        bench.runtime.hangUp(second.session)
        #expect(begins(first, 3))
        #expect(begins(first, 4))
        #expect(call(first, 5)?.errorCode == "busy")
    }

    @Test("A task has a limit over all callers, and a plugin over all of its tasks")
    func aTasksCallsAreBoundedOver() {
        let bench = bench {
            $0.tasks = ["slow": CallQuota(callsInFlight: 1)]
            $0.plugins = ["worker": CallQuota(callsInFlight: 2)]
        }
        let (first, second) = (bench.client(uid: 0), bench.client(uid: Bench.daemonUID))
        #expect(begins(first, 1, task: "slow"))
        #expect(call(second, 1, task: "slow")?["error"]?["data"]?["of"] == "task slow")
        #expect(begins(second, 2))
        #expect(call(second, 3)?["error"]?["data"]?["of"] == "plugin worker")
        #expect(call(second, 4, task: "bridge.ping")?["result"] != nil)
        bench.reply(0, "1")
        #expect(begins(second, 5, task: "slow"))
    }

    // MARK: State of sessions

    @Test("Patterns above the session's or the user's quota are refused, and none is added")
    func patternsBeyondTheSessionsOrThe() {
        let bench = bench {
            $0.sessionSubscriptions = 2
            $0.user.subscriptions = 3
        }
        let (first, second) = (bench.client(), bench.client())
        func subscribe(_ client: FakeClient, _ events: String) -> JSON? {
            call(client, 1, task: "bridge.subscribe", options: #"{"events":[\#(events)]}"#)
        }
        #expect(subscribe(first, #""a","b""#)?["result"] != nil)
        let refusal = subscribe(first, #""c""#)
        #expect(refusal?.errorCode == "quota.exceeded")
        #expect(refusal?["error"]?["data"] == ["quota": "subscriptions", "limit": 2, "of": "session 1"])
        #expect(refusal?["error"]?["transient"]?.boolValue != true)
        #expect(subscribe(second, #""a","b""#)?["error"]?["data"]?["of"] == "uid 0")
        #expect(subscribe(second, #""a""#)?["result"] != nil)
        bench.runtime.hangUp(first.session)
        #expect(subscribe(second, #""b""#)?["result"] != nil)
    }

    @Test("Tasks above the quota are refused, and none of them is registered")
    func tasksBeyondTheQuotaAreQuota() {
        let bench = bench { $0.sessionTasks = 2 }
        let client = bench.client()
        func register(_ tasks: String) -> JSON? {
            call(client, 1, task: "bridge.register", options: #"{"tasks":[\#(tasks)]}"#)
        }
        #expect(register(#""a.a","a.b","a.c""#)?.errorCode == "quota.exceeded")
        #expect(call(client, 2, task: "a.a")?.errorCode == "task.not_found")
        #expect(register(#""a.a","a.b""#)?["result"] != nil)
        #expect(register(#""a.a""#)?["result"] != nil)
        #expect(register(#""a.d""#)?["error"]?["data"] == ["quota": "tasks", "limit": 2, "of": "session 1"])
    }
}
