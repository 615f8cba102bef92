import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

@Suite("Long checks of options run in the lane")
struct LaneTests {
    let lane = ManualLane()
    let bench: Bench

    init() {
        bench = Bench(
            extraTasks: [LongOptions.task("checked"), LongOptions.task("single", concurrency: 1)], lane: lane)
    }

    func send(_ client: FakeClient, _ id: Int, _ task: String, _ options: String) {
        client.send(#"{"task":"\#(task)","options":\#(options),"callbackId":\#(id)}"#)
    }

    /// Returns a client that provides a task with a schema.
    func provider(of task: String, uid: UInt32 = 0, schema: String = LongOptions.schema) -> FakeClient {
        let client = bench.client(uid: uid)
        client.send(
            #"{"task":"bridge.register","options":{"tasks":["\#(task)"],"descriptions":{"\#(task)":{"options":\#(schema)}}},"#
                + #""callbackId":"r"}"#)
        #expect(client.readOne()?["result"] != nil)
        return client
    }

    @Test("Short options are checked at once")
    func quick() {
        let client = bench.client()
        send(client, 1, "checked", #"{"s":"x"}"#)
        send(client, 2, "checked", #"{"s":7}"#)
        #expect(lane.uids.isEmpty)
        #expect(!client.session.waitsForJobs)
        #expect(bench.host.started.map(\.options) == [#"{"s":"x"}"#])
        #expect(client.readOne()?.errorCode == "options.invalid")
    }

    @Test("A long check runs in the lane; the session's input waits, and the call starts after the check")
    func fits() {
        let client = bench.client(uid: 0)
        send(client, 1, "checked", LongOptions.fitting)
        #expect(lane.uids == [0])
        #expect(client.session.waitsForJobs)
        #expect(bench.host.started.isEmpty)
        #expect(client.transport.releases == 0)
        lane.runNext()
        #expect(!client.session.waitsForJobs)
        #expect(client.transport.releases == 1)
        #expect(bench.host.started.map(\.options) == [LongOptions.fitting])
        bench.reply(0, "1")
        #expect(client.readOne()?["result"] == 1)
        #expect(client.session.account.queuedBytes == 0)
    }

    @Test("Invalid options are answered once, with the reason, after the check")
    func misfit() {
        let client = bench.client()
        send(client, 1, "checked", LongOptions.misfitting)
        #expect(client.read().isEmpty)
        lane.runNext()
        let answer = client.readOne()
        #expect(answer?.errorCode == "options.invalid")
        #expect(answer?["error"]?["message"]?.stringValue?.contains("$.s") == true)
        #expect(bench.host.started.isEmpty)
        #expect(!client.session.waitsForJobs)
    }

    @Test("Other sessions continue during a check, also those of the same user")
    func others() {
        let slow = bench.client(uid: 0)
        send(slow, 1, "checked", LongOptions.fitting)
        for uid: UInt32 in [0, 900] {
            let other = bench.client(uid: uid)
            send(other, 1, "checked", "{}")
            #expect(bench.host.started.last?.options == "{}")
            send(other, 2, "checked", LongOptions.fitting)
        }
        #expect(lane.uids == [0, 0, 900])
        lane.runAll()
        #expect(bench.host.started.count == 5)
    }

    @Test("A session that waits for the lane is in no queue: no steps are announced or run")
    func rest() {
        var announced = 0
        bench.runtime.onSteps = { _ in announced += 1 }
        let client = bench.client()
        send(client, 1, "checked", LongOptions.fitting)
        #expect(announced == 0)
        #expect(!bench.runtime.runSteps(of: client.session.account, forNanoseconds: 20_000))
        #expect(client.session.waitsForJobs)
    }

    // MARK: Ends

    enum End: CaseIterable {
        case kill, timeout, hangUp, close, stopped, removed, drained
    }

    private func end(_ client: FakeClient, _ end: End) {
        switch end {
        case .kill:
            let other = bench.client()
            other.send(#"{"task":"bridge.calls","callbackId":1}"#)
            let calls = other.readOne()?["result"]?["calls"]?.arrayValue ?? []
            let number = calls.compactMap { $0["task"] == "checked" ? $0["call"]?.int64Value : nil }.first
            other.send(#"{"task":"bridge.kill","options":{"call":\#(number ?? 0)},"callbackId":2}"#)
        case .timeout: bench.clock.advance(.seconds(3_600))
        case .hangUp: bench.runtime.hangUp(client.session)
        case .close: bench.runtime.lifecycle.close(client.session, info: .null)
        case .stopped: bench.runtime.close(bench.instance)
        case .removed: bench.runtime.remove(bench.instance)
        case .drained:
            bench.runtime.drain {}
            bench.runtime.endCallsInFlight()
        }
    }

    @Test(
        "A call that ends during its check gets at most one callback, and the check is dropped",
        arguments: End.allCases)
    func ends(_ how: End) {
        let codes: [End: String] = [
            .kill: "call.cancelled", .timeout: "call.timeout", .close: "call.cancelled", .stopped: "plugin.unavailable",
            .removed: "plugin.unavailable", .drained: "daemon.stopping",
        ]
        let client = bench.client(uid: 0)
        let account = client.session.account
        send(client, 1, "checked", LongOptions.fitting)
        end(client, how)
        let callbacks = client.read().filter { $0["callbackId"] == 1 }
        #expect(callbacks.map(\.errorCode) == (codes[how].map { [$0] } ?? []))
        if how != .hangUp { #expect(callbacks.first?["error"]?["data"]?["started"] == false) }
        // The check counts until it has returned.
        #expect(account.queuedBytes > 5_000)
        #expect(lane.runAll() == 1)
        #expect(client.read().isEmpty)
        #expect(bench.host.started.isEmpty)
        #expect(account.queuedBytes == 0)
        #expect(bench.runtime.callsInFlight == 0)
        #expect(!client.session.waitsForJobs)
        bench.runtime.writeOutput()
    }

    @Test("Draining waits for a check, then for its call")
    func draining() {
        let client = bench.client()
        send(client, 1, "checked", LongOptions.fitting)
        var isDrained = false
        bench.runtime.drain { isDrained = true }
        lane.runNext()
        #expect(bench.host.started.count == 1)
        #expect(!isDrained)
        bench.reply(0, "1")
        #expect(client.readOne()?["result"] == 1)
        #expect(isDrained)
    }

    @Test("A provider that gets a checked call during draining is still read")
    func drainingProvider() throws {
        let provider = provider(of: "t")
        let client = bench.client()
        send(client, 1, "t", LongOptions.fitting)
        var isDrained = false
        bench.runtime.drain { isDrained = true }
        #expect(provider.transport.readsOn == 0)
        lane.runNext()
        #expect(provider.transport.readsOn == 1)
        let id = try #require(provider.read().last?["callbackId"])
        provider.send(#"{"callbackId":\#(id.text),"result":1}"#)
        #expect(client.readOne()?["result"] == 1)
        #expect(isDrained)
    }

    @Test("The deadline counts from the acceptance of the call")
    func deadline() {
        let client = bench.client()
        client.send(#"{"task":"checked","options":\#(LongOptions.fitting),"timeout":100,"callbackId":1}"#)
        bench.clock.advance(.milliseconds(60))
        lane.runNext()
        #expect(bench.host.started.count == 1)
        bench.clock.advance(.milliseconds(39))
        #expect(client.read().isEmpty)
        bench.clock.advance(.milliseconds(1))
        #expect(client.readOne()?.errorCode == "call.timeout")
    }

    // MARK: Plugins' calls

    @Test("Calls of plugins are also checked in the lane, and end once", arguments: [true, false])
    func pluginCalls(isCancelled: Bool) {
        let caller = FakeInterceptor(bench, "caller", [])
        let right = caller.call("checked", LongOptions.fitting, behind: nil)
        let wrong = caller.call("checked", LongOptions.misfitting, behind: nil)
        #expect(lane.uids == [Bench.daemonUID, Bench.daemonUID])
        if isCancelled { bench.runtime.remove(bench.instance) }
        lane.runAll()
        #expect(wrong.all == [isCancelled ? "plugin.unavailable" : "options.invalid"])
        #expect(bench.host.started.count == (isCancelled ? 0 : 1))
        if !isCancelled { bench.reply(0, "1") }
        #expect(right.all == [isCancelled ? "plugin.unavailable" : "1"])
        #expect(bench.runtime.quotas.queuedBytes == 0)
    }

    // MARK: Quotas

    @Test("Checks count for their user until they return, even if their calls have ended")
    func quota() {
        var quotas = QuotaLimits()
        quotas.user.queuedBytes = 20_000
        quotas.trustedFactor = 1
        bench.runtime.apply(quotas)
        for _ in 0..<3 {
            let client = bench.client()
            send(client, 1, "checked", LongOptions.fitting)
            bench.runtime.hangUp(client.session)
        }
        let client = bench.client()
        send(client, 1, "checked", LongOptions.fitting)
        #expect(client.readOne()?.errorCode == "busy")
        #expect(!client.session.waitsForJobs)
        #expect(lane.runAll() == 3)
        send(client, 2, "checked", LongOptions.fitting)
        #expect(client.session.waitsForJobs)
    }
}
