import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

/// A bench whose plugin answers tasks of its own at once: `echo` with its options, `fail` with an error.
func dialectBench() -> Bench {
    let bench = Bench(extraTasks: [
        TaskDescription(name: "echo"), TaskDescription(name: "fail"), TaskDescription(name: "camera.scan"),
        TaskDescription(name: "subtract"),
    ])
    bench.host.onStart = { started in
        if started.work == .describe { answerDescription(started, bench) }
        guard case .task(let index) = started.work else { return }
        switch index {
        case 4, 6: Array(started.options.utf8).withUnsafeBytes { bench.instance.reply(started.handle, $0) }
        case 5: bench.instance.fail(started.handle, BridgeError("door.locked", "it is locked", data: ["door": 1]))
        case 7:
            let options = try? JSON(parsing: started.options)
            let difference = (options?["minuend"]?.int64Value ?? 0) - (options?["subtrahend"]?.int64Value ?? 0)
            Array("\(difference)".utf8).withUnsafeBytes { bench.instance.reply(started.handle, $0) }
        default: break
        }
    }
    return bench
}

private func answerDescription(_ started: FakeHost.Started, _ bench: Bench) {
    let subtract = #"{"options":{"type":"object","properties":{"minuend":{},"subtrahend":{}}}}"#
    let answer = #"{"tasks":[{},{},{},{},{},{},{},\#(subtract)]}"#
    Array(answer.utf8).withUnsafeBytes { bench.instance.reply(started.handle, $0) }
}

@Suite("A call in each dialect")
struct DialectCallTests {
    let bench = dialectBench()
    let client: FakeClient

    init() { client = bench.client() }

    private func answer(_ line: String) -> JSON? {
        client.send(line)
        return client.readOne()
    }

    private func task(_ line: String) -> [JSON] {
        client.send(line)
        return client.read()
    }

    @Test("is answered in that dialect")
    func results() {
        #expect(
            answer(#"{"handlerName":"echo","data":{"a":1},"callbackId":"cb_1_171"}"#)
                == ["responseId": "cb_1_171", "responseData": ["a": 1]])
        #expect(
            answer(#"{"jsonrpc":"2.0","method":"echo","params":{"a":1},"id":7}"#)
                == ["jsonrpc": "2.0", "id": 7, "result": ["a": 1]])
        #expect(
            answer(#"{"url":"jxaction://echo?method=aaa&x=%E5%BC%B9","callbackId":"c1"}"#)
                == ["callbackId": "c1", "result": ["method": "aaa", "x": "弹"]])
        #expect(
            answer(#"{"funName":"echo","value":"v","callbackId":"c2"}"#)
                == ["callbackId": "c2", "result": ["value": "v"]])
        #expect(
            answer(#"{"callbackId":"7","pluginId":"camera","methodName":"scan","options":{"a":1}}"#) == [
                "callbackId": "7", "pluginId": "camera", "methodName": "scan", "save": false, "success": true,
                "data": ["a": 1],
            ])
        #expect(answer(#"{"task":"echo","options":1,"callbackId":1}"#) == ["callbackId": 1, "result": 1])
    }

    @Test("gets its error in that dialect, with our code")
    func errors() {
        let error: JSON = ["code": "door.locked", "message": "it is locked", "data": ["door": 1]]
        #expect(
            answer(#"{"handlerName":"fail","callbackId":"c"}"#)
                == ["responseId": "c", "responseData": ["error": error]])
        #expect(
            answer(#"{"jsonrpc":"2.0","method":"fail","id":"c"}"#) == [
                "jsonrpc": "2.0", "id": "c",
                "error": [
                    "code": -32000, "message": "it is locked", "data": ["code": "door.locked", "data": ["door": 1]],
                ],
            ])
        #expect(answer(#"{"url":"jxaction://fail","callbackId":"c"}"#) == ["callbackId": "c", "error": error])
        #expect(answer(#"{"funName":"fail","callbackId":"c"}"#) == ["callbackId": "c", "error": error])
        let none = answer(#"{"callbackId":"c","pluginId":"no","methodName":"such.method","options":{}}"#)
        #expect(none?["success"] == false && none?["error"]?["code"] == "UNIMPLEMENTED")
        #expect(none?["pluginId"] == "no.such" && none?["methodName"] == "method")
    }

    @Test("sends progress in that dialect")
    func progress() {
        client.send(#"{"handlerName":"work","callbackId":"a","progress":true}"#)
        client.send(#"{"jsonrpc":"2.0","method":"work","id":"a","progress":true}"#)
        client.send(#"{"callbackId":"a","pluginId":"","methodName":"x","progress":true}"#)
        client.send(#"{"funName":"work","callbackId":"a","progress":true}"#)
        _ = client.read()
        for index in bench.host.started.indices { bench.progress(index, "0.5") }
        #expect(
            client.read() == [
                ["responseId": "a", "progress": 0.5, "sequence": 0],
                ["jsonrpc": "2.0", "method": "$/progress", "params": ["id": "a", "progress": 0.5, "sequence": 0]],
                ["callbackId": "a", "progress": 0.5, "sequence": 0],
            ])
    }

    @Test("has an id of its own: the same one in two dialects is two calls")
    func ids() {
        let lines = [
            #"{"task":"work","callbackId":"a"}"#, #"{"handlerName":"work","callbackId":"a"}"#,
            #"{"jsonrpc":"2.0","method":"work","id":"a"}"#, #"{"funName":"work","callbackId":"a"}"#,
            #"{"url":"jxaction://work","callbackId":"a"}"#,
        ]
        for line in lines { #expect(task(line).isEmpty) }
        #expect(bench.host.started.count == 5)
        // A second one in the same dialect is one too many, and does not pass for the first one's end.
        for line in lines {
            let refusal = answer(line)
            let text = refusal?.text ?? ""
            #expect(text.contains("call.duplicate") && text.contains(#""callbackId":"a""#), "\(text)")
            #expect(refusal?["callbackId"] ?? refusal?["id"] ?? refusal?["responseId"] == .null)
        }
        for index in 0..<5 { bench.reply(index, "\(index)") }
        #expect(
            client.read() == [
                ["callbackId": "a", "result": 0], ["responseId": "a", "responseData": 1],
                ["jsonrpc": "2.0", "id": "a", "result": 2], ["callbackId": "a", "result": 3],
                ["callbackId": "a", "result": 4],
            ])
    }

    @Test("without an id is never answered")
    func oneWay() {
        for line in [
            #"{"handlerName":"echo"}"#, #"{"jsonrpc":"2.0","method":"echo"}"#, #"{"funName":"echo"}"#,
            #"{"url":"jxaction://echo"}"#, #"{"pluginId":"camera","methodName":"scan","callbackId":"-1"}"#,
            #"{"jsonrpc":"2.0","method":"no.such"}"#, #"{"handlerName":"no.such"}"#,
        ] { #expect(task(line).isEmpty, "\(line)") }
    }

    @Test("can be cancelled in that dialect, and in no other")
    func cancelling() {
        client.send(#"{"handlerName":"work","callbackId":"a"}"#)
        client.send(#"{"jsonrpc":"2.0","method":"work","id":"a"}"#)
        client.send(#"{"funName":"work","callbackId":"a"}"#)
        #expect(task(#"{"cancel":"a"}"#).isEmpty)
        let first = task(#"{"handlerName":"bridge.cancel","data":{"callbackId":"a"},"callbackId":"b"}"#)
        #expect(first.first?["responseData"]?["error"]?["code"] == "call.cancelled")
        #expect(first.last == ["responseId": "b", "responseData": ["cancelled": true]])
        let second = task(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"a"}}"#)
        #expect(second.map { $0["error"]?["data"]?["code"] } == ["call.cancelled"])
        let third = task(#"{"funName":"bridge.cancel","value":{"callbackId":"a"}}"#)
        #expect(third.map(\.errorCode) == ["call.cancelled"])
        #expect(
            answer(#"{"task":"bridge.cancel","options":{"callbackId":"a"},"callbackId":1}"#)
                == ["callbackId": 1, "result": ["cancelled": false]])
    }

    @Test("says in that dialect what is wrong with it, what was seen and what was expected")
    func mismatches() {
        let bridge = answer(#"{"handlerName":7,"data":{},"callbackId":"c"}"#)
        #expect(bridge?["responseId"] == "c")
        #expect(bridge?["responseData"]?["error"]?["code"] == "message.invalid")
        let text = bridge?["responseData"]?["error"]?["message"]?.stringValue ?? ""
        #expect(text.contains("handlerName must be a string") && text.contains("handlerName, data, callbackId"))
        // Half a message, described by the part that came.
        #expect(answer(#"{"method":"echo","params":{},"id":3}"#)?["error"]?["code"] == -32600)
        #expect(answer(#"{"responseData":{}}"#)?["responseData"]?["error"]?["code"] == "message.invalid")
        #expect(answer(#"{"pluginId":"camera","callbackId":"c"}"#)?["success"] == false)
        // Nothing to go by: the native dialect.
        #expect(answer(#"{"foo":"boo"}"#)?.errorCode == "message.invalid")
    }

    @Test("is of one dialect: two at once are refused, and each is named")
    func mixtures() {
        for (line, names) in [
            (#"{"task":"echo","handlerName":"echo","callbackId":1}"#, ["native", "WebViewJavascriptBridge"]),
            (#"{"jsonrpc":"2.0","method":"echo","funName":"echo","id":1}"#, ["JSON-RPC", "function call"]),
            (#"{"url":"jxaction://echo","result":1,"callbackId":1}"#, ["URL", "native"]),
        ] {
            let refusal = answer(line)
            #expect(refusal?.errorCode == "message.invalid")
            let text = refusal?["error"]?["message"]?.stringValue ?? ""
            for name in names { #expect(text.contains(name), "\(text)") }
        }
        #expect(bench.host.started.isEmpty)
    }
}

@Suite("URLs as calls")
struct URLCallTests {
    let bench = dialectBench()

    private func options(_ url: String) -> JSON? {
        let client = bench.client()
        client.send(JSON.object(["url": .string(url), "callbackId": 1]).text)
        return client.readOne()?["result"]
    }

    @Test(
        "Host and path name the task, the query its options",
        arguments: [
            ("jxaction://echo", [:]), ("JXAction://echo/", [:]), ("jxaction:echo?a", ["a": ""]),
            ("jxaction://camera/scan?a=b=c&d=&e", ["a": "b=c", "d": "", "e": ""]),
            ("jxaction://camera//scan/?a+b=c+d%2B&%C3%A4=%22#a=2", ["a b": "c d+", "ä": "\""]),
            ("jxaction://%65cho?&&a=1&", ["a": "1"]),
            (
                "jxaction://echo?ab=%22&acb=\\&aab=%5C%22&b=&bb=2&ba=3",
                [
                    "ab": "\"", "acb": "\\", "aab": "\\\"", "b": "", "bb": "2", "ba": "3",
                ]
            ),
        ] as [(String, JSON)])
    func good(url: String, expected: JSON) { #expect(options(url) == expected) }

    @Test(
        "What is none is refused with a reason",
        arguments: [
            "https://echo", "echo", "", "jxaction://", "jxaction:///", "jxaction://echo?a=%", "jxaction://echo?a=%f",
            "jxaction://echo?a=%zz", "jxaction://echo?a=%ff", "jxaction://echo?a=1&a=2",
            "jxaction://echo?a=%22&b=%5C&c=3&b=4", "jxaction://echo?=&=", "jxaction://%g",
        ])
    func bad(url: String) {
        let client = bench.client()
        client.send(JSON.object(["url": .string(url), "callbackId": 1]).text)
        let refusal = client.readOne()
        #expect(refusal?.errorCode == "message.invalid")
        #expect(refusal?["callbackId"] == 1)
    }

    @Test("Which schemes are calls can change while clients are connected")
    func schemes() {
        bench.decoder.urlSchemes = []
        #expect(options("jxaction://echo") == nil)
        bench.decoder.urlSchemes = ["other"]
        #expect(options("other://echo") == [:])
    }
}

@Suite("JSON-RPC 2.0")
struct JSONRPCTests {
    let bench = dialectBench()
    let client: FakeClient

    init() {
        client = bench.client()
        // From here on the connection has spoken JSON-RPC, and nothing else.
        client.send(#"{"jsonrpc":"2.0","method":"echo","id":0}"#)
        _ = client.read()
    }

    private func answer(_ line: String) -> JSON? {
        client.send(line)
        return client.readOne()
    }

    private func invalid(_ answer: JSON?, _ number: Int64, id: JSON = .null) -> Bool {
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

    @Test("Required parameters by position come before optional ones, whatever the schema's order is")
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

    // What the examples leave open.

    @Test("A batch is answered once all of its calls have ended, whenever that is")
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

    @Test("A batch whose results are more than may wait is answered all the same, with errors for the rest")
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
        "Ids are handed back as they came",
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

    /// A client that provides the task `pay`, which it says to have these options.
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

    @Test("Who gets a call says what its positional parameters are called, nobody else, whoever registered last")
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
        // Nobody may serve a third one: nothing is described to that.
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

    @Test("Who has named the parameters gets the call, also where another would when interceptors have been asked")
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

    @Test("More positional parameters than a task has names are its options' fault")
    func tooMany() {
        let refusal = answer(#"{"jsonrpc":"2.0","method":"subtract","params":[1,2,3],"id":1}"#)
        #expect(refusal?["error"]?["code"] == -32602)
        #expect(refusal?["error"]?["data"]?["data"]?["path"] == "$[2]")
        #expect(answer(#"{"jsonrpc":"2.0","method":"subtract","params":[7],"id":1}"#)?["result"] == 7)
    }

    @Test("A call waits until its options' names are known; cancelled meanwhile, it is not begun")
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

    @Test("A connection that has spoken anything else too gets the native form for what cannot be read")
    func mixedConnection() {
        client.send(#"{"task":"echo","callbackId":1}"#)
        _ = client.read()
        #expect(answer("nonsense")?["callbackId"] == .null)
        #expect(answer("[1]")?.errorCode == "message.invalid")
        // A batch that begins with JSON-RPC is one nevertheless, and so is what is no message in it.
        let batch = answer(#"[{"jsonrpc":"2.0","method":"echo","id":1},7]"#)?.arrayValue
        #expect(batch?.count == 2)
        #expect(batch?.last?["error"]?["code"] == -32600)
    }
}

@Suite("Providers and events in other dialects")
struct DialectProviderTests {
    let bench = dialectBench()

    @Test("A client is called in the dialect in which it registered, and answers in it")
    func webViewProvider() throws {
        let provider = bench.client()
        let caller = bench.client()
        provider.send(#"{"handlerName":"bridge.register","data":{"tasks":["show"]},"callbackId":"r"}"#)
        #expect(provider.readOne()?["responseData"] == ["tasks": ["show"]])
        caller.send(#"{"task":"show","options":{"x":1},"callbackId":1,"progress":true}"#)
        caller.send(#"{"task":"show","callbackId":2}"#)
        caller.send(#"{"task":"show","callbackId":3}"#)
        let calls = provider.read()
        #expect(calls.map { $0["handlerName"] } == ["show", "show", "show"])
        #expect(calls[0]["data"] == ["x": 1] && calls[0]["progress"] == true)
        let ids = try calls.map { try #require($0["callbackId"]?.stringValue) }
        provider.send(#"{"responseId":"\#(ids[0])","progress":0.5,"sequence":0}"#)
        provider.send(#"{"responseId":"\#(ids[0])","responseData":{"ok":true}}"#)
        provider.send(#"{"responseId":"\#(ids[1])","responseData":{"error":{"code":"a.b","message":"m"}}}"#)
        provider.send(#"{"responseId":"\#(ids[1])","responseData":"again"}"#)
        caller.send(#"{"cancel":3}"#)
        #expect(
            caller.read() == [
                ["callbackId": 1, "progress": 0.5, "sequence": 0], ["callbackId": 1, "result": ["ok": true]],
                ["callbackId": 2, "error": ["code": "a.b", "message": "m"]],
                [
                    "callbackId": 3,
                    "error": [
                        "code": "call.cancelled", "message": "the caller cancelled the call", "data": ["started": true],
                    ],
                ],
            ])
        #expect(provider.read() == [["handlerName": "bridge.cancel", "data": ["callbackId": .string(ids[2])]]])
        #expect(bench.runtime.statistics.droppedReplies == 1)
    }

    @Test("JSON-RPC errors of a provider become ours")
    func rpcProvider() throws {
        let provider = bench.client()
        let caller = bench.client()
        provider.send(#"{"jsonrpc":"2.0","method":"bridge.register","params":{"tasks":["sum"]},"id":1}"#)
        _ = provider.read()
        let answers = [
            (#""result":3"#, nil), (#""error":{"code":-32602,"message":"m","data":[1]}"#, "options.invalid"),
            (#""error":{"code":-32000,"message":"m","data":{"code":"own.code","data":7}}"#, "own.code"),
            (#""error":{"code":5,"message":"m"}"#, "jsonrpc.error"), (#""error":{"code":"5"}"#, "reply.invalid"),
            (#""error":{"code":5,"message":"m"},"result":1"#, "reply.invalid"),
            (#""error":{"code":5,"message":"\#(String(repeating: "x", count: 65_536))"}"#, "reply.invalid"),
        ]
        for (answer, code) in answers {
            caller.send(#"{"task":"sum","options":7,"callbackId":1}"#)
            let call = try #require(provider.readOne())
            #expect(call["method"] == "sum" && call["params"] == [7])
            let id = try #require(call["id"]?.int64Value)
            provider.send(#"{"jsonrpc":"2.0",\#(answer),"id":\#(id)}"#)
            let callback = caller.readOne()
            #expect(callback?.errorCode == code)
            if code == nil { #expect(callback?["result"] == 3) }
        }
        caller.send(#"{"task":"sum","callbackId":1,"progress":true}"#)
        let id = try #require(provider.readOne()?["id"]?.int64Value)
        provider.send(#"{"jsonrpc":"2.0","method":"$/progress","params":{"id":\#(id),"progress":"half"}}"#)
        #expect(caller.readOne()?["progress"] == "half")
        provider.send(
            #"{"jsonrpc":"2.0","method":"$/progress","params":{"sequence":7,"progr\u0065ss":[1, 2],"id":\#(id)}}"#)
        #expect(caller.readOne()?["progress"] == [1, 2])
        let long = JSON.array(Array(repeating: "x", count: 40_000))
        provider.send(
            #"{"jsonrpc":"2.0","method":"$/progress","params":{"progress":\#(long.text),"id":\#(id)}}"#)
        #expect(caller.readOne()?["progress"] == long)
        for strange in ["1e0", "-1", "1.5", "null", "{}", "\(id),\"id\":\(id)"] {
            provider.send(#"{"jsonrpc":"2.0","method":"$/progress","params":{"id":\#(strange),"progress":1}}"#)
            #expect(provider.readOne()?["error"]?["code"] == -32600)
        }
        caller.send(#"{"cancel":1}"#)
        #expect(
            provider.readOne() == [
                "jsonrpc": "2.0", "method": "$/cancelRequest", "params": ["id": .number(JSONNumber(id))],
            ])
    }

    @Test("Capacitor and function calls are provided in their forms")
    func otherProviders() throws {
        let page = bench.client()
        let caller = bench.client()
        page.send(
            #"{"callbackId":"1","pluginId":"bridge","methodName":"register","options":{"tasks":["ui.alert.show"]}}"#)
        page.send(#"{"funName":"bridge.register","value":{"tasks":["f"]},"callbackId":"2"}"#)
        #expect(page.read().count == 2)
        caller.send(#"{"task":"ui.alert.show","options":{"x":1},"callbackId":1,"progress":true}"#)
        let call = try #require(page.readOne())
        #expect(call["pluginId"] == "ui.alert" && call["methodName"] == "show" && call["options"] == ["x": 1])
        let id = try #require(call["callbackId"]?.stringValue)
        let head = #"{"callbackId":"\#(id)","pluginId":"ui.alert","methodName":"show""#
        page.send(head + #","save":true,"success":true,"data":1}"#)
        page.send(head + #","save":false,"success":false,"error":{"code":"x.y","message":"m"}}"#)
        #expect(
            caller.read() == [
                ["callbackId": 1, "progress": 1, "sequence": 0],
                ["callbackId": 1, "error": ["code": "x.y", "message": "m"]],
            ])
        caller.send(#"{"task":"f","options":{"x":1},"callbackId":1}"#)
        let function = try #require(page.readOne())
        #expect(function["funName"] == "f" && function["value"] == ["x": 1])
        page.send(#"{"callbackId":\#(function["callbackId"]?.text ?? ""),"result":9}"#)
        #expect(caller.readOne() == ["callbackId": 1, "result": 9])
    }

    @Test("Events come in the dialect of the subscription")
    func events() {
        let clients = [
            #"{"task":"bridge.subscribe","options":{"events":["door.*"]},"callbackId":1}"#,
            #"{"handlerName":"bridge.subscribe","data":{"events":["door.*"]},"callbackId":1}"#,
            #"{"jsonrpc":"2.0","method":"bridge.subscribe","params":{"events":["door.*"]},"id":1}"#,
        ].map { line in
            let client = bench.client()
            client.send(line)
            _ = client.read()
            return client
        }
        bench.runtime.publish("door.opened", data: 7)
        #expect(
            clients.map { $0.readOne() } == [
                ["event": "door.opened", "data": 7], ["handlerName": "door.opened", "data": 7],
                ["jsonrpc": "2.0", "method": "door.opened", "params": ["data": 7]],
            ])
        bench.runtime.publish("door.shut", data: ["by": "ada"])
        #expect(clients[2].readOne()?["params"] == ["by": "ada"])
    }

    @Test("A session that goes to another daemon keeps its dialects")
    func handover() throws {
        let client = bench.client()
        client.send(#"{"handlerName":"bridge.subscribe","data":{"events":["e"]},"callbackId":1}"#)
        client.send(#"{"handlerName":"bridge.register","data":{"tasks":["mine"]},"callbackId":2}"#)
        _ = client.read()
        let record = bench.runtime.record(of: client.session)
        let providers = bench.runtime.providers(among: [client.session.number])
        let next = Bench()
        let session = next.runtime.resume(record, peer: client.session.peer, transport: client.transport)
        #expect(next.runtime.restore(providers).isEmpty)
        next.runtime.publish("e", data: 1)
        let caller = next.client()
        caller.send(#"{"task":"mine","callbackId":1}"#)
        let text = String(decoding: session.output.bytes, as: UTF8.self)
        let lines = text.split(separator: "\n").compactMap { try? JSON(parsing: String($0)) }
        #expect(lines.map { $0["handlerName"] } == ["e", "mine"])
    }
}
