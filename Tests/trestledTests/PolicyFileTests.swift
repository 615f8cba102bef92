import BridgeJSON
import Glibc
import TOMLDocument
import TaskRuntime
import TestSupport
import Testing

@testable import trestled

@Suite("A file of rules")
struct PolicyFileTests {
    private let accounts = AccountNames(
        uid: { ["ada": 1000, "root": 0][$0] }, gid: { ["trestle": 77, "staff": 50][$0] })

    private func file(_ text: String) throws -> PolicyFile {
        PolicyFile(try TOMLDocument(parsing: text, file: "p.toml"), accounts)
    }

    @Test("specifies verbs, names, users, groups, origins, accounts, units and plugins")
    func reading() throws {
        let file = try file(
            """
            # Notes.
            [[rule]]
            allow = ["call", "subscribe"]
            names = ["persistence.*", "Alert"]
            uid = ["ada", 1001]
            group = "staff"
            origin = "https://notes.example"
            user = "ada"
            unit = "notes.service"

            [[rule]]
            deny = "call"
            plugin = ["notes", "other"]
            """)
        #expect(file.problems == [] && file.warnings == [])
        var first = PolicyRule(.allow, [.call, .subscribe], file: "p.toml", line: 2)
        first.names = ["persistence.*", "Alert"].compactMap { PolicyName($0) }
        first.uids = [1000, 1001]
        first.gids = [50]
        first.origins = ["https://notes.example"]
        first.users = ["ada"]
        first.units = ["notes.service"]
        var second = PolicyRule(.deny, [.call], file: "p.toml", line: 11)
        second.plugins = ["notes", "other"]
        #expect(file.rules == [first, second])
    }

    @Test(
        "is refused if it is invalid, with the position and the correction",
        arguments: [
            ("rules = 1", "p.toml:1:1: rules: unknown key"),
            ("rule = 1", "p.toml:1:1: rule: expected [[rule]] tables"),
            ("[[rule]]\nuid = 1", "rule[0]: expected either allow or deny"),
            ("[[rule]]\nallow = \"call\"\ndeny = \"call\"", "rule[0]: expected either allow or deny"),
            (
                "[[rule]]\nallow = \"cal\"",
                "p.toml:2:9: rule[0].allow: \"cal\" is not a right that can be allowed; did you mean 'call'?"
            ),
            ("[[rule]]\nallow = 3", "rule[0].allow: expected a string, or several; got the integer 3"),
            ("[[rule]]\nallow = \"call\"\nnames = [\"a*b\"]", "p.toml:3:10: rule[0].names: \"a*b\" is not a name"),
            ("[[rule]]\nallow = \"call\"\nuids = 3", "rule[0].uids: unknown key; did you mean 'uid'?"),
            ("[[rule]]\nallow = \"call\"\nuid = -1", "rule[0].uid: expected a user's name or number"),
            ("[[rule]]\nallow = \"call\"\nuid = 1\nplugin = \"x\"", "plugin cannot be combined with another condition"),
            ("[[rule]]\nallow = \"close\"\nnames = \"x\"", "a rule about close cannot have names"),
            ("[[rule]]\nallow = \"origin\"\nnames = \"https://a.example*\"", "also covers other names"),
            ("[[rule]]\nallow = \"store\"\nnames = \"1000:https://a.example*\"", "also covers other names"),
            ("[[rule]]\nallow = [\"call\", \"store\"]\nnames = \"1*\"", "also covers other names"),
            ("[[rule]]\nallow = [\"call\", \"reach\"]", "reach cannot be combined with other verbs"),
            ("[[rule]]\nallow = \"reach\"\nnames = \"api.example\"", "\"api.example\" is not an origin"),
            ("[[rule]]\nallow = \"reach\"\nnames = \"https://a.example/b\"", "an origin has no path"),
            ("[[rule]]\nallow = \"reach\"\nnames = \"https://*.example\"", "covers the domains of other owners"),
        ])
    func refused(text: String, reason: String) throws {
        let file = try file(text)
        #expect(file.rules == [])
        #expect(file.problems.contains { $0.description.contains(reason) }, "\(file.problems)")
    }

    @Test("has origins in canonical form as the names of reach")
    func reach() throws {
        let file = try file(
            "[[rule]]\nallow = \"reach\"\nnames = [\"HTTPS://API.example:443\", \"http://*.a.example:81\"]")
        #expect(file.problems == [])
        #expect(file.rules[0].names?.map(\.text) == ["https://api.example", "http://*.a.example:81"])
    }

    @Test("may name users that do not exist: such a rule matches no caller and causes a warning")
    func unknownAccounts() throws {
        let file = try file("[[rule]]\nallow = \"call\"\nuid = \"bob\"\n")
        #expect(file.problems == [] && file.rules.map(\.uids) == [[]])
        #expect(
            file.warnings.map(\.description) == [
                "p.toml:3:7: rule[0].uid: there is no user \"bob\": the rule matches no caller"
            ])
    }

    @Test("may end the prefix of an origin where a host's name cannot continue")
    func originBeginnings() throws {
        for name in ["app://*", "https://a.example:*", "https://a.example/*", "*"] {
            #expect(try file("[[rule]]\nallow = \"origin\"\nnames = \"\(name)\"").problems == [], "\(name)")
        }
        for name in ["1000:*", "1000:app://*", "1000:https://a.example", "*"] {
            #expect(try file("[[rule]]\nallow = \"store\"\nnames = \"\(name)\"").problems == [], "\(name)")
        }
    }

    @Test("gives each problem a position and never crashes the daemon if it is mutated")
    func mutated() throws {
        let text = "[[rule]]\nallow = [\"call\"]\nnames = \"a.*\"\nuid = [1, \"ada\"]\n[[rule]]\ndeny = \"publish\"\n"
        var random = SeededGenerator(seed: 20_261_122)
        for _ in 0..<3_000 {
            let bytes = random.mutate(Array(text.utf8), alphabet: Array(text.utf8))
            guard let document = try? TOMLDocument(bytes: bytes, file: "p.toml") else { continue }
            let file = PolicyFile(document, accounts)
            #expect(file.problems.allSatisfy { $0.position != nil })
        }
    }
}

@Suite("A folder of rules")
struct PolicyFolderTests {
    @Test("is read in the order of its file names; files other than *.toml are ignored")
    func order() throws {
        try withFiles([
            "policy.d/20.toml": "[[rule]]\ndeny = \"call\"\nuid = 7",
            "policy.d/10.toml": "[[rule]]\nallow = \"call\"\nuid = 7",
            "policy.d/notes.txt": "no TOML", "policy.d/.hidden.toml": "no TOML",
        ]) { root in
            let rules = try PolicyRules(folder: "\(root)/policy.d", isNamed: true)
            #expect(rules.rules.map(\.effect) == [.allow, .deny])
            #expect(rules.rules.map(\.line) == [1, 1])
        }
    }

    @Test("contains no rules if it does not exist, but is an error if it was named")
    func missing() throws {
        #expect(try PolicyRules(folder: "/nowhere/policy.d", isNamed: false).rules == [])
        #expect(throws: ConfigurationErrors.self) { try PolicyRules(folder: "/nowhere/policy.d", isNamed: true) }
    }

    @Test("is refused if others may write one of its files, because rules grant rights")
    func writable() throws {
        try withFiles(["policy.d/10.toml": "[[rule]]\nallow = \"call\"\nuid = 7"]) { root in
            chmod("\(root)/policy.d/10.toml", 0o666)
            let errors = #expect(throws: ConfigurationErrors.self) {
                try PolicyRules(folder: "\(root)/policy.d", isNamed: true)
            }
            #expect(errors?.problems.first?.description.contains("it grants rights") == true)
        }
    }

    @Test("causes a warning about a rule that names a task instead of its permission")
    func misnamed() throws {
        var rule = PolicyRule(.deny, [.call], file: "p.toml", line: 3)
        rule.names = ["store.backup", "store.*", "notes.add", "none"].compactMap { PolicyName($0) }
        let warnings = PolicyReview([rule]).misnamed([("store.backup", "copy"), ("notes.add", "notes.add")])
        #expect(
            warnings.map(\.description) == [
                "p.toml:3: the rule is not about the task store.backup, whose permission is copy: "
                    + "rules about calls name permissions"
            ])
    }

    @Test("causes a warning about a name that does not cover the daemon's administration")
    func administering() {
        let tasks = [
            ("bridge.kill", "bridge.admin"), ("bridge.status", "bridge.admin"), ("bridge.ping", "bridge.ping"),
        ]
        func warnings(_ effect: PolicyRule.Effect, _ name: String) -> [String] {
            var rule = PolicyRule(effect, [.call], file: "p.toml", line: 3)
            rule.names = [PolicyName(name)].compactMap { $0 }
            let review = PolicyReview([rule])
            return (review.administering(tasks) + review.misnamed(tasks)).map(\.description)
        }
        #expect(
            warnings(.allow, "bridge.*") == [
                "p.toml:3: bridge.* does not cover bridge.kill, bridge.status, whose permission is bridge.admin: a rule that "
                    + "allows these must contain that name in full"
            ])
        #expect(warnings(.allow, "bridge.k*").count == 1 && warnings(.deny, "bridge.k*").count == 1)
        #expect(warnings(.allow, "bridge.kill").count == 1 && warnings(.deny, "bridge.kill").count == 1)
        #expect(warnings(.deny, "bridge.*") == [] && warnings(.allow, "*") == [])
        #expect(warnings(.allow, "bridge.admin") == [] && warnings(.allow, "bridge.p*") == [])
    }

    @Test("causes a warning about a rule that does not apply to the origins that its users may represent")
    func localOnly() {
        func warnings(_ rules: PolicyRule...) -> [String] {
            PolicyReview(rules).warnings.map(\.description).filter { $0.contains("only local sessions") }
        }
        var calls = PolicyRule(.allow, [.call], file: "p.toml", line: 3)
        calls.uids = [5]
        var speaking = PolicyRule(.allow, [.origin], file: "p.toml", line: 9)
        speaking.names = [PolicyName("app://x/*")].compactMap { $0 }
        speaking.uids = [5, 6]
        #expect(warnings(calls, speaking).count == 1)
        #expect(warnings(calls, speaking).first?.hasPrefix("p.toml:3: the rule allows only local sessions") == true)
        #expect(warnings(calls, speaking).first?.contains("app://x/*") == true)
        // No warning: no user of the rule may represent an origin, the origin has a rule, or the rule names local
        // sessions.
        #expect(warnings(calls) == [])
        speaking.uids = [6]
        #expect(warnings(calls, speaking) == [])
        speaking.uids = nil
        var pages = calls
        pages.origins = ["app://x/1"]
        #expect(warnings(calls, speaking, pages) == [])
        pages.verbs = [.publish]
        #expect(warnings(calls, speaking, pages).count == 1)
        calls.origins = [ExactText(Session.localOrigin)]
        #expect(warnings(calls, speaking) == [])
    }

    @Test("causes a warning about a rule that never matches and an origin or task that no client may use")
    func review() throws {
        let text = """
            [[rule]]
            allow = "call"
            names = "notes.add"
            uid = 5
            [[rule]]
            deny = "call"
            names = "notes.*"
            [[rule]]
            allow = "call"
            origin = "app://x"
            """
        try withFiles(["policy.d/10.toml": text]) { root in
            let rules = try PolicyRules(folder: "\(root)/policy.d", isNamed: true)
            let warnings = rules.warnings.map(\.description)
            #expect(warnings.count == 2)
            #expect(
                warnings.contains {
                    $0.contains("10.toml:1: the rule can never match: \(root)/policy.d/10.toml:5 denies")
                })
            #expect(
                warnings.contains {
                    $0.contains("10.toml:8: only root and the daemon's user may represent app://x")
                })
            let unreachable = PolicyReview(rules.rules).unreachable([("notes.add", "notes.add"), ("Alert", "Alert")])
            #expect(
                unreachable.map(\.reason) == ["no user can call notes.add, not even root: the rule has no condition"])
        }
    }
}
