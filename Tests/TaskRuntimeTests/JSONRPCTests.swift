import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

@Suite("JSON-RPC 2.0")
struct JSONRPCTests {
    let bench = dialectBench()
    let client: FakeClient

    init() {
        client = bench.client()
        // From here on, the connection has used only JSON-RPC.
        client.send(#"{"jsonrpc":"2.0","method":"echo","id":0}"#)
        _ = client.read()
    }

    func answer(_ line: String) -> JSON? {
        client.send(line)
        return client.readOne()
    }

    func invalid(_ answer: JSON?, _ number: Int64, id: JSON = .null) -> Bool {
        answer?["jsonrpc"] == "2.0" && answer?["id"] == id && answer?["error"]?["code"]?.int64Value == number
            && answer?["error"]?["message"]?.stringValue?.isEmpty == false && answer?["result"] == nil
    }

    // The examples of the specification, section 7, one after the other.

    @Test("rpc call with positional parameters")
    func positional() {
        #expect(
            answer(#"{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}"#)
                == ["jsonrpc": "2.0", "id": 1, "result": 19])
        #expect(
            answer(#"{"jsonrpc": "2.0", "method": "subtract", "params": [23, 42], "id": 2}"#)
                == ["jsonrpc": "2.0", "id": 2, "result": -19])
    }

    @Test("Required positional parameters come before optional ones, in any order of the schema")
    func required() {
        let schema = #"{"properties":{"a":{},"b":{},"c":{},"d":{}},"required":["d","b"]}"#
        let provider = bench.client()
        provider.send(
            #"{"task":"bridge.register","options":{"tasks":["rq"],"descriptions":{"rq":{"options":\#(schema)}}},"callbackId":0}"#
        )
        #expect(provider.readOne()?["result"] != nil)
        client.send(#"{"jsonrpc":"2.0","method":"rq","params":[1,2,3],"id":1}"#)
        #expect(provider.readOne()?["options"] == ["b": 1, "d": 2, "a": 3])
        let methods = answer(#"{"jsonrpc":"2.0","method":"rpc.discover","id":2}"#)?["result"]?["methods"]?.arrayValue
        let parameters = methods?.first { $0["name"] == "rq" }?["params"]?.arrayValue
        #expect(parameters?.map { $0["name"] } == ["b", "d", "a", "c"])
        #expect(parameters?.map { $0["required"] } == [true, true, nil, nil])
    }

    @Test("rpc call with named parameters")
    func named() {
        for params in [#"{"subtrahend": 23, "minuend": 42}"#, #"{"minuend": 42, "subtrahend": 23}"#] {
            #expect(
                answer(#"{"jsonrpc": "2.0", "method": "subtract", "params": \#(params), "id": 3}"#)
                    == ["jsonrpc": "2.0", "id": 3, "result": 19])
        }
    }

    @Test("a notification")
    func notification() {
        client.send(#"{"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]}"#)
        client.send(#"{"jsonrpc": "2.0", "method": "foobar"}"#)
        #expect(client.read().isEmpty)
    }

    @Test("rpc call of non-existent method")
    func noMethod() {
        #expect(invalid(answer(#"{"jsonrpc": "2.0", "method": "foobar", "id": "1"}"#), -32601, id: "1"))
    }

    @Test("rpc call with invalid JSON")
    func invalidJSON() {
        #expect(invalid(answer(#"{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]"#), -32700))
    }

    @Test("rpc call with invalid Request object")
    func invalidRequest() {
        #expect(invalid(answer(#"{"jsonrpc": "2.0", "method": 1, "params": "bar"}"#), -32600))
    }

    @Test("rpc call Batch, invalid JSON")
    func invalidBatch() {
        #expect(
            invalid(
                answer(
                    #"[{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},{"jsonrpc": "2.0", "method"]"#),
                -32700))
    }

    @Test("rpc call with an empty Array")
    func emptyBatch() { #expect(invalid(answer("[]"), -32600)) }

    @Test("rpc call with an invalid Batch, but not empty", arguments: [1, 3])
    func strangeBatch(count: Int) {
        let answers = answer("[" + (1...count).map(String.init).joined(separator: ",") + "]")?.arrayValue ?? []
        #expect(answers.count == count)
        #expect(answers.allSatisfy { invalid($0, -32600) })
    }

    @Test("rpc call Batch")
    func batch() {
        let answers =
            answer(
                #"""
                [{"jsonrpc": "2.0", "method": "echo", "params": [1,2,4], "id": "1"}, \#
                {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]}, \#
                {"jsonrpc": "2.0", "method": "subtract", "params": [42,23], "id": "2"}, \#
                {"foo": "boo"}, \#
                {"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"}, \#
                {"jsonrpc": "2.0", "method": "echo", "id": "9"}]
                """#)?.arrayValue ?? []
        #expect(answers.count == 5)
        #expect(answers.contains(["jsonrpc": "2.0", "id": "1", "result": [1, 2, 4]]))
        #expect(answers.contains(["jsonrpc": "2.0", "id": "2", "result": 19]))
        #expect(answers.contains { invalid($0, -32600) })
        #expect(answers.contains { invalid($0, -32601, id: "5") })
        #expect(answers.contains(["jsonrpc": "2.0", "id": "9", "result": [:]]))
    }

    @Test("rpc call Batch (all notifications)")
    func notifications() {
        client.send(
            #"[{"jsonrpc": "2.0", "method": "notify_sum", "params": [1,2,4]},{"jsonrpc": "2.0", "method": "echo"}]"#)
        #expect(client.read().isEmpty)
    }

    // Cases that the examples do not cover.

    @Test("A batch is answered once all of its calls have ended")
    func lateBatch() {
        client.send(
            #"[{"jsonrpc":"2.0","method":"work","id":1},{"jsonrpc":"2.0","method":"work","id":2},{"jsonrpc":"2.0","method":"echo","id":3}]"#
        )
        #expect(client.read().isEmpty)
        bench.reply(2, "2")
        #expect(client.read().isEmpty)
        // Other calls are answered meanwhile.
        #expect(answer(#"{"jsonrpc":"2.0","method":"echo","id":9}"#)?["id"] == 9)
        bench.clock.advance(.seconds(61))
        let answers = client.readOne()?.arrayValue ?? []
        #expect(answers.map { $0["id"]?.int64Value } == [3, 2, 1])
        #expect(answers.last?["error"]?["data"]?["code"] == "call.timeout")
    }

    @Test("A batch whose results exceed the limit of unread bytes is answered with errors for the rest")
    func largeBatch() {
        var limits = RuntimeLimits()
        limits.unreadBytes = 4_096
        let bench = Bench(limits: limits)
        bench.host.onStart = { started in
            Array("\"\(String(repeating: "x", count: 1_500))\"".utf8).withUnsafeBytes {
                bench.instance.reply(started.handle, $0)
            }
        }
        let client = bench.client()
        client.send(
            "[" + (1...20).map { #"{"jsonrpc":"2.0","method":"work","id":\#($0)}"# }.joined(separator: ",") + "]")
        let answers = client.readOne()?.arrayValue ?? []
        #expect(answers.count == 20)
        #expect(answers.filter { $0["result"] != nil }.count == 3)
        #expect(answers.filter { $0["error"]?["data"]?["code"] == "result.too_large" }.count == 17)
    }

    @Test(
        "Ids are returned unchanged",
        arguments: [#""""#, #""é\n""#, "1.5", "-0", "1e3", "null", "123456789012345678901"])
    func ids(id: String) {
        client.send(#"{"jsonrpc":"2.0","method":"echo","id":\#(id)}"#)
        let text = String(decoding: client.session.output.bytes, as: UTF8.self)
        #expect(text == #"{"jsonrpc":"2.0","id":\#(id),"result":{}}"# + "\n")
    }

    @Test(
        "Ids of other types, and the wrong version, are refused",
        arguments: [
            #"{"jsonrpc":"2.0","method":"echo","id":true}"#, #"{"jsonrpc":"2.0","method":"echo","id":{}}"#,
            #"{"jsonrpc":"1.0","method":"echo","id":1}"#, #"{"jsonrpc":2.0,"method":"echo","id":1}"#,
            #"{"jsonrpc":"2.0","id":1}"#, #"{"jsonrpc":"2.0","method":"echo","result":1,"id":1}"#,
            #"{"jsonrpc":"2.0","method":"echo","method":"echo","id":1}"#,
        ])
    func refused(line: String) { #expect(answer(line)?["error"]?["code"] == -32600) }

    /// Returns a client that provides the task `pay` with the given options.
    private func payee(_ bench: Bench, uid: UInt32, _ options: String...) -> FakeClient {
        let client = bench.client(uid: uid)
        let properties = options.map { #""\#($0)":{"type":"string"}"# }.joined(separator: ",")
        client.send(
            #"{"task":"bridge.register","options":{"tasks":["pay"],"descriptions":{"pay":{"summary":"\#(uid) pays.","#
                + #""options":{"properties":{\#(properties)}}}}},"callbackId":1}"#)
        #expect(client.readOne()?["result"] != nil)
        return client
    }

    private static func everybody(_ verbs: PolicyVerb...) -> Policy {
        Policy(daemonUID: Bench.daemonUID, rules: [PolicyRule(.allow, verbs, file: "p.toml", line: 1)])
    }

    @Test("Positional parameters get the names of the provider that gets the call, not of a later provider")
    func namer() {
        let bench = Bench()
        bench.runtime.apply(Self.everybody(.call, .register))
        let own = payee(bench, uid: 1000, "from", "to")
        let stranger = payee(bench, uid: 1001, "to", "from")
        let caller = bench.client(uid: 1000)
        caller.send(#"{"jsonrpc":"2.0","method":"pay","params":["me","you"],"id":1}"#)
        #expect(own.readOne()?["options"] == ["from": "me", "to": "you"] && stranger.read().isEmpty)
        func describe(_ client: FakeClient) -> JSON? {
            client.send(#"{"task":"bridge.describe","options":{"task":"pay"},"callbackId":1}"#)
            return client.readOne()?["result"]
        }
        let (session, described) = (JSONNumber(own.session.number), describe(bench.client(uid: 1000)))
        #expect(described?["describedBy"] == ["session": .number(session), "uid": 1000])
        #expect(described?["summary"] == "1000 pays.")
        #expect(described?["options"]?["properties"]?.objectValue?.map(\.key) == ["from", "to"])
        // No provider may serve the third user, so this user gets no description.
        let third = describe(bench.client(uid: 1002))
        #expect(third?["describedBy"] == .null && third?["options"] == true)
        #expect(third?["summary"] == "Provided by a client.")
        #expect(describe(bench.client(uid: 1001))?["describedBy"]?["uid"] == 1001)
        func summary(_ client: FakeClient) -> JSON? {
            client.send(#"{"task":"bridge.tasks","callbackId":1}"#)
            return client.readOne()?["result"]?["tasks"]?.arrayValue?.first { $0["name"] == "pay" }?["summary"]
        }
        #expect(summary(bench.client(uid: 1000)) == "1000 pays.")
        #expect(summary(bench.client(uid: 1002)) == "Provided by a client.")
    }

    @Test("The provider that named the parameters gets the call, even if another one registers during a decision")
    func namerBehindInterceptor() throws {
        let bench = Bench()
        bench.runtime.apply(Self.everybody(.call, .register, .serve))
        let interceptor = FakeInterceptor(bench, "slow", ["pay"])
        let first = payee(bench, uid: 1000, "from", "to")
        let caller = bench.client(uid: 1000)
        for id in 1...2 {
            caller.send(#"{"jsonrpc":"2.0","method":"pay","params":["me","you"],"id":\#(id)}"#)
        }
        let second = payee(bench, uid: 1000, "to", "from")
        interceptor.decide(0, #"{"pass":true}"#)
        #expect(first.readOne()?["options"] == ["from": "me", "to": "you"] && second.read().isEmpty)
        bench.runtime.hangUp(first.session)
        interceptor.decide(1, #"{"pass":true}"#)
        #expect(second.read().isEmpty)
        #expect(caller.read().last?["error"]?["data"]?["code"] != nil)
    }

    @Test("More positional parameters than a task has names are answered with the error for invalid options")
    func tooMany() {
        let refusal = answer(#"{"jsonrpc":"2.0","method":"subtract","params":[1,2,3],"id":1}"#)
        #expect(refusal?["error"]?["code"] == -32602)
        #expect(refusal?["error"]?["data"]?["data"]?["path"] == "$[2]")
        #expect(answer(#"{"jsonrpc":"2.0","method":"subtract","params":[7],"id":1}"#)?["result"] == 7)
    }

    @Test("A call waits until its parameter names are available; a call cancelled meanwhile does not start")
    func describedLate() throws {
        let bench = Bench()
        let client = bench.client()
        client.send(#"{"jsonrpc":"2.0","method":"work","params":[5],"id":1}"#)
        client.send(#"{"jsonrpc":"2.0","method":"work","params":[6],"id":2}"#)
        client.send(#"{"jsonrpc":"2.0","method":"bridge.cancel","params":{"callbackId":1}}"#)
        #expect(bench.host.started.map(\.work) == [.describe])
        bench.reply(0, #"{"tasks":[{"options":{"properties":{"n":{}}}}]}"#)
        #expect(bench.host.started.map(\.work) == [.describe, .task(0)])
        #expect(bench.host.started[1].options == #"{"n":6}"#)
        bench.reply(1, "36")
        let answers = client.read()
        #expect(answers.count == 2)
        #expect(answers.first?["error"]?["data"]?["code"] == "call.cancelled")
        #expect(answers.last?["result"] == 36)
    }

    @Test("A connection that has also used another dialect gets native errors for unreadable messages")
    func mixedConnection() {
        client.send(#"{"task":"echo","callbackId":1}"#)
        _ = client.read()
        #expect(answer("nonsense")?["callbackId"] == .null)
        #expect(answer("[1]")?.errorCode == "message.invalid")
        // A batch that begins with JSON-RPC is answered as JSON-RPC, also for elements that are not messages.
        let batch = answer(#"[{"jsonrpc":"2.0","method":"echo","id":1},7]"#)?.arrayValue
        #expect(batch?.count == 2)
        #expect(batch?.last?["error"]?["code"] == -32600)
    }
}
