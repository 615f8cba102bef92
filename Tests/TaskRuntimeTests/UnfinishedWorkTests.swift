import BridgeJSON
import Testing

@testable import TaskRuntime

/// Calls that end before the plugin has answered them. The plugin continues to work, so each user has a limit of them.
struct UnfinishedWorkTests {
    private static let maximum = QuotaLimits.unfinishedCalls

    private let bench: Bench

    init() {
        bench = Bench()
        var quotas = QuotaLimits()
        quotas.trustedFactor = 1
        bench.runtime.apply(quotas)
    }

    /// Starts calls that end at their deadline without an answer of the plugin.
    private func leave(_ count: Int, by client: FakeClient) {
        for id in 0..<count { client.send(#"{"task":"work","callbackId":\#(id),"timeout":5}"#) }
        bench.clock.advance(.milliseconds(6))
        #expect(client.read().allSatisfy { $0.errorCode == "call.timeout" })
    }

    /// - Returns: The immediate answer; `nil` if the call has started.
    private func call(_ client: FakeClient) -> JSON? {
        client.send(#"{"task":"work","callbackId":"next"}"#)
        return client.read().first
    }

    @Test("A user at the limit gets busy until the plugin answers a call; other users are not affected")
    func bound() {
        let (user, other) = (bench.client(uid: 0), bench.client(uid: Bench.daemonUID))
        leave(Self.maximum - 1, by: user)
        #expect(call(user) == nil)
        bench.reply(Self.maximum - 1, "1")
        #expect(user.readOne()?["result"] == 1)
        leave(1, by: user)
        let refusal = call(user)?["error"]
        #expect(refusal?["code"] == "busy")
        #expect(
            refusal?["data"] == ["quota": "unfinished_calls", "limit": 1024, "of": "uid 0", "started": false])
        #expect(call(other) == nil)
        user.send(#"{"task":"bridge.hello","callbackId":"daemon"}"#)
        #expect(user.readOne()?["result"] != nil)
        bench.reply(0, "late")
        #expect(call(user) == nil)
    }

    @Test("A plugin that answers none of them for a minute is given up, and the user can call again")
    func lost() {
        let user = bench.client()
        leave(Self.maximum, by: user)
        bench.clock.advance(.seconds(59))
        #expect(call(user)?.errorCode == "busy")
        #expect(bench.host.abandoned.isEmpty)
        bench.clock.advance(.seconds(1))
        #expect(call(user)?.errorCode == "busy")
        #expect(bench.host.abandoned == ["did not answer ended calls for a minute"])
        #expect(call(user) == nil)
    }

    @Test("The limit is reached only in plugins that have the maximum of unfinished calls")
    func counts() {
        var counts = UnfinishedCounts(maximum: 2)
        #expect(counts.isEmpty && !counts.isFull)
        for plugin: UInt64 in [1, 1, 2] { counts.add(in: plugin) }
        #expect(counts.isFull && counts.limit(reachedIn: 1) == 2 && counts.limit(reachedIn: 2) == nil)
        counts.add(in: 1)
        counts.remove(in: 1)
        #expect(counts.isFull && counts.limit(reachedIn: 1) == 2)
        counts.remove(in: 1)
        #expect(!counts.isFull && counts.limit(reachedIn: 1) == nil)
        for plugin: UInt64 in [1, 2, 3] { counts.remove(in: plugin) }
        #expect(counts.isEmpty)
    }

    @Test("A changed maximum takes effect for the calls that are unfinished")
    func changedMaximum() {
        var counts = UnfinishedCounts(maximum: 2)
        for _ in 0..<2 { counts.add(in: 1) }
        counts.maximum = 3
        #expect(!counts.isFull && counts.limit(reachedIn: 1) == nil)
        counts.maximum = 1
        #expect(counts.isFull && counts.limit(reachedIn: 1) == 1)
        counts.remove(in: 1)
        #expect(counts.isFull)
        counts.remove(in: 1)
        #expect(!counts.isFull)
    }
}
