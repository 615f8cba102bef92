import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

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

    @Test("A provider's JSON-RPC errors are converted to native errors")
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

    @Test("Providers that use Capacitor or function calls are called in their dialect")
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

    @Test("Events are sent in the dialect of the subscription")
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

    @Test("A session that is handed over to another daemon keeps its dialects")
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
