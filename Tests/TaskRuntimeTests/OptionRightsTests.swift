import BridgeJSON
import BridgeMessage
import Testing
import WebOrigins

@testable import TaskRuntime

@Suite("An option that names a resource of another user")
struct OptionRightsTests {
    let bench = Bench(extraTasks: [
        TaskDescription(name: "read", isPublic: true, optionPermissions: ["namespace": .store]),
        TaskDescription(
            name: "count", isPublic: true, optionPermissions: ["namespace": .store],
            schemas: TaskSchemas(options: ["type": "object", "properties": ["n": ["type": "integer"]]])),
        TaskDescription(name: "load", isPublic: true, optionPermissions: ["to": .reach]),
    ])

    /// Applies rules in addition to rules that permit every call.
    private func apply(_ rules: (PolicyRule.Effect, [PolicyVerb], [String], UInt32?)...) {
        let rules = rules.map { effect, verbs, names, uid in
            var rule = PolicyRule(effect, verbs, file: "50-test.toml", line: 7)
            rule.names = names.compactMap { PolicyName($0) }
            rule.uids = uid.map { [$0] }
            return rule
        }
        let all = PolicyRule(.allow, [.call, .origin], file: "10-all.toml", line: 1)
        var pages = PolicyRule(.allow, [.call], file: "10-all.toml", line: 2)
        pages.origins = ["https://a.example"]
        bench.runtime.apply(Policy(daemonUID: Bench.daemonUID, rules: [all, pages] + rules))
    }

    private func code(_ client: FakeClient, _ namespace: String, _ task: String = "read") -> String? {
        code(client, options: #"{"namespace":"\#(namespace)"}"#, task)
    }

    private func code(_ client: FakeClient, options: String, _ task: String = "read") -> String? {
        client.send(#"{"task":"\#(task)","options":\#(options),"callbackId":"c"}"#)
        let answers = client.read()
        guard answers.isEmpty else { return answers[0].errorCode ?? "answered" }
        client.send(#"{"cancel":"c"}"#)
        _ = client.read()
        return "begun"
    }

    @Test("may name anything for root and the daemon's user; other clients may name only their own namespace")
    func withoutRules() {
        apply()
        for uid in [0, Bench.daemonUID] { #expect(code(bench.client(uid: uid), "1000:local") == "begun") }
        let client = bench.client(uid: 1000)
        #expect(code(client, "1000:local") == "begun" && code(client, options: "{}") == "begun")
        for other in ["1001:local", "0:local", "1000:https://a.example", "1000:locals", "1000:loca", "1000", ""] {
            #expect(code(client, other) == "permission.denied", "\(other)")
        }
        _ = code(client, options: #"{"origin":"https://a.example"}"#, "bridge.hello")
        #expect(code(client, "1000:https://a.example") == "begun" && code(client, "1000:local") == "permission.denied")
    }

    @Test("may be an origin, which other users may reach only by a rule; an invalid origin is refused")
    func origins() throws {
        func load(_ client: FakeClient, _ origin: String) -> String? {
            code(client, options: #"{"to":"\#(origin)"}"#, "load")
        }
        apply()
        #expect(load(bench.client(uid: 0), "https://a.example") == "begun")
        let client = bench.client(uid: 1000)
        #expect(load(client, "https://a.example") == "permission.denied")
        #expect(code(client, options: "{}", "load") == "begun")
        let all = PolicyRule(.allow, [.call], file: "10-all.toml", line: 1)
        var some = PolicyRule(.allow, [.reach], file: "50-test.toml", line: 7)
        some.names = [PolicyName(try OriginPattern("https://*.shop.example"))]
        bench.runtime.apply(Policy(daemonUID: Bench.daemonUID, rules: [all, some]))
        #expect(load(client, "https://A.shop.example:443") == "begun")
        #expect(load(client, "http://a.shop.example") == "permission.denied")
        for other in ["a.shop.example", "https://a.shop.example/", "https://é.shop.example", ""] {
            #expect(load(client, other) == "options.invalid", "\(other)")
        }
        client.send(#"{"task":"load","options":{"to":"https://b.example"},"callbackId":1}"#)
        #expect(client.readOne()?["error"]?["message"] == "uid 1000 may not reach https://b.example")
    }

    @Test("is denied with the deciding rule, before the task receives the call")
    func error() throws {
        apply((.deny, [.store], ["1001:*"], nil))
        let client = bench.client(uid: 1000)
        client.send(#"{"task":"read","options":{"namespace":"1001:local"},"callbackId":1}"#)
        let error = try #require(client.readOne()?["error"])
        #expect(error["code"] == "permission.denied")
        #expect(error["message"] == "uid 1000 may not name the namespace 1001:local to read")
        #expect(error["data"] == ["rule": "deny store, 50-test.toml:7"])
        #expect(bench.host.started.isEmpty)
    }

    @Test("may be permitted by a rule; a denial has precedence, also for root, but not for a client's own namespace")
    func rules() {
        apply(
            (.allow, [.store], ["1001:app://*", "7:local"], 1000),
            (.deny, [.store], ["1001:app://kept", "1000:*"], nil))
        let client = bench.client(uid: 1000)
        #expect(code(client, "1001:app://a") == "begun" && code(client, "7:local") == "begun")
        #expect(
            code(client, "1001:local") == "permission.denied" && code(client, "1001:app://kept") == "permission.denied")
        #expect(code(client, "1000:local") == "begun", "its own")
        #expect(code(bench.client(uid: 1002), "7:local") == "permission.denied")
        let root = bench.client(uid: 0)
        #expect(code(root, "1001:app://kept") == "permission.denied" && code(root, "1000:local") == "permission.denied")
        #expect(code(root, "1001:local") == "begun")
        apply()
        #expect(code(client, "7:local") == "permission.denied" && code(root, "1000:local") == "begun")
    }

    @Test(
        "is found with escapes, and also if it occurs twice",
        arguments: [
            #"{"namesp\u0061ce":"0:local"}"#, #"{"x":{},"namespace":"0:loc\u0061l"}"#,
            #"{"namespace":"0:local","namespace":"1000:local"}"#, #"{"namespace":"1000:local","namespace":"0:local"}"#,
            #"{ "namespace" : "0:local" , "namespace" : null }"#,
        ])
    func writings(_ options: String) {
        apply()
        #expect(code(bench.client(uid: 1000), options: options) == "permission.denied")
    }

    @Test("needs no right if it is absent or null, and is refused if it is not a string")
    func values() {
        apply()
        let client = bench.client(uid: 1000)
        for options in [
            "{}", #"{"namespace":null}"#, #"{"record":{"namespace":"0:local"}}"#, "[]", "1", #""namespace""#,
        ] {
            #expect(code(client, options: options) == "begun", "\(options)")
        }
        for options in [#"{"namespace":0}"#, #"{"namespace":["0:local"]}"#, #"{"namespace":{}}"#] {
            #expect(code(client, options: options) == "options.invalid", "\(options)")
        }
    }

    @Test("is checked in addition to the schema of the options")
    func schema() {
        apply()
        let client = bench.client(uid: 1000)
        #expect(code(client, options: #"{"n":1,"namespace":"1000:local"}"#, "count") == "begun")
        #expect(code(client, options: #"{"n":"1","namespace":"1000:local"}"#, "count") == "options.invalid")
        #expect(code(client, options: #"{"n":1,"namespace":"0:local"}"#, "count") == "permission.denied")
    }

    @Test("is checked as interceptors leave it, with the rights of the caller")
    func interceptors() {
        apply()
        let names = ["1000:local": "0:local", "0:local": "1000:local"]
        _ = FakeInterceptor(bench, "swap", ["read", "work"]) { question in
            let name = question["options"]?["namespace"]?.stringValue ?? ""
            if question["task"] == "work" { return #"{"task":"read","options":{"namespace":"0:local"}}"# }
            return #"{"options":{"namespace":"\#(names[name] ?? "")"}}"#
        }
        let client = bench.client(uid: 1000)
        #expect(code(client, "1000:local") == "permission.denied" && code(client, "0:local") == "begun")
        #expect(code(client, options: "{}", "work") == "permission.denied", "another task's option")
    }

    @Test("is checked for the client on whose behalf a plugin calls, else for the plugin itself")
    func plugins() {
        apply()
        let plugin = FakeInterceptor(bench, "notes", ["work"])
        let client = bench.client(uid: 1000)
        client.send(#"{"task":"work","callbackId":1}"#)
        #expect(plugin.call("read", #"{"namespace":"0:local"}"#, behind: 0).all == ["permission.denied"])
        #expect(plugin.call("read", #"{"namespace":"1000:local"}"#, behind: 0).all == [])
        #expect(plugin.call("read", #"{"namespace":"0:local"}"#, behind: nil).all == [])
        var denial = PolicyRule(.deny, [.store], file: "50-test.toml", line: 7)
        denial.plugins = ["notes"]
        bench.runtime.apply(Policy(daemonUID: Bench.daemonUID, rules: [denial]))
        #expect(plugin.call("read", #"{"namespace":"0:local"}"#, behind: nil).all == ["permission.denied"])
    }

    @Test("is checked again if another plugin takes over the task")
    func replaced() throws {
        apply()
        let host = FakeHost()
        let old = bench.add("keeper", tasks: [TaskDescription(name: "keep", concurrency: 1)], host)
        let client = bench.client(uid: 1000)
        client.send(#"{"task":"keep","callbackId":1}"#)
        client.send(#"{"task":"keep","options":{"namespace":"0:local"},"callbackId":2}"#)
        let manifest = PluginManifest(
            name: "keeper", version: "2",
            tasks: [TaskDescription(name: "keep", optionPermissions: ["namespace": .store])], events: [], workers: [])
        let successor = try bench.runtime.candidate(
            manifest, path: "/plugins/keeper.so", host: FakeHost(), inPlaceOf: old)
        try bench.runtime.replace(old, by: successor)
        #expect(client.read().map(\.errorCode) == ["permission.denied"])
    }

    @Test("is declared with its verb in a plugin's manifest, and listed in the task's description")
    func manifest() throws {
        func manifest(_ verbs: JSON) throws -> PluginManifest {
            try PluginManifest([
                "name": "x", "version": "1",
                "tasks": [["name": "t", "summary": "s", "public": true, "optionPermissions": verbs]],
                "events": [["name": "e", "summary": "s", "public": true], ["name": "f", "summary": "s"]],
            ])
        }
        let read = try manifest(["namespace": "store"])
        #expect(read.tasks[0].optionPermissions == ["namespace": .store] && read.tasks[0].isPublic)
        #expect(read.events.map(\.isPublic) == [true, false])
        for verb in ["call", "keep", ""] {
            let error = #expect(throws: BridgeError.self) { try manifest(["namespace": .string(verb)]) }
            #expect(error?.message.contains("the option namespace of the task t") == true, "\(error?.message ?? "")")
        }
        let root = bench.client()
        root.send(#"{"task":"bridge.describe","options":{"task":"read"},"callbackId":1}"#)
        bench.reply(bench.host.started.count - 1, #"{"tasks":[]}"#)
        let described = root.readOne()?["result"]
        #expect(described?["optionPermissions"] == ["namespace": "store"] && described?["public"] == true)
        #expect(described?["events"]?[0]?["public"] == false)
    }

    @Test("is explained by bridge.explain, with the deciding rule")
    func explained() {
        apply((.allow, [.store], ["1001:*"], 1000))
        let root = bench.client()
        func explain(_ name: String, uid: Int, _ more: String = "") -> JSON? {
            root.send(
                #"{"task":"bridge.explain","options":{"verb":"store","name":"\#(name)","uid":\#(uid)\#(more)},"callbackId":1}"#
            )
            return root.readOne()?["result"]
        }
        #expect(explain("1001:local", uid: 1000)?["rule"] == "allow store, 50-test.toml:7")
        #expect(explain("1001:local", uid: 1002)?["allowed"] == false)
        let own = explain("1002:app://a", uid: 1002, #","origin":"app://a""#)
        #expect(own?["allowed"] == true && own?["rule"] == "default: a session may use its own namespace")
        #expect(explain("1002:app://a", uid: 1002)?["allowed"] == false)
    }
}
