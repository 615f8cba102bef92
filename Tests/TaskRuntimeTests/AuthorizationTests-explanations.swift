import BridgeJSON
import BridgeMessage
import Testing
import WebOrigins

@testable import TaskRuntime

extension AuthorizationTests {
    func explain(_ client: FakeClient, _ options: String) -> JSON? {
        client.send(#"{"task":"bridge.explain","options":\#(options),"callbackId":1}"#)
        let answer = client.readOne()
        return answer?["result"] ?? answer?["error"]
    }

    @Test("bridge.explain reports the decision to root, with the rule, its file and line")
    func explained() {
        apply(rule(.allow, [.call], ["vault"], gid: 44, line: 3), rule(.deny, [.subscribe], ["s.*"], line: 9))
        let root = bench.client()
        #expect(
            explain(root, #"{"task":"kept","uid":1000,"groups":[44]}"#) == [
                "allowed": true, "verb": "call", "name": "kept", "public": false, "rule": "allow call, 50-test.toml:3",
                "who": "uid 1000", "permission": "vault", "known": true,
                "admitted": ["uid 0", .string("uid \(Bench.daemonUID)"), "allow call, 50-test.toml:3"],
                "file": "/etc/trestle/policy.d/50-test.toml", "line": 3,
            ])
        #expect(explain(root, #"{"task":"kept","uid":1000}"#)?["allowed"] == false)
        #expect(explain(root, #"{"verb":"subscribe","name":"s.x"}"#)?["line"] == 9)
        #expect(explain(root, #"{"task":"none"}"#)?["known"] == false)
        #expect(explain(root, #"{"verb":"close","uid":5}"#)?["allowed"] == false)
        #expect(explain(root, #"{"task":"work","plugin":"notes"}"#)?["allowed"] == true)
        let other = client()
        #expect(explain(root, #"{"task":"open","session":\#(other.session.number)}"#)?["who"] == "uid 1000")
        #expect(explain(root, #"{"verb":"dance","name":"x"}"#)?["data"]?["path"] == "$.verb")
        #expect(explain(root, "{}")?["data"]?["path"] == "$.task")
    }

    @Test("bridge.explain lists the users, the group and the rules that admit a call")
    func explainedGroup() {
        let users: [JSON] = ["uid 0", .string("uid \(Bench.daemonUID)")]
        let rules = [
            rule(.allow, [.call], ["open"], uid: 44, line: 3), rule(.deny, [.call], ["open"], gid: 77, line: 5),
            rule(.deny, [.call], ["open"], line: 7),
        ]
        for (rules, admitted) in [
            ([], users + ["group trestle"]), ([rules[0]], users + ["group trestle", "allow call, 50-test.toml:3"]),
            ([rules[1]], users), ([rules[2]], []),
        ] {
            bench.runtime.apply(Policy(daemonUID: Bench.daemonUID, publicGroup: 77, rules: rules))
            let explained = explain(bench.client(), #"{"task":"open","uid":1000}"#)
            #expect(explained?["allowed"] == false, "\(explained?.text ?? "")")
            #expect(explained?["admitted"] == .array(admitted), "\(explained?.text ?? "")")
            let isByDefault = explained?["rule"]?.stringValue?.contains(
                "public for root, uid \(Bench.daemonUID) and the group")
            #expect(isByDefault == (explained?["line"] == nil))
        }
        // The group may not call a task that is not public, and only an administrator gets the rules.
        apply(rule(.allow, [.call], ["vault", "bridge.explain"], uid: 1000, line: 3))
        #expect(explain(client(groups: [77]), #"{"task":"kept"}"#)?["admitted"] == .array(users))
    }

    @Test("A client that may use the bridge may ask about itself, but not about others")
    func explainedToOthers() throws {
        apply()
        let member = client(groups: [77])
        let open = try #require(explain(member, #"{"task":"open"}"#))
        #expect(open["allowed"] == true && open["rule"]?.stringValue?.contains("the group trestle") == true)
        #expect(explain(member, #"{"task":"work"}"#)?["allowed"] == false)
        #expect(explain(member, #"{"task":"open","uid":0}"#)?["code"] == "permission.denied")
        #expect(explain(member, #"{"task":"open","origin":"x"}"#)?["code"] == "permission.denied")
    }

    @Test(
        "Event rights, retained events and task quotas compare names byte by byte",
        arguments: PolicyTests.lookalikes)
    func exactNames(name: String, lookalike: String) {
        apply(rule(.allow, [.subscribe], [name]))
        let client = client()
        #expect(
            bench.runtime.rights.mayGet(name, client.session) && !bench.runtime.rights.mayGet(lookalike, client.session)
        )
        #expect(bench.runtime.rights.mayGet(name, client.session))
        #expect(client.session.eventRights.count == 2)

        var retained = RetainedEvents()
        for name in [name, lookalike] {
            retained.keep(
                RetainedEvents.Entry(name: name, data: Array("1".utf8), uid: 1, origin: "local", isTrusted: false))
        }
        #expect(retained.ofClients.map { ExactText($0.event) } == [ExactText(name), ExactText(lookalike)])
        retained.forget(lookalike)
        #expect(retained.event(name) != nil && retained.event(lookalike) == nil)

        var limits = QuotaLimits()
        limits.tasks[name] = CallQuota(callsPerSecond: 1)
        limits.plugins["worker"] = CallQuota(callsPerSecond: 1)
        let meters = CallMeters(limits)
        func meter(_ name: String) -> CallMeter? {
            meters.those(of: TaskEntry(TaskDescription(name: name), index: 0, provider: bench.instance))?.task
        }
        #expect(meter(name) != nil && meter(lookalike) == nil)
    }

    @Test("Cached decisions about many tasks and events are not mixed up")
    func memory() {
        let names = (0..<100).map { "t\($0)" }
        let instance = bench.add("many", tasks: names.map { TaskDescription(name: $0) }, FakeHost())
        _ = instance
        apply(rule(.allow, [.call], names.enumerated().filter { $0.offset % 3 == 0 }.map(\.element)))
        let client = client()
        for _ in 0..<3 {
            for (index, name) in names.enumerated() {
                #expect(code(client, name) == (index % 3 == 0 ? "begun" : "permission.denied"), "\(name)")
            }
        }
        for index in 0..<1_000 { #expect(!bench.runtime.rights.mayGet("e\(index)", client.session)) }
        #expect(client.session.eventRights.count <= 256)
    }
}
