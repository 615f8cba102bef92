import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

/// A rule for tests.
private func rule(
    _ effect: PolicyRule.Effect, _ verbs: [PolicyVerb], _ names: [String]? = nil, uid: UInt32? = nil,
    gid: UInt32? = nil,
    origin: String? = nil, user: String? = nil, unit: String? = nil, plugin: String? = nil, line: Int = 1
) -> PolicyRule {
    var rule = PolicyRule(effect, verbs, file: "/etc/trestle/policy.d/50-test.toml", line: line)
    rule.names = names?.compactMap { PolicyName($0) }
    rule.uids = uid.map { [$0] }
    rule.gids = gid.map { [$0] }
    rule.origins = origin.map { [$0] }
    rule.users = user.map { [$0] }
    rule.units = unit.map { [$0] }
    rule.plugins = plugin.map { [$0] }
    return rule
}

@Suite("The policy")
struct PolicyTests {
    private let member = PolicySubject(uid: 1000, gids: [1000, 77])
    private let stranger = PolicySubject(uid: 1001, gids: [1001])

    private func policy(_ rules: PolicyRule...) -> Policy { Policy(daemonUID: 900, openGroup: 77, rules: rules) }

    private func may(
        _ policy: Policy, _ subject: PolicySubject, _ verb: PolicyVerb = .call, _ name: String = "Alert",
        isOpen: Bool = false
    ) -> Bool {
        policy.decide(verb, name, isOpen: isOpen, for: subject).isAllowed
    }

    @Test("Without rules root and the daemon's user may do everything, the group what is open, others nothing")
    func defaults() {
        let policy = policy()
        for verb in PolicyVerb.allCases {
            #expect(may(policy, PolicySubject(uid: 0), verb) && may(policy, PolicySubject(uid: 900), verb))
            #expect(!may(policy, member, verb) && !may(policy, stranger, verb))
        }
        #expect(may(policy, member, isOpen: true))
        #expect(!may(policy, stranger, isOpen: true))
        #expect(!may(Policy(daemonUID: 900), member, isOpen: true), "there is no such group")
    }

    @Test("A rule allows what it says to whom it is about, and nothing else")
    func allow() {
        let policy = policy(rule(.allow, [.call], ["Alert", "notes.*"], uid: 1001))
        #expect(may(policy, stranger) && may(policy, stranger, .call, "notes.add"))
        #expect(!may(policy, stranger, .call, "notes") && !may(policy, stranger, .call, "Alerts"))
        #expect(!may(policy, stranger, .register) && !may(policy, member))
    }

    @Test("A rule that denies beats all that allow, wherever it stands, and root too")
    func deny() {
        let denial = rule(.deny, [.call], ["login.*"])
        for policy in [policy(denial, rule(.allow, [.call])), policy(rule(.allow, [.call]), denial)] {
            #expect(may(policy, stranger) && !may(policy, stranger, .call, "login.status"))
            #expect(!may(policy, PolicySubject(uid: 0), .call, "login.status"))
        }
    }

    @Test("All conditions of a rule have to hold, of each any of its values")
    func conditions() {
        var both = rule(.allow, [.call], uid: 1000, origin: "https://a.example", user: "ada", unit: "a.service")
        both.uids = [5, 1000]
        let policy = policy(both)
        var subject = PolicySubject(
            uid: 1000, gids: [], origin: "https://a.example", user: "ada", unit: "a.service")
        #expect(may(policy, subject) && policy.asksForUnit)
        for change in [\PolicySubject.user, \.unit] {
            var other = subject
            other[keyPath: change] = nil
            #expect(!may(policy, other))
            other[keyPath: change] = "else"
            #expect(!may(policy, other))
        }
        subject.origin = "https://a.example.evil.example"
        #expect(!may(policy, subject))
        #expect(may(self.policy(rule(.allow, [.call], gid: 1001)), stranger))
    }

    @Test(
        "Plugins' own calls are allowed where no rule about plugins denies them; rules about clients are not about them"
    )
    func plugins() {
        let notes = PolicySubject(plugin: "notes", daemonUID: 900)
        #expect(may(policy(rule(.deny, [.call])), notes))
        let policy = policy(rule(.deny, [.call], ["login.*"], plugin: "notes"))
        #expect(!may(policy, notes, .call, "login.status") && may(policy, notes))
        #expect(may(policy, PolicySubject(plugin: "other", daemonUID: 900), .call, "login.status"))
    }

    @Test("Whatever the rules are, it is default deny with deny wins: held against that sentence for many of them")
    func property() {
        var random = SystemRandomNumberGenerator()
        let names = ["a", "a.b", "a.c", "b"]
        let patterns = ["a", "a.*", "a.b", "*", "b"]
        for _ in 0..<2_000 {
            let rules = (0..<Int.random(in: 0...6, using: &random)).map { line in
                rule(
                    Bool.random(using: &random) ? .allow : .deny, [Bool.random(using: &random) ? .call : .publish],
                    Bool.random(using: &random) ? nil : [patterns.randomElement(using: &random) ?? "a"],
                    uid: Bool.random(using: &random) ? nil : UInt32.random(in: 1000...1002, using: &random),
                    gid: Bool.random(using: &random) ? nil : UInt32.random(in: 77...78, using: &random), line: line)
            }
            let policy = Policy(daemonUID: 900, openGroup: 77, rules: rules)
            let subject = PolicySubject(
                uid: [0, 1000, 1001].randomElement(using: &random) ?? 0,
                gids: [UInt32.random(in: 77...78, using: &random)])
            let name = names.randomElement(using: &random) ?? "a"
            let isOpen = Bool.random(using: &random)
            let speaking = rules.filter { rule in
                rule.verbs.contains(.call) && rule.uids?.contains(subject.uid) ?? true
                    && rule.gids.map { !Set($0).isDisjoint(with: subject.gids) } ?? true
                    && rule.names.map { $0.contains { Self.matches($0.text, name) } } ?? true
            }
            let isAllowed =
                !speaking.contains { $0.effect == .deny }
                && (!speaking.isEmpty || subject.uid == 0 || isOpen && subject.gids.contains(77))
            #expect(may(policy, subject, .call, name, isOpen: isOpen) == isAllowed, "\(rules) \(subject) \(name)")
        }
    }

    private static func matches(_ pattern: String, _ name: String) -> Bool {
        pattern.hasSuffix("*") ? name.hasPrefix(String(pattern.dropLast())) : name == pattern
    }
}

@Suite("Who may do what, on the bridge")
struct AuthorizationTests {
    let bench = Bench(extraTasks: [
        TaskDescription(name: "open", isOpen: true), TaskDescription(name: "kept", permission: "vault"),
    ])

    private func apply(_ rules: PolicyRule...) {
        bench.runtime.apply(Policy(daemonUID: Bench.daemonUID, openGroup: 77, rules: rules))
    }

    private func client(uid: UInt32 = 1000, groups: [UInt32] = []) -> FakeClient {
        FakeClient(bench, PeerIdentity(uid: uid, gid: uid, pid: 1, groups: groups))
    }

    private func code(_ client: FakeClient, _ task: String, _ options: String = "{}", more: String = "") -> String? {
        client.send(#"{"task":"\#(task)","options":\#(options),"callbackId":"c"\#(more)}"#)
        let answers = client.read()
        if answers.isEmpty {
            client.send(#"{"cancel":"c"}"#)
            _ = client.read()
            return "begun"
        }
        return answers[0].errorCode ?? "answered"
    }

    @Test("A denied call tells which rule denies it, and does not begin")
    func denied() throws {
        apply(rule(.allow, [.call]), rule(.deny, [.call], ["work"], line: 12))
        let client = client()
        client.send(#"{"task":"work","callbackId":1}"#)
        let error = try #require(client.readOne()?["error"])
        #expect(error["code"] == "permission.denied" && error["message"] == "uid 1000 may not call work")
        #expect(error["data"] == ["rule": "deny call, 50-test.toml:12"])
        #expect(bench.host.started.isEmpty)
    }

    @Test("Members of the group may call what is open, and say hello, and nothing else")
    func open() {
        apply()
        let member = client(groups: [5, 77])
        #expect(code(member, "open") == "begun" && code(member, "bridge.hello") == "answered")
        #expect(code(member, "work") == "permission.denied" && code(member, "bridge.status") == "permission.denied")
        let tasks = { () -> [String] in
            member.send(#"{"task":"bridge.tasks","callbackId":1}"#)
            return member.readOne()?["result"]?["tasks"]?.arrayValue?.compactMap { $0["name"]?.stringValue } ?? []
        }()
        #expect(tasks.contains("open") && !tasks.contains("work") && !tasks.contains("bridge.kill"))
        #expect(code(client(), "open") == "permission.denied")
    }

    @Test("Rules speak of the permission that a task names, not of its name")
    func permissions() {
        apply(rule(.allow, [.call], ["vault"]))
        #expect(code(client(), "kept") == "begun")
        apply(rule(.allow, [.call], ["kept"]))
        #expect(code(client(), "kept") == "permission.denied")
    }

    @Test("Other rules hold at once for sessions that live, calls in flight go on")
    func living() {
        apply(rule(.allow, [.call]))
        let client = client()
        client.send(#"{"task":"work","callbackId":1}"#)
        #expect(code(client, "work") == "begun")
        apply()
        #expect(code(client, "work") == "permission.denied")
        bench.reply(0, "1")
        #expect(client.readOne()?["result"] == 1)
        apply(rule(.allow, [.call]))
        #expect(code(client, "work") == "begun")
    }

    @Test("What a session may changes with who is logged in to it, and with what it speaks for")
    func identity() throws {
        apply(
            rule(.allow, [.call], ["work"], user: "ada"), rule(.allow, [.call], ["one"], origin: "app://a"),
            rule(.allow, [.call], ["bridge.hello"]), rule(.allow, [.origin], ["app://*"], uid: 1000))
        let client = client()
        #expect(code(client, "work") == "permission.denied" && code(client, "one") == "permission.denied")
        client.session.user = "ada"
        #expect(code(client, "work") == "begun")
        client.session.user = nil
        #expect(code(client, "work") == "permission.denied")
        #expect(code(client, "bridge.hello", #"{"origin":"app://a"}"#) == "answered")
        #expect(code(client, "one") == "begun")
        #expect(code(self.client(uid: 1001), "bridge.hello", #"{"origin":"app://a"}"#) == "permission.denied")
    }

    @Test("Providing a task takes a rule of its name; serving other users takes another")
    func providing() {
        apply(
            rule(.allow, [.call], ["bridge.*", "ui.alert"]), rule(.allow, [.register], ["ui.*"], uid: 1000))
        let provider = client()
        #expect(code(provider, "bridge.register", #"{"tasks":["scan"]}"#) == "permission.denied")
        #expect(code(provider, "bridge.register", #"{"tasks":["ui.alert"]}"#) == "answered")
        #expect(code(client(), "ui.alert") == "begun", "its own user's call")
        _ = provider.read()
        let other = client(uid: 1001)
        #expect(code(other, "bridge.register", #"{"tasks":["ui.alert"]}"#) == "permission.denied")
        #expect(code(other, "ui.alert") == "permission.denied")
        #expect(provider.read().isEmpty)
        apply(rule(.allow, [.call]), rule(.allow, [.serve], ["ui.alert"], uid: 1000))
        #expect(code(other, "ui.alert") == "begun")
    }

    @Test("Nobody becomes the presenter of another user's alerts, who has registered before or after that user's own")
    func presenters() {
        apply(rule(.allow, [.call, .register]))
        let register = #"{"tasks":["ui.alert"]}"#
        let stranger = client(uid: 1001)
        #expect(code(stranger, "bridge.register", register) == "answered")
        // What the task Alert does for its caller.
        let alert = FakeInterceptor(bench, "alert", ["work"])
        let page = client()
        page.send(#"{"task":"work","callbackId":1}"#)
        #expect(alert.call("ui.alert", behind: 0).all == ["permission.denied"])
        let own = client()
        #expect(code(own, "bridge.register", register) == "answered")
        #expect(code(stranger, "bridge.register", register) == "answered", "it is the newest")
        #expect(alert.call("ui.alert", behind: 0).all == [])
        #expect(own.readOne()?["task"] == "ui.alert" && stranger.read().isEmpty)
        own.send(#"{"task":"bridge.unregister","options":{"tasks":["ui.alert"]},"callbackId":1}"#)
        _ = own.read()
        _ = page.read()
        #expect(alert.call("ui.alert", behind: 0).all == ["permission.denied"])
        apply(rule(.allow, [.serve], ["ui.alert"], uid: 1001))
        #expect(alert.call("ui.alert", behind: 0).all == [])
        #expect(stranger.readOne()?["task"] == "ui.alert")
    }

    @Test("What a plugin calls in its own name a rule may deny it; what it calls for somebody is that one's")
    func pluginCalls() {
        apply(rule(.allow, [.call]), rule(.deny, [.call], ["vault"], plugin: "notes"))
        let notes = FakeInterceptor(bench, "notes", ["work"])
        let other = FakeInterceptor(bench, "other", ["one"])
        client().send(#"{"task":"work","callbackId":1}"#)
        #expect(notes.call("kept", behind: nil).all == ["permission.denied"])
        #expect(notes.call("open", behind: nil).all == [] && notes.call("kept", behind: 0).all == [])
        #expect(other.call("kept", behind: nil).all == [])
    }

    @Test("Naming the session of a call, and closing another one, take rules")
    func addressing() {
        apply(rule(.allow, [.call, .register]))
        let provider = client()
        #expect(code(provider, "bridge.register", #"{"tasks":["scan"]}"#) == "answered")
        let caller = client()
        let target = #","session":\#(provider.session.number)"#
        #expect(code(caller, "scan", more: target) == "permission.denied")
        #expect(code(provider, "scan", more: target) != "permission.denied", "its own")
        apply(rule(.allow, [.call, .address], ["scan"]))
        #expect(code(caller, "scan", more: target) == "begun")
    }

    @Test(
        "Events reach whom a rule lets have them, also those behind a wildcard, those that are kept, and after a change"
    )
    func events() {
        apply(
            rule(.allow, [.call]), rule(.allow, [.publish], ["news.*"]),
            rule(.allow, [.subscribe], ["news.a", "news.b"]))
        let reader = client()
        #expect(code(reader, "bridge.subscribe", #"{"events":["secret"]}"#) == "permission.denied")
        let writer = client()
        #expect(code(writer, "bridge.publish", #"{"event":"other"}"#) == "permission.denied")
        #expect(code(writer, "bridge.publish", #"{"event":"news.c","retain":true}"#) == "answered")
        #expect(code(reader, "bridge.subscribe", #"{"events":["*"]}"#) == "answered")
        for event in ["news.a", "news.b", "news.c"] {
            #expect(code(writer, "bridge.publish", #"{"event":"\#(event)"}"#) == "answered")
        }
        #expect(reader.read().map { $0["event"] } == ["news.a", "news.b"])
        apply(rule(.allow, [.call, .publish]), rule(.deny, [.subscribe], ["news.a"]), rule(.allow, [.subscribe]))
        for event in ["news.a", "news.c"] { _ = code(writer, "bridge.publish", #"{"event":"\#(event)"}"#) }
        #expect(reader.read().map { $0["event"] } == ["news.c"])
    }

    @Test("An interceptor cannot lend a caller another task")
    func redirect() {
        apply(rule(.allow, [.call], ["work"]))
        _ = FakeInterceptor(bench, "detour", ["work"]) { _ in #"{"task":"one"}"# }
        #expect(code(client(), "work") == "permission.denied")
    }

    // MARK: Asking why

    private func explain(_ client: FakeClient, _ options: String) -> JSON? {
        client.send(#"{"task":"bridge.explain","options":\#(options),"callbackId":1}"#)
        let answer = client.readOne()
        return answer?["result"] ?? answer?["error"]
    }

    @Test("It is explained to root who may do what, by which rule in which file and line")
    func explained() {
        apply(rule(.allow, [.call], ["vault"], gid: 44, line: 3), rule(.deny, [.subscribe], ["s.*"], line: 9))
        let root = bench.client()
        #expect(
            explain(root, #"{"task":"kept","uid":1000,"groups":[44]}"#) == [
                "allowed": true, "verb": "call", "name": "kept", "open": false, "rule": "allow call, 50-test.toml:3",
                "who": "uid 1000", "permission": "vault", "known": true,
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

    @Test("Whoever may use the bridge may ask about himself, and not about others")
    func explainedToOthers() {
        apply()
        let member = client(groups: [77])
        #expect(explain(member, #"{"task":"open"}"#)?["allowed"] == true)
        #expect(explain(member, #"{"task":"work"}"#)?["allowed"] == false)
        #expect(explain(member, #"{"task":"open","uid":0}"#)?["code"] == "permission.denied")
        #expect(explain(member, #"{"task":"open","origin":"x"}"#)?["code"] == "permission.denied")
    }

    @Test("Many tasks and events do not mix up what is remembered of them")
    func memory() {
        let names = (0..<100).map { "t\($0)" }
        let slot = bench.add("many", tasks: names.map { TaskDescription(name: $0) }, FakeHost())
        _ = slot
        apply(rule(.allow, [.call], names.enumerated().filter { $0.offset % 3 == 0 }.map(\.element)))
        let client = client()
        for _ in 0..<3 {
            for (index, name) in names.enumerated() {
                #expect(code(client, name) == (index % 3 == 0 ? "begun" : "permission.denied"), "\(name)")
            }
        }
        for index in 0..<1_000 { #expect(!bench.runtime.mayGet("e\(index)", client.session)) }
        #expect(client.session.eventRights.count <= 256)
    }
}
