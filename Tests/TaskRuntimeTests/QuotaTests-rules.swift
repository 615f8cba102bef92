import BridgeJSON
import Logging
import Testing

@testable import TaskRuntime

extension QuotaTests {
    @Test("A connection above a user's limit is refused with an error; other users can still connect")
    func oneConnectionTooManyOfA() {
        let bench = bench { $0.user.connections = 2 }
        let peer = PeerIdentity(uid: 1000, gid: 1000, pid: 1)
        let clients = (0..<2).map { _ in FakeClient(bench, peer) }
        let refusal = bench.runtime.refusal(ofConnectionBy: peer)
        #expect(refusal?.code == .busy && refusal?.retryAfter != nil)
        #expect(bench.runtime.refusal(ofConnectionBy: PeerIdentity(uid: 1001, gid: 1001, pid: 1)) == nil)
        bench.runtime.hangUp(clients[0].session)
        #expect(bench.runtime.refusal(ofConnectionBy: peer) == nil)
    }

    @Test("A page of root has the quota of an ordinary user, separate from root's own programs")
    func pages() {
        let bench = bench {
            $0.trustedFactor = 3
            $0.user.connections = 2
            $0.user.tasks = 2
            $0.user.subscriptions = 2
        }
        bench.runtime.apply(Policy(daemonUID: Bench.daemonUID, rules: [Self.all(of: "app://a")]))
        func hello(_ client: FakeClient) -> String? {
            client.send(#"{"task":"bridge.hello","options":{"origin":"app://a"},"callbackId":"h"}"#)
            return client.read().first { $0["callbackId"] == "h" }?.errorCode
        }
        let page = bench.client()
        let local = page.session.account
        page.send(#"{"task":"bridge.subscribe","options":{"events":["a","b"]}}"#)
        page.send(#"{"task":"bridge.register","options":{"tasks":["a.b"]}}"#)
        page.send(#"{"task":"slow","callbackId":"s"}"#)
        #expect(local.callsInFlight == 1)
        #expect(hello(page) == nil)
        let account = page.session.account
        #expect(account !== local && !account.isTrusted && account.quota.connections == 2)
        #expect(account.connections == 1 && account.subscriptions == 2 && account.tasks == 1)
        #expect(account.callsInFlight == 1)
        #expect(local.connections == 0 && local.subscriptions == 0 && local.tasks == 0 && local.callsInFlight == 0)
        page.send(#"{"task":"bridge.subscribe","options":{"events":["c"]},"callbackId":1}"#)
        #expect(page.readOne()?.errorCode == "quota.exceeded")
        let other = bench.client()
        other.send(#"{"task":"bridge.subscribe","options":{"events":["a"]}}"#)
        #expect(hello(other) == "quota.exceeded" && other.session.isTrusted && other.session.origin == "local")
        other.send(#"{"task":"bridge.unsubscribe","options":{"events":["a"]}}"#)
        #expect(hello(other) == nil)
        #expect(hello(bench.client()) == "busy")
        bench.reply(0, "1")
        for client in [page, other] { bench.runtime.hangUp(client.session) }
        #expect(
            account.connections == 0 && account.callsInFlight == 0 && account.subscriptions == 0 && account.tasks == 0)
        // An untrusted user has one account, for any origins of its sessions.
        let user = bench.client(uid: 1000)
        let before = user.session.account
        bench.runtime.apply(
            Policy(daemonUID: Bench.daemonUID, rules: [PolicyRule(.allow, [.call, .origin], file: "p", line: 1)]))
        #expect(hello(user) == nil && user.session.account === before)
    }

    @Test("When a session sets its origin, the bytes held for its calls move to the new account")
    func heldForCalls() {
        let bench = bench { _ in }
        bench.runtime.apply(Policy(daemonUID: Bench.daemonUID, rules: [Self.all(of: "app://a")]))
        let page = bench.client()
        let local = page.session.account
        let options = "\"" + String(repeating: "x", count: 90_000) + "\""
        #expect(begins(page, 1, options: options))
        #expect(local.queuedBytes > 90_000)
        page.send(#"{"task":"bridge.hello","options":{"origin":"app://a"},"callbackId":"h"}"#)
        #expect(page.readOne()?["result"] != nil)
        let account = page.session.account
        #expect(account !== local)
        #expect(local.queuedBytes == 0 && account.queuedBytes > 90_000)
        bench.reply(0, "1")
        #expect(page.readOne()?["result"] == 1)
        #expect(local.queuedBytes == 0 && account.queuedBytes == 0 && bench.runtime.quotas.queuedBytes == 0)
    }

    @Test("An origin is refused if its account has no room for the session's calls or their bytes")
    func roomForCalls() {
        let bench = bench {
            $0.trustedFactor = 10
            $0.user.queuedBytes = 100_000
            $0.user.calls.callsInFlight = 3
        }
        bench.runtime.apply(Policy(daemonUID: Bench.daemonUID, rules: [Self.all(of: "app://a")]))
        func hello(_ client: FakeClient) -> JSON? {
            call(client, 99, task: "bridge.hello", options: #"{"origin":"app://a"}"#)?["error"]?["data"]?["quota"]
        }
        let options = "\"" + String(repeating: "x", count: 90_000) + "\""
        let (large, many) = (bench.client(), bench.client())
        #expect(begins(large, 1, options: options))
        #expect(hello(large) == nil && !large.session.isTrusted)
        for id in 1...2 { #expect(begins(many, id)) }
        #expect(hello(many) == "calls_in_flight" && many.session.isTrusted)
        for index in 1...2 { bench.reply(index, "1") }
        _ = many.read()
        #expect(begins(many, 3, options: options))
        #expect(hello(many) == "queued_bytes" && many.session.isTrusted)
    }

    /// Returns a rule that allows everything to sessions with an origin.
    static func all(of origin: String) -> PolicyRule {
        var rule = PolicyRule(.allow, PolicyVerb.allCases, file: "p.toml", line: 1)
        rule.origins = [ExactText(origin)]
        return rule
    }

    @Test("Root and the daemon's user have a multiple of the quota")
    func rootAndTheDaemonsUserMay() {
        let bench = bench {
            $0.trustedFactor = 3
            $0.user.connections = 1
        }
        for uid: UInt32 in [0, Bench.daemonUID] {
            let peer = PeerIdentity(uid: uid, gid: uid, pid: 1)
            let clients = (0..<3).map { _ in FakeClient(bench, peer) }
            #expect(clients.count == 3)
            #expect(bench.runtime.refusal(ofConnectionBy: peer) != nil)
        }
    }

    @Test("A change of quotas applies to open sessions")
    func aChangeHoldsForLivingSessions() {
        let bench = bench { _ in }
        let client = bench.client()
        #expect(begins(client, 1))
        var quotas = bench.runtime.quotas.values
        quotas.user.calls.callsInFlight = 1
        bench.runtime.apply(quotas)
        #expect(call(client, 2)?.errorCode == "busy")
        quotas.user.calls.callsInFlight = 0
        quotas.tasks = ["work": CallQuota(callsPerSecond: 1, burst: 1)]
        bench.runtime.apply(quotas)
        #expect(begins(client, 3))
        #expect(call(client, 4)?["error"]?["data"]?["of"] == "task work")
    }

    @Test("Refusals are counted by quota, and reported")
    func refusalsAreCountedByQuotaAnd() {
        let bench = bench { $0.sessionCalls = CallQuota(callsPerSecond: 1, burst: 1) }
        let client = bench.client()
        _ = call(client, 1)
        _ = call(client, 2)
        _ = call(client, 3)
        bench.runtime.apply(QuotaLimits())
        #expect(call(client, 4, task: "bridge.status")?["result"]?["quotaRefusals"]?["calls_per_second"] == 2)
        let figures = call(client, 5, task: "bridge.metrics")?["result"]?["text"]?.stringValue
        #expect(figures?.contains(#"trestle_quota_refusals_total{quota="calls_per_second"} 2"#) == true)
    }

    @Test(
        "A call in another dialect is refused in that dialect",
        arguments: [
            #"{"jsonrpc":"2.0","method":"work","id":1}"#, #"{"handlerName":"work","data":1,"callbackId":"cb_1"}"#,
        ])
    func aCallInAnotherDialectIs(line: String) throws {
        let bench = bench { $0.tasks = ["work": CallQuota(callsPerSecond: 1, burst: 1)] }
        let client = bench.client()
        _ = call(client, 0)
        client.send(line)
        let answer = try #require(client.readOne())
        #expect(answer.text.contains("calls_per_second"), "\(answer.text)")
    }
}
