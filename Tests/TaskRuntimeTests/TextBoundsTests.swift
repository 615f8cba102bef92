import BridgeJSON
import Testing

@testable import TaskRuntime

@Suite("Limits of texts that the daemon stores for clients")
struct TextBoundsTests {
    let bench = Bench()
    let client: FakeClient

    init() { client = bench.client() }

    private func call(_ task: String, _ options: JSON, by client: FakeClient? = nil) -> JSON? {
        let client = client ?? self.client
        client.send(#"{"task":"\#(task)","options":\#(options.text),"callbackId":"c"}"#)
        return client.readOne()
    }

    private func text(_ count: Int) -> JSON { .string(String(repeating: "x", count: count)) }

    @Test(
        "Each text in bridge.hello has a maximum length; above it nothing is stored",
        arguments: [("client", 256), ("version", 256), ("userAgent", 1_024), ("origin", 512), ("page", 8_192)])
    func hello(member: String, maximum: Int) {
        func value(_ count: Int) -> JSON {
            member == "page" ? ["url": text(count - 10), "title": text(10)] : text(count)
        }
        let error = call("bridge.hello", [member: value(maximum + 1)])?["error"]
        #expect(error?["code"] == "options.invalid")
        #expect(error?["data"]?["path"]?.stringValue == "$." + member)
        #expect(client.session.client == nil && client.session.version == nil && client.session.userAgent == nil)
        #expect(client.session.page == nil && client.session.origin == "local")
        #expect(call("bridge.hello", [member: value(maximum)])?["result"] != nil)
    }

    @Test("Options of bridge.hello and of tables have at most 64 KiB, whatever they contain")
    func options() {
        for task in ["bridge.hello", "bridge.tasks", "bridge.metrics"] {
            #expect(call(task, ["tasks": ["a"], "other": text(65_000)])?["result"] != nil, "\(task)")
            let error = call(task, ["tasks": ["b"], "other": text(65_536)])?["error"]
            #expect(error?["code"] == "options.invalid")
            #expect(error?["message"]?.stringValue?.contains("at most 65536 bytes") == true)
        }
    }

    @Test("A summary has at most 256 bytes")
    func summary() {
        func register(_ count: Int) -> JSON? {
            call("bridge.register", ["tasks": ["a"], "descriptions": ["a": ["summary": text(count)]]])
        }
        #expect(register(257)?["error"]?["data"]?["path"] == #"$.descriptions["a"].summary"#)
        #expect(register(256)?["result"] != nil)
    }

    @Test("Rights to events are cached only for names of valid length")
    func refusedSubscriptions() {
        let stranger = bench.client(uid: 5)
        _ = bench.runtime.rights.mayGet(String(repeating: "x", count: 100_000), stranger.session)
        #expect(stranger.session.eventRights.isEmpty)
        _ = bench.runtime.rights.mayGet(String(repeating: "x", count: 128), stranger.session)
        #expect(stranger.session.eventRights.count == 1)
    }

    @Test("Texts that another version handed over are dropped if they are too long")
    func handedOver() {
        let long = String(repeating: "x", count: 2_000)
        let record = SessionRecord(
            number: 7, client: long, version: "2", userAgent: long,
            page: ["url": .string(String(repeating: "x", count: 20_000))])
        let session = bench.runtime.resume(record, peer: client.session.peer, transport: nil)
        #expect(session.client == nil && session.userAgent == nil && session.page == nil && session.version == "2")
    }

    // MARK: Descriptions

    private func register(_ name: String, optionsBytes: Int = 0, resultBytes: Int = 0, by client: FakeClient) -> JSON? {
        var description: JSONObject = [:]
        if optionsBytes > 0 { description["options"] = ["description": text(optionsBytes - 18)] }
        if resultBytes > 0 { description["result"] = ["description": text(resultBytes - 18)] }
        return call(
            "bridge.register", ["tasks": [.string(name)], "descriptions": .object([name: .object(description)])],
            by: client)
    }

    @Test("Descriptions count twice for their user, schemas of options ten times, until they are removed")
    func descriptions() {
        let account = client.session.account
        #expect(register("a", optionsBytes: 1_000, resultBytes: 500, by: client)?["result"] != nil)
        #expect(account.descriptionBytes == 11_512 && bench.runtime.quotas.descriptionBytes == 11_512)
        #expect(register("a", resultBytes: 600, by: client)?["result"] != nil)
        #expect(register("b", resultBytes: 100, by: client)?["result"] != nil)
        #expect(account.descriptionBytes == 2_424)
        #expect(call("bridge.unregister", ["tasks": ["b"]])?["result"] != nil)
        #expect(account.descriptionBytes == 1_712)
        bench.runtime.hangUp(client.session)
        #expect(account.descriptionBytes == 0 && bench.runtime.quotas.descriptionBytes == 0)
    }

    @Test("Each user has a quota of description bytes, as have all users together")
    func descriptionQuota() throws {
        var quotas = QuotaLimits()
        quotas.sessionTasks = 10_000
        bench.runtime.apply(quotas)
        var rule = PolicyRule(.allow, [.call, .register], file: "/etc/trestle/policy.d/50-test.toml", line: 1)
        rule.names = nil
        bench.runtime.apply(Policy(daemonUID: Bench.daemonUID, publicGroup: nil, rules: [rule]))
        func fill(_ client: FakeClient, _ prefix: String) -> JSON? {
            for number in 0..<10_000 {
                let answer = register("\(prefix)\(number)", optionsBytes: 60_000, by: client)
                if answer?["result"] == nil { return answer?["error"] }
            }
            return nil
        }
        let ada = bench.client(uid: 5)
        let error = fill(ada, "ada")
        #expect(error?["code"] == "quota.exceeded")
        #expect(error?["data"] == ["quota": "description_bytes", "limit": 33_554_432, "of": "uid 5"])
        #expect(ada.session.account.descriptionBytes <= 32 << 20)
        // Replacing a description by one of the same length takes no more of the quota.
        #expect(register("ada0", optionsBytes: 60_000, by: ada)?["result"] != nil)
        #expect(fill(bench.client(uid: 6), "bob")?["data"]?["of"] == "uid 6")
        #expect(fill(client, "root")?["data"]?["of"] == "all users")
        #expect(bench.runtime.quotas.descriptionBytes <= 128 << 20)
    }

    @Test("A task name that is listed many times is registered once")
    func repeated() {
        let names = JSON.array(Array(repeating: "a", count: 200))
        #expect(
            call("bridge.register", ["tasks": names, "descriptions": ["a": ["summary": "A."]]])?["result"] == [
                "tasks": ["a"]
            ])
        #expect((bench.runtime.tasks.find("a")?.provider as? ClientTask)?.providers.count == 1)
    }
}
