import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

@Suite("The bridge's description of itself")
struct DescriptionTests {
    private static let point: JSON = [
        "type": "object", "required": ["x"],
        "properties": ["x": ["type": "number"], "y": ["type": ["number", "null"]]],
    ]
    let bench = Bench(extraTasks: [TaskDescription(name: "draw", schemas: TaskSchemas(options: point))])
    let client: FakeClient

    init() {
        client = bench.client()
        bench.host.onStart = { [bench] started in
            if started.work == .describe { bench.reply(bench.host.started.count - 1, "{}") }
        }
    }

    private func answer(_ line: String) -> JSON? {
        client.send(line)
        return client.readOne()
    }

    @Test("bridge.describe without options describes all tasks, each as if it was requested alone")
    func all() throws {
        let all = try #require(answer(#"{"task":"bridge.describe","callbackId":1}"#)?["result"]?["tasks"]?.arrayValue)
        let names = answer(#"{"task":"bridge.tasks","callbackId":1}"#)?["result"]?["tasks"]?.arrayValue
        #expect(all.map { $0["name"] } == names?.map { $0["name"] })
        for task in all {
            let name = task["name"]?.text ?? ""
            #expect(
                answer(#"{"task":"bridge.describe","options":{"task":\#(name)},"callbackId":1}"#)?["result"] == task)
        }
    }

    @Test("rpc.discover is an OpenRPC document with a method for each task")
    func openRPC() throws {
        let document = try #require(answer(#"{"jsonrpc":"2.0","method":"rpc.discover","id":1}"#)?["result"])
        #expect(document["openrpc"]?.stringValue?.hasPrefix("1.3") == true)
        #expect(document["info"] == ["title": "Trestle", "version": "1.2.3"])
        let methods = try #require(document["methods"]?.arrayValue)
        #expect(
            methods.count == answer(#"{"task":"bridge.tasks","callbackId":1}"#)?["result"]?["tasks"]?.arrayValue?.count)
        let draw = methods.first { $0["name"] == "draw" }
        #expect(
            draw?["params"] == [
                ["name": "x", "schema": ["type": "number"], "required": true],
                ["name": "y", "schema": ["type": ["number", "null"]]],
            ])
        #expect(draw?["result"] == ["name": "result", "schema": true])
        #expect(draw?["tags"] == [["name": "worker"]])
        let work = methods.first { $0["name"] == "work" }
        #expect(work?["params"] == [])
        #expect(work?["x-options"] == true)
    }

    @Test("Options that do not match a manifest's schema are refused before the plugin receives the call")
    func checked() {
        let refusal = answer(#"{"task":"draw","options":{"x":"1"},"callbackId":1}"#)
        #expect(refusal?.errorCode == "options.invalid")
        #expect(refusal?["error"]?["data"] == ["path": "$.x", "expected": "a number", "got": "string \"1\""])
        #expect(answer(#"{"jsonrpc":"2.0","method":"draw","params":[1,"2"],"id":1}"#)?["error"]?["code"] == -32602)
        #expect(!bench.host.started.contains { if case .task = $0.work { true } else { false } })
        client.send(#"{"task":"draw","options":{"x":1,"z":null},"callbackId":2}"#)
        bench.reply(bench.host.started.count - 1, "7")
        #expect(client.readOne()?["result"] == 7)
    }

    @Test("A refused call counts as a call and an error of its task")
    func counted() throws {
        _ = answer(#"{"task":"draw","options":3,"callbackId":1}"#)
        let statistics = bench.instance.tasks.first { $0.name == "draw" }?.statistics
        #expect(statistics?.calls == 1)
        #expect(statistics?.errors == 1)
        #expect(statistics?.inFlight == 0)
    }

    // MARK: Tasks of clients

    private func register(_ client: FakeClient, _ descriptions: String) -> JSON? {
        client.send(
            #"{"task":"bridge.register","options":{"tasks":["scan"],"descriptions":\#(descriptions)},"callbackId":0}"#)
        return client.readOne()
    }

    @Test("A client's task has the description of its newest provider, and its schema checks the options")
    func provided() throws {
        let (first, second) = (bench.client(), bench.client())
        #expect(register(first, #"{"scan":{"summary":"Scans.","options":{"required":["a"]}}}"#)?["result"] != nil)
        #expect(
            register(second, #"{"scan":{"options":{"required":["b"]},"result":{"type":"string"}}}"#)?["result"] != nil)
        let described = answer(#"{"task":"bridge.describe","options":{"task":"scan"},"callbackId":1}"#)?["result"]
        #expect(described?["options"] == ["required": ["b"]])
        #expect(described?["result"] == ["type": "string"])
        #expect(answer(#"{"task":"scan","options":{"a":1},"callbackId":2}"#)?["error"]?["data"]?["path"] == "$.b")
        second.send(#"{"task":"bridge.unregister","options":{"tasks":["scan"]},"callbackId":3}"#)
        #expect(answer(#"{"task":"scan","options":{"b":1},"callbackId":4}"#)?["error"]?["data"]?["path"] == "$.a")
        client.send(#"{"task":"scan","options":{"a":1},"callbackId":5}"#)
        #expect(first.readOne()?["task"] == "scan")
        let tasks = answer(#"{"task":"bridge.tasks","callbackId":6}"#)?["result"]?["tasks"]?.arrayValue
        #expect(tasks?.contains(["name": "scan", "summary": "Scans.", "public": false]) == true)
    }

    @Test(
        "An invalid description is refused, and nothing is registered",
        arguments: [
            (#"{"other":{}}"#, #"$.descriptions["other"]"#),
            (#"{"scan":{},"sca\u006e":{}}"#, #"$.descriptions["scan"]"#),
            ("[1]", "$.descriptions"),
            (#"{"scan":{"options":3}}"#, #"$.descriptions["scan"].options"#),
            (##"{"scan":{"options":{"$ref":"#"}}}"##, #"$.descriptions["scan"].options"#),
            (#"{"scan":{"summary":"a\nb"}}"#, #"$.descriptions["scan"].summary"#),
            (#"{"scan":{"options":{"pattern":"(?=a)"}}}"#, #"$.descriptions["scan"].options"#),
            (#"{"scan":{"options":{"$ref":"http://example.org/x"}}}"#, #"$.descriptions["scan"].options"#),
            (
                #"{"scan":{"options":{"$schema":"http://json-schema.org/draft-07/schema"}}}"#,
                #"$.descriptions["scan"].options"#
            ),
        ])
    func refused(descriptions: String, path: String) {
        let refusal = register(client, descriptions)
        #expect(refusal?.errorCode == "options.invalid")
        #expect(refusal?["error"]?["data"]?["path"]?.stringValue == path)
        #expect(answer(#"{"task":"scan","callbackId":1}"#)?.errorCode == "task.not_found")
    }

    @Test("A task name that is listed several times is registered once")
    func registeredOnce() throws {
        let names = Array(repeating: #""scan""#, count: 300).joined(separator: ",")
        client.send(
            #"{"task":"bridge.register","options":{"tasks":[\#(names)],"descriptions":{"scan":{"options":{"required":["a"]}}}},"callbackId":0}"#
        )
        // 300 names would exceed the session's limit if each of them counted.
        #expect(client.readOne()?["result"] == ["tasks": ["scan"]])
        let task = bench.runtime.tasks.find("scan")?.provider as? ClientTask
        #expect(task?.providers.count == 1)
        #expect(client.session.registrations.count == 1)
    }

    @Test("Options that take too many steps to check are refused, and do not reach the provider")
    func tooMuch() throws {
        let provider = bench.client()
        let rules = (0..<3_000).map { #"{"enum":[\#($0)]}"# }.joined(separator: ",")
        #expect(register(provider, #"{"scan":{"options":{"items":{"anyOf":[\#(rules)]}}}}"#)?["result"] != nil)
        let values = Array(repeating: "2999", count: 10_000).joined(separator: ",")
        let refusal = answer(#"{"task":"scan","options":[\#(values)],"callbackId":1}"#)
        #expect(refusal?.errorCode == "options.invalid")
        #expect(refusal?["error"]?["message"]?.stringValue?.hasPrefix("too much to check: ") == true)
        #expect(refusal?["error"]?["data"] == ["steps": 1_000_000])
        #expect(provider.read().isEmpty)
        client.send(#"{"task":"scan","options":[2999,0],"callbackId":2}"#)
        #expect(provider.readOne()?["task"] == "scan")
    }

    @Test("Options with a schema have at most 65,536 bytes; options without a schema may be longer")
    func length() throws {
        let provider = bench.client()
        #expect(register(provider, #"{"scan":{"options":{"type":"string"}}}"#)?["result"] != nil)
        let text = String(repeating: "x", count: 65_535)
        let refusal = answer(#"{"task":"scan","options":"\#(text)","callbackId":1}"#)
        #expect(refusal?.errorCode == "options.invalid")
        #expect(provider.read().isEmpty)
        #expect(register(provider, "{}")?["result"] != nil)
        client.send(#"{"task":"scan","options":"\#(text)","callbackId":2}"#)
        #expect(provider.readOne()?["task"] == "scan")
    }

    @Test("Patterns, member names and all other keywords are checked before the provider receives the call")
    func whole() throws {
        let provider = bench.client()
        #expect(
            register(
                provider,
                #"{"scan":{"options":{"patternProperties":{"^x_":{"pattern":"^\\p{Letter}+$"}},"uniqueItems":true}}}"#)?[
                    "result"] != nil)
        let refusal = answer(#"{"task":"scan","options":{"x_a":"1"},"callbackId":1}"#)
        #expect(refusal?["error"]?["data"]?["path"] == "$.x_a")
        client.send(#"{"task":"scan","options":{"x_a":"é","y":1},"callbackId":2}"#)
        #expect(provider.readOne()?["task"] == "scan")
    }

    @Test("A description above the maximum length is refused")
    func tooLong() {
        let long = String(repeating: "x", count: 70_000)
        #expect(register(client, #"{"scan":{"result":{"description":"\#(long)"}}}"#)?.errorCode == "options.invalid")
    }

    @Test("The handover records of a session contain its task descriptions")
    func handedOver() throws {
        #expect(register(client, #"{"scan":{"options":{"required":["a"]}}}"#)?["result"] != nil)
        let records = bench.runtime.providers(among: [client.session.number])
        let text = try JSONCoding.encode(records)
        let read = try text.withUnsafeBytes { try JSONCoding.decode([ProviderRecord].self, from: $0) }
        #expect(read == records)
        #expect(read.first?.description?.options == ["required": ["a"]])
    }
}
