import BridgeJSON
import BridgeMessage
import Testing
import WebOrigins

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
    rule.origins = origin.map { [ExactText($0)] }
    rule.users = user.map { [ExactText($0)] }
    rule.units = unit.map { [ExactText($0)] }
    rule.plugins = plugin.map { [ExactText($0)] }
    return rule
}

@Suite("The policy")
struct PolicyTests {
    private let member = PolicySubject(uid: 1000, gids: [1000, 77])
    private let stranger = PolicySubject(uid: 1001, gids: [1001])

    private func policy(_ rules: PolicyRule...) -> Policy { Policy(daemonUID: 900, publicGroup: 77, rules: rules) }

    private func may(
        _ policy: Policy, _ subject: PolicySubject, _ verb: PolicyVerb = .call, _ name: String = "Alert",
        isPublic: Bool = false
    ) -> Bool {
        policy.decide(verb, name, isPublic: isPublic, for: subject).isAllowed
    }

    @Test("Without rules root and the daemon's user may do everything, the group what is public, others nothing")
    func defaults() {
        let policy = policy()
        for verb in PolicyVerb.allCases {
            #expect(may(policy, PolicySubject(uid: 0), verb) && may(policy, PolicySubject(uid: 900), verb))
            #expect(!may(policy, member, verb) && !may(policy, stranger, verb))
        }
        #expect(may(policy, member, isPublic: true))
        #expect(!may(policy, stranger, isPublic: true))
        #expect(!may(Policy(daemonUID: 900), member, isPublic: true), "there is no such group")
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

    @Test("A session that speaks for an origin is never trusted, and has of what is public what its user has")
    func origins() {
        let policy = policy()
        for uid: UInt32 in [0, 900] {
            let page = PolicySubject(uid: uid, origin: "https://a.example")
            #expect(!policy.trusts(page) && policy.trusts(PolicySubject(uid: uid)))
            for verb in PolicyVerb.allCases { #expect(!may(policy, page, verb)) }
            #expect(may(policy, page, isPublic: true))
            let denial = policy.decide(.call, "Alert", for: page)
            #expect(denial.rule.hasPrefix("default: no rule with the condition origin allows it"))
        }
        #expect(may(policy, PolicySubject(uid: 1000, gids: [77], origin: "https://a.example"), isPublic: true))
        #expect(!may(policy, PolicySubject(uid: 1001, origin: "https://a.example"), isPublic: true))
        #expect(!policy.trusts(PolicySubject(plugin: "notes", daemonUID: 900)))
    }

    @Test("A rule without an origin allows to local sessions only, with every verb, and denies to all")
    func rulesWithoutOrigin() {
        let page = PolicySubject(uid: 1001, origin: "https://a.example")
        for verb in PolicyVerb.allCases {
            let allow = rule(.allow, [verb], uid: 1001, line: 4)
            #expect(may(policy(allow), stranger, verb) && !may(policy(allow), page, verb))
            let decision = policy(allow).decide(verb, "Alert", for: page)
            #expect(decision.reason == .localOnly(allow) && decision.decisive == allow)
            #expect(decision.rule.hasPrefix("default: allow \(verb.rawValue), 50-test.toml:4 has no condition origin"))
            let own = rule(.allow, [verb], uid: 1001, origin: "https://a.example", line: 5)
            #expect(policy(allow, own).decide(verb, "Alert", for: page).reason == .rule(own))
            #expect(!may(policy(own), stranger, verb))
            #expect(may(policy(rule(.allow, [verb], origin: "local")), stranger, verb))
            #expect(!may(policy(own, rule(.deny, [verb])), page, verb))
        }
    }

    @Test("No beginning of names lends the administration of the daemon, nor a rule without names; its own name does")
    func administration() {
        for names in [nil, ["*"], ["bridge.*"], ["bridge.admin*"], ["bridge.a*", "b*"], ["bridge.monitor"]] {
            let policy = policy(rule(.allow, [.call], names, uid: 1001))
            #expect(!may(policy, stranger, .call, "bridge.admin"), "\(names ?? [])")
            #expect(!may(policy, stranger, .close, ""), "\(names ?? [])")
        }
        let lent = policy(rule(.allow, [.call], ["bridge.admin"], uid: 1001))
        #expect(may(lent, stranger, .call, "bridge.admin") && may(lent, stranger, .close, ""))
        #expect(!may(lent, stranger, .call, "bridge.admins") && !may(lent, member, .call, "bridge.admin"))
        #expect(!may(policy(rule(.allow, [.call], ["bridge.admin"]), rule(.deny, [.close])), stranger, .close, ""))
        for names in [nil, ["*"], ["bridge.*"], ["bridge.admin"]] {
            #expect(!may(policy(rule(.deny, [.call], names)), PolicySubject(uid: 0), .call, "bridge.admin"))
        }
    }

    /// Two spellings that Swift holds to be equal: an accented letter, and the sign for kelvin.
    static let lookalikes = [("caf\u{E9}", "cafe\u{301}"), ("K", "\u{212A}")]

    @Test(
        "Every name is compared by its bytes: one that only looks the same has no rights of another's",
        arguments: lookalikes)
    func bytes(name: String, lookalike: String) {
        #expect(name == lookalike, "what this is about")
        for verb in PolicyVerb.allCases {
            for written in [name, "a." + name + "*"] {
                let policy = policy(rule(.allow, [verb], [written]))
                let asked = written.filter { $0 != "*" }
                #expect(may(policy, stranger, verb, asked))
                #expect(!may(policy, stranger, verb, asked.replacing(name, with: lookalike)), "\(verb)")
            }
        }
        func subject(_ text: String) -> [PolicySubject] {
            [
                PolicySubject(uid: 1, origin: text), PolicySubject(uid: 1, user: text),
                PolicySubject(uid: 1, unit: text),
            ]
        }
        let rules = [
            rule(.allow, [.call], origin: name), rule(.allow, [.call], user: name), rule(.allow, [.call], unit: name),
        ]
        for (index, rule) in rules.enumerated() {
            #expect(may(policy(rule), subject(name)[index]) && !may(policy(rule), subject(lookalike)[index]))
        }
        let denial = policy(rule(.deny, [.call], plugin: name))
        #expect(!may(denial, PolicySubject(plugin: name, daemonUID: 900)))
        #expect(may(denial, PolicySubject(plugin: lookalike, daemonUID: 900)))
        // What is stored for oneself; what a rule is, so that a reload sees that it is another.
        let page = PolicySubject(uid: 1, origin: name)
        #expect(may(policy(), page, .store, "1:" + name) && !may(policy(), page, .store, "1:" + lookalike))
        for (one, other) in zip(rules, [("origin", 0), ("user", 1), ("unit", 2)]) {
            var changed = one
            switch other.1 {
            case 0: changed.origins = [ExactText(lookalike)]
            case 1: changed.users = [ExactText(lookalike)]
            default: changed.units = [ExactText(lookalike)]
            }
            #expect(changed != one, "\(other.0)")
        }
        #expect(PolicyName(name) != PolicyName(lookalike))
        #expect(PolicyName(name + "*")?.covers(PolicyName(lookalike) ?? .init("x")!) == false)  // `!`: it is a name
        #expect(Set([PolicyName(name), PolicyName(lookalike)]).count == 2)
    }

    @Test("Names of reach are origins: compared by scheme, host and port, below a domain by labels")
    func reach() throws {
        func rule(_ name: String, _ effect: PolicyRule.Effect = .allow) throws -> PolicyRule {
            var rule = PolicyRule(effect, [.reach], file: "p.toml", line: 1)
            rule.names = [PolicyName(try OriginPattern(name))]
            return rule
        }
        let one = try policy(rule("https://API.example:443"))
        #expect(may(one, stranger, .reach, "https://api.example") && may(one, stranger, .reach, "https://Api.Example."))
        for other in ["http://api.example", "https://api.example:8443", "https://a.api.example", "api.example", ""] {
            #expect(!may(one, stranger, .reach, other), "\(other)")
        }
        let below = try policy(rule("https://*.shop.example"))
        #expect(may(below, stranger, .reach, "https://a.b.shop.example"))
        for other in ["https://shop.example", "https://myshop.example", "https://shop.example.evil.example"] {
            #expect(!may(below, stranger, .reach, other), "\(other)")
        }
        let denial = try policy(rule("https://*.shop.example", .deny))
        #expect(!may(denial, PolicySubject(uid: 0), .reach, "https://a.SHOP.example"))
        #expect(may(denial, PolicySubject(uid: 0), .reach, "https://shop.example"))
    }

    @Test(
        "A name of reach covers another where it matches all of its origins",
        arguments: [
            ("https://*.a.example", "https://x.a.example", true),
            ("https://*.a.example", "https://*.x.a.example", true),
            ("https://*.a.example", "https://*.a.example", true), ("https://*.a.example", "https://a.example", false),
            ("https://a.example", "https://*.a.example", false), ("https://*.a.example", "http://x.a.example", false),
        ])
    func coverage(outer: String, inner: String, covers: Bool) throws {
        #expect(PolicyName(try OriginPattern(outer)).covers(PolicyName(try OriginPattern(inner))) == covers)
        #expect(PolicyName("*")?.covers(PolicyName(try OriginPattern(inner))) == true)
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
            let policy = Policy(daemonUID: 900, publicGroup: 77, rules: rules)
            let subject = PolicySubject(
                uid: [0, 1000, 1001].randomElement(using: &random) ?? 0,
                gids: [UInt32.random(in: 77...78, using: &random)])
            let name = names.randomElement(using: &random) ?? "a"
            let isPublic = Bool.random(using: &random)
            let speaking = rules.filter { rule in
                rule.verbs.contains(.call) && rule.uids?.contains(subject.uid) ?? true
                    && rule.gids.map { !Set($0).isDisjoint(with: subject.gids) } ?? true
                    && rule.names.map { $0.contains { Self.matches($0.text, name) } } ?? true
            }
            let isAllowed =
                !speaking.contains { $0.effect == .deny }
                && (!speaking.isEmpty || subject.uid == 0 || isPublic && subject.gids.contains(77))
            #expect(may(policy, subject, .call, name, isPublic: isPublic) == isAllowed, "\(rules) \(subject) \(name)")
        }
    }

    private static func matches(_ pattern: String, _ name: String) -> Bool {
        pattern.hasSuffix("*") ? name.hasPrefix(String(pattern.dropLast())) : name == pattern
    }
}

@Suite("Who may do what, on the bridge")
struct AuthorizationTests {
    let bench = Bench(extraTasks: [
        TaskDescription(name: "open", isPublic: true), TaskDescription(name: "kept", permission: "vault"),
    ])

    private func apply(_ rules: PolicyRule...) {
        bench.runtime.apply(Policy(daemonUID: Bench.daemonUID, publicGroup: 77, rules: rules))
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

    @Test("A denied call gets the rule in its error, and does not begin")
    func denied() throws {
        apply(rule(.allow, [.call]), rule(.deny, [.call], ["work"], line: 12))
        let client = client()
        client.send(#"{"task":"work","callbackId":1}"#)
        let error = try #require(client.readOne()?["error"])
        #expect(error["code"] == "permission.denied" && error["message"] == "uid 1000 may not call work")
        #expect(error["data"] == ["rule": "deny call, 50-test.toml:12"])
        #expect(bench.host.started.isEmpty)
    }

    @Test("Members of the group may call what is public, and say hello, and nothing else")
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

    @Test("A page under the daemon's own user is not trusted, by any verb, and is shown why")
    func pages() throws {
        apply()
        let page = client(uid: Bench.daemonUID)
        let open = client(uid: Bench.daemonUID)
        #expect(page.session.isTrusted && code(page, "bridge.status") == "answered")
        #expect(code(page, "bridge.hello", #"{"origin":"https://a.example"}"#) == "answered")
        #expect(!page.session.isTrusted && open.session.isTrusted)
        #expect(code(page, "open") == "begun" && code(page, "bridge.ping") == "answered")
        let registered = #"{"tasks":["scan"]}"#
        for (task, options) in [
            ("work", "{}"), ("bridge.status", "{}"), ("bridge.kill", #"{"call":1}"#), ("bridge.register", registered),
            ("bridge.publish", #"{"event":"news"}"#), ("bridge.subscribe", #"{"events":["news"]}"#),
            ("bridge.explain", #"{"task":"work","uid":5}"#),
        ] {
            #expect(code(page, task, options) == "permission.denied", "\(task)")
        }
        #expect(code(page, "bridge.subscribe", #"{"events":["*","bridge.events_dropped"]}"#) == "answered")
        #expect(code(open, "bridge.publish", #"{"event":"news"}"#) == "answered")
        #expect(page.read().isEmpty)
        apply(rule(.allow, [.call], ["work"], uid: Bench.daemonUID))
        let explained = try #require(explain(page, #"{"task":"work"}"#))
        #expect(explained["allowed"] == false && explained["line"] == 1)
        #expect(explained["rule"]?.stringValue?.contains("has no condition origin") == true)
        apply(rule(.allow, [.call, .register], origin: "https://a.example"))
        #expect(code(page, "work") == "begun" && code(page, "bridge.register", registered) == "answered")
        #expect(code(open, "scan") == "permission.denied")
        apply(rule(.allow, [.call, .register, .serve], origin: "https://a.example"))
        #expect(code(open, "scan") == "begun")
        let other = client(uid: Bench.daemonUID)
        #expect(code(other, "bridge.hello", #"{"origin":"https://b.example"}"#) == "answered")
        #expect(code(other, "work") == "permission.denied")
    }

    @Test(
        "What sessions are and own is compared by bytes, too: origins that are named again, and retained events",
        arguments: PolicyTests.lookalikes)
    func bytes(name: String, lookalike: String) {
        var pages = rule(.allow, [.call, .publish], origin: name)
        pages.origins = [ExactText(name), ExactText(lookalike)]
        apply(rule(.allow, [.call, .origin]), pages)
        let (one, other) = (client(), client())
        #expect(code(one, "bridge.hello", #"{"origin":"\#(name)"}"#) == "answered")
        #expect(code(one, "bridge.hello", #"{"origin":"\#(lookalike)"}"#) == "permission.denied")
        #expect(code(other, "bridge.hello", #"{"origin":"\#(lookalike)"}"#) == "answered")
        #expect(code(one, "bridge.publish", #"{"event":"lamp","retain":true}"#) == "answered")
        #expect(code(other, "bridge.publish", #"{"event":"lamp","forget":true}"#) == "permission.denied")
    }

    @Test("A page that goes on in another process is not trusted there")
    func pagesElsewhere() {
        let page = client(uid: Bench.daemonUID)
        _ = code(page, "bridge.hello", #"{"origin":"https://a.example"}"#)
        let next = Bench()
        let session = next.runtime.resume(
            bench.runtime.record(of: page.session), peer: page.session.peer, transport: FakeTransport())
        #expect(!session.isTrusted && session.account.connections == 1)
    }

    @Test("A rule about the bridge's tasks lets nobody administer the daemon")
    func administration() {
        let tasks: [(String, String)] = [
            ("bridge.monitor", "{}"), ("bridge.metrics", "{}"), ("bridge.calls", "{}"), ("bridge.kill", #"{"call":1}"#),
            ("bridge.sessions", "{}"), ("bridge.status", "{}"), ("bridge.plugins", "{}"), ("bridge.reload", "{}"),
            ("bridge.plugin.load", #"{"path":"/x"}"#), ("bridge.plugin.unload", #"{"name":"worker"}"#),
            ("bridge.plugin.reload", #"{"name":"worker"}"#), ("bridge.explain", #"{"task":"work","uid":0}"#),
        ]
        let client = client()
        for names in [nil, ["bridge.*"], ["*"]] {
            apply(rule(.allow, [.call], names))
            #expect(code(client, "bridge.ping") == "answered")
            for (task, options) in tasks { #expect(code(client, task, options) == "permission.denied", "\(task)") }
        }
        apply(rule(.allow, [.call], ["bridge.admin", "bridge.explain"]))
        for (task, options) in tasks { #expect(code(client, task, options) != "permission.denied", "\(task)") }
        // Whatever the daemon's tasks are: what is not open administers.
        let own = bench.runtime.ownPermissions.filter { $0.task.hasPrefix("bridge.") }
        let root = bench.client()
        for (task, permission) in own {
            root.send(#"{"task":"bridge.describe","options":{"task":"\#(task)"},"callbackId":1}"#)
            let isPublic = root.readOne()?["result"]?["public"] == true
            #expect(permission == (isPublic ? task : "bridge.admin"), "\(task)")
        }
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

    @Test("A page takes no calls of its user's local programs without a rule, and those of its own origin it does")
    func providingPages() {
        let names = ["https://a.example", "https://b.example"]
        let rules =
            [rule(.allow, [.call, .register, .origin])] + names.map { rule(.allow, [.call, .register], origin: $0) }
        bench.runtime.apply(Policy(daemonUID: Bench.daemonUID, rules: rules))
        func hello(_ client: FakeClient, _ origin: String) {
            #expect(code(client, "bridge.hello", #"{"origin":"\#(origin)"}"#) == "answered")
        }
        func provider(of origin: String?) -> FakeClient {
            let provider = client()
            if let origin { hello(provider, origin) }
            #expect(code(provider, "bridge.register", #"{"tasks":["scan"]}"#) == "answered")
            return provider
        }
        let (local, page) = (provider(of: nil), provider(of: names[0]))
        let (program, same, other) = (client(), client(), client())
        hello(same, names[0])
        hello(other, names[1])
        for (caller, provider, left) in [(program, local, page), (other, local, page), (same, page, local)] {
            #expect(code(caller, "scan") == "begun")
            #expect(!provider.read().isEmpty && left.read().isEmpty)
        }
        #expect(code(local, "bridge.register", #"{"tasks":["scan"]}"#) == "answered", "it is the newest")
        #expect(code(same, "scan") == "begun")
        #expect(!local.read().isEmpty && page.read().isEmpty)
        // Who has become a page since it registered is none of the local programs any more.
        hello(local, names[1])
        #expect(code(program, "scan") == "permission.denied" && code(other, "scan") == "permission.denied")
        #expect(code(same, "scan") == "begun")
        #expect(!page.read().isEmpty && local.read().isEmpty)
        bench.runtime.apply(
            Policy(
                daemonUID: Bench.daemonUID, rules: rules + [rule(.allow, [.serve], ["scan"], origin: names[0])]))
        #expect(code(program, "scan") == "begun")
        #expect(!page.read().isEmpty)
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

    @Test("A retained event is its user's and origin's to replace and to forget, or of whom a rule allows it")
    func replacing() {
        var pages = rule(.allow, [.call, .publish, .subscribe], origin: "app://a")
        pages.origins = ["app://a", "app://b"]
        let rules = [rule(.allow, [.call, .publish, .subscribe, .origin]), pages]
        bench.runtime.apply(Policy(daemonUID: Bench.daemonUID, rules: rules))
        func publish(_ client: FakeClient, _ more: String) -> String? {
            code(client, "bridge.publish", #"{"event":"lamp",\#(more)}"#)
        }
        let (owner, again, other, page) = (client(), client(), client(uid: 1001), client())
        _ = code(page, "bridge.hello", #"{"origin":"app://a"}"#)
        #expect(publish(owner, #""data":1,"retain":true"#) == "answered")
        for stranger in [other, page] {
            #expect(publish(stranger, #""data":2,"retain":true"#) == "permission.denied")
            #expect(publish(stranger, #""forget":true"#) == "permission.denied")
            #expect(publish(stranger, #""data":2"#) == "answered", "it is only sent")
        }
        #expect(bench.runtime.retainedEvents == [RetainedEvent(event: "lamp", data: 1, uid: 1000)])
        #expect(publish(again, #""data":3,"retain":true"#) == "answered", "another session of its owner's")
        // In the next daemon, too, it is its owner's.
        #expect(publish(again, #""forget":true"#) == "answered")
        #expect(publish(page, #""data":4,"retain":true"#) == "answered")
        let kept = bench.runtime.retainedEvents
        #expect(kept == [RetainedEvent(event: "lamp", data: 4, uid: 1000, origin: "app://a")])
        bench.runtime.retain(kept)
        #expect(publish(owner, #""forget":true"#) == "permission.denied")
        let pageOfB = client()
        _ = code(pageOfB, "bridge.hello", #"{"origin":"app://b"}"#)
        #expect(publish(pageOfB, #""forget":true"#) == "permission.denied")
        bench.runtime.apply(
            Policy(daemonUID: Bench.daemonUID, rules: rules + [rule(.allow, [.replace], ["lamp"], uid: 1001)]))
        #expect(publish(owner, #""forget":true"#) == "permission.denied")
        #expect(publish(other, #""data":5,"retain":true"#) == "answered", "by the rule, and it is that user's now")
        #expect(bench.runtime.retainedEvents.map(\.uid) == [1001])
        #expect(publish(client(uid: 0), #""forget":true"#) == "answered", "root needs no rule")
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

    @Test("A denied caller gets the group in the error, and whom it would admit")
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
                "public to root, uid \(Bench.daemonUID) and the group")
            #expect(isByDefault == (explained?["line"] == nil))
        }
        // What is not open is nothing for the group; and rules are for who administers the daemon.
        apply(rule(.allow, [.call], ["vault", "bridge.explain"], uid: 1000, line: 3))
        #expect(explain(client(groups: [77]), #"{"task":"kept"}"#)?["admitted"] == .array(users))
    }

    @Test("Whoever may use the bridge may ask about himself, and not about others")
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
        "Rights to events, retained events and quotas of tasks are kept by the bytes of names",
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

    @Test("Many tasks and events do not mix up what is remembered of them")
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
