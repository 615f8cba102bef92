import BridgeJSON
import Logging
import Testing

@testable import TaskRuntime

/// Quotas: who may take how much, and what is said beyond.
struct QuotaTests {
    private func bench(_ change: (inout QuotaLimits) -> Void) -> Bench {
        var quotas = QuotaLimits()
        quotas.trustedFactor = 1
        change(&quotas)
        let bench = Bench()
        bench.runtime.apply(quotas)
        return bench
    }

    private func call(_ client: FakeClient, _ id: Int, task: String = "work", options: String = "1") -> JSON? {
        client.send(#"{"task":"\#(task)","options":\#(options),"callbackId":\#(id)}"#)
        return client.readOne()
    }

    /// Whether a call is begun, and not answered.
    private func begins(_ client: FakeClient, _ id: Int, task: String = "work", options: String = "1") -> Bool {
        client.send(#"{"task":"\#(task)","options":\#(options),"callbackId":\#(id)}"#)
        return client.read().isEmpty
    }

    // MARK: Rates

    @Test("Calls come as fast as the burst allows, and then at the pace")
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

    @Test("A caller that waits for retryAfter gets in")
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

    @Test("The sessions of a uid share its rate, those of another have their own")
    func theSessionsOfAUidShare() {
        let bench = bench { $0.user.calls = CallQuota(callsPerSecond: 1, burst: 2) }
        let (first, second, other) = (bench.client(uid: 0), bench.client(uid: 0), bench.client(uid: Bench.daemonUID))
        #expect(begins(first, 1))
        #expect(begins(second, 1))
        #expect(call(second, 2)?["error"]?["data"]?["of"] == "uid 0")
        #expect(begins(other, 1))
    }

    @Test("A rate does not begin anew with a new connection")
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

    @Test("The calls in flight of a uid are bounded over its sessions")
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

    @Test("A task's calls are bounded over all callers, and a plugin's over its tasks")
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

    // MARK: What a session keeps

    @Test("Patterns beyond the session's or the user's quota are quota exceeded, and none is added")
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

    @Test("Tasks beyond the quota are quota exceeded, and none of them is provided")
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

    // MARK: Bytes

    @Test("A result that nobody has room for becomes an error, and the call has its one callback")
    func aResultThatNobodyHasRoom() {
        let bench = bench { $0.user.queuedBytes = 200_000 }
        let client = bench.client()
        for id in 1...4 { client.send(#"{"task":"work","callbackId":\#(id)}"#) }
        let result = "\"" + String(repeating: "x", count: 90_000) + "\""
        for index in 0..<4 { bench.reply(index, result) }
        let answers = client.read()
        #expect(answers.map { $0["callbackId"]?.int64Value } == [1, 2, 3, 4])
        #expect(answers.map(\.errorCode) == [nil, nil, "busy", "busy"])
        let data: JSON = ["quota": "queued_bytes", "limit": 200_000, "of": "uid 0", "started": true]
        #expect(answers[3]["error"]?["data"] == data)
        bench.runtime.countQueued(client.session)
        #expect(begins(client, 5))
        bench.reply(4, result)
        #expect(client.readOne()?["result"] != nil)
    }

    @Test(
        "A table is not made for a caller who leaves answers unread and has no room for it",
        arguments: ["bridge.tasks", "bridge.describe", "rpc.discover", "bridge.sessions", "bridge.status"])
    func aTableIsNotMadeWithoutRoom(task: String) {
        let bench = bench { $0.user.queuedBytes = 200_000 }
        let client = bench.client()
        let options = "\"" + String(repeating: "x", count: 90_000) + "\""
        for id in 1...2 { #expect(begins(client, id, options: options)) }
        client.send(#"{"task":"work","callbackId":3}"#)
        bench.reply(2, "1")
        client.send(#"{"task":"\#(task)","callbackId":4}"#)
        let answers = client.read()
        #expect(answers.map { $0["callbackId"] } == [3, 4])
        #expect(answers.map(\.errorCode) == [nil, "busy"])
        #expect(call(client, 5, task: task)?.errorCode != "busy")
    }

    @Test("A client that reads its answers sees the daemon's state while others leave no room for anything")
    func stateWithoutRoom() {
        let bench = bench { $0.queuedBytes = 200_000 }
        let (client, watcher) = (bench.client(), bench.client(uid: Bench.daemonUID))
        let options = "\"" + String(repeating: "x", count: 90_000) + "\""
        for id in 1...2 { #expect(begins(client, id, options: options)) }
        for id in 1...3 { #expect(call(watcher, id, task: "bridge.status")?["result"]?["callsInFlight"] == 3) }
    }

    @Test("Options of calls in flight are counted until the calls end")
    func optionsOfCallsInFlightAre() {
        let bench = bench { $0.user.queuedBytes = 200_000 }
        let (client, other) = (bench.client(), bench.client(uid: Bench.daemonUID))
        let options = "\"" + String(repeating: "x", count: 90_000) + "\""
        #expect(begins(client, 1, options: options))
        #expect(begins(client, 2, options: options))
        #expect(call(client, 3, options: options)?["error"]?["data"]?["quota"] == "queued_bytes")
        #expect(begins(other, 1, options: options))
        #expect(begins(client, 4))
        bench.reply(0, "1")
        _ = client.read()
        #expect(begins(client, 5, options: options))
    }

    @Test("All users together are bounded as well")
    func allUsersTogetherAreBoundedAs() {
        let bench = bench {
            $0.user.queuedBytes = 200_000
            $0.queuedBytes = 250_000
        }
        let (client, other) = (bench.client(), bench.client(uid: Bench.daemonUID))
        let options = "\"" + String(repeating: "x", count: 90_000) + "\""
        for id in 1...2 { #expect(begins(client, id, options: options)) }
        #expect(call(other, 1, options: options)?["error"]?["data"]?["of"] == "all users")
    }

    @Test("Nothing stays counted of sessions that are gone")
    func nothingStaysCountedOfSessionsThat() {
        let bench = bench { _ in }
        let client = bench.client()
        client.send(#"{"task":"bridge.subscribe","options":{"events":["a"]},"callbackId":1}"#)
        client.send(#"{"task":"bridge.register","options":{"tasks":["a.b"]},"callbackId":2}"#)
        let options = "\"" + String(repeating: "x", count: 90_000) + "\""
        _ = call(client, 3, options: options)
        bench.reply(0, options)
        bench.runtime.countQueued(client.session)
        let account = client.session.account
        #expect(account.connections == 1 && account.tasks == 1 && account.subscriptions == 1)
        #expect(account.queuedBytes > 90_000)
        bench.runtime.hangUp(client.session)
        #expect(account.connections == 0 && account.tasks == 0 && account.subscriptions == 0)
        #expect(account.callsInFlight == 0 && account.queuedBytes == 0 && bench.runtime.quotas.queuedBytes == 0)
    }

    // MARK: Connections, trust, reload, figures

    @Test("One connection too many of a uid is refused in words, others' are not")
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

    @Test("A page of root's is bound as any user's, and takes nothing of what root's own programs have")
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
        // A user whom nobody trusts has one account, whatever its sessions speak for.
        let user = bench.client(uid: 1000)
        let before = user.session.account
        bench.runtime.apply(
            Policy(daemonUID: Bench.daemonUID, rules: [PolicyRule(.allow, [.call, .origin], file: "p", line: 1)]))
        #expect(hello(user) == nil && user.session.account === before)
    }

    @Test("What is held for a session's calls goes with it when it names its origin, and is let go of there")
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

    @Test("An origin whose account has no room for a session's calls, or for what is held for them, is not named")
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

    /// A rule that allows everything to sessions that speak for an origin.
    private static func all(of origin: String) -> PolicyRule {
        var rule = PolicyRule(.allow, PolicyVerb.allCases, file: "p.toml", line: 1)
        rule.origins = [ExactText(origin)]
        return rule
    }

    @Test("Root and the daemon's user may take many times as much")
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

    @Test("A change holds for living sessions")
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

    @Test("Refusals are counted by quota, and shown")
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
