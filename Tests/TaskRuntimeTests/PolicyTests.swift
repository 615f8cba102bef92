import BridgeJSON
import BridgeMessage
import Testing
import WebOrigins

@testable import TaskRuntime

/// Returns a rule for tests.
func rule(
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
    let member = PolicySubject(uid: 1000, gids: [1000, 77])
    let stranger = PolicySubject(uid: 1001, gids: [1001])

    func policy(_ rules: PolicyRule...) -> Policy { Policy(daemonUID: 900, publicGroup: 77, rules: rules) }

    func may(
        _ policy: Policy, _ subject: PolicySubject, _ verb: PolicyVerb = .call, _ name: String = "Alert",
        isPublic: Bool = false
    ) -> Bool {
        policy.decide(verb, name, isPublic: isPublic, for: subject).isAllowed
    }

    @Test("Without rules, root and the daemon's user have all rights, the group the public ones, others none")
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

    @Test("A rule permits only its verbs and names, and only to its subjects")
    func allow() {
        let policy = policy(rule(.allow, [.call], ["Alert", "notes.*"], uid: 1001))
        #expect(may(policy, stranger) && may(policy, stranger, .call, "notes.add"))
        #expect(!may(policy, stranger, .call, "notes") && !may(policy, stranger, .call, "Alerts"))
        #expect(!may(policy, stranger, .register) && !may(policy, member))
    }

    @Test("A denying rule has precedence over all allowing rules, in any order, also for root")
    func deny() {
        let denial = rule(.deny, [.call], ["login.*"])
        for policy in [policy(denial, rule(.allow, [.call])), policy(rule(.allow, [.call]), denial)] {
            #expect(may(policy, stranger) && !may(policy, stranger, .call, "login.status"))
            #expect(!may(policy, PolicySubject(uid: 0), .call, "login.status"))
        }
    }

    @Test("A rule matches if all of its conditions match, each with any of its values")
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

    @Test("A session with an origin is never trusted; its public rights are those of its user")
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

    @Test("A rule without an origin permits only local sessions, for every verb, but denies all sessions")
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

    @Test("Only the exact name bridge.admin permits administration, not a prefix or a rule without names")
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

    /// Pairs of spellings that Swift treats as equal: an accented letter, and the kelvin sign.
    static let lookalikes = [("caf\u{E9}", "cafe\u{301}"), ("K", "\u{212A}")]

    @Test(
        "Names are compared byte by byte: a name that only looks the same has no rights",
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
        // A session's own namespace, and the equality of rules, by which a reload detects a change.
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

    @Test("Names of reach are origins, compared by scheme, host and port, and by labels below a domain")
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
        "A name of reach covers another one if it matches all origins of the other",
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
        "Only rules about plugins deny plugins' own calls; rules about clients do not apply to them"
    )
    func plugins() {
        let notes = PolicySubject(plugin: "notes", daemonUID: 900)
        #expect(may(policy(rule(.deny, [.call])), notes))
        let policy = policy(rule(.deny, [.call], ["login.*"], plugin: "notes"))
        #expect(!may(policy, notes, .call, "login.status") && may(policy, notes))
        #expect(may(policy, PolicySubject(plugin: "other", daemonUID: 900), .call, "login.status"))
    }

    @Test("For random rules, the default is to deny, and a denial has precedence")
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
