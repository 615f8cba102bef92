import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

/// Returns a bench whose plugin answers its tasks at once: `echo` with its options, `fail` with an error.
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

    func answer(_ line: String) -> JSON? {
        client.send(line)
        return client.readOne()
    }

    func task(_ line: String) -> [JSON] {
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

    @Test("gets its error in that dialect, with the native error code")
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

    @Test("has an id of its dialect: equal ids in two dialects are two calls")
    func ids() {
        let lines = [
            #"{"task":"work","callbackId":"a"}"#, #"{"handlerName":"work","callbackId":"a"}"#,
            #"{"jsonrpc":"2.0","method":"work","id":"a"}"#, #"{"funName":"work","callbackId":"a"}"#,
            #"{"url":"jxaction://work","callbackId":"a"}"#,
        ]
        for line in lines { #expect(task(line).isEmpty) }
        #expect(bench.host.started.count == 5)
        // A second call in the same dialect is refused, and the refusal does not appear to end the first call.
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

    @Test("that is malformed gets an error in that dialect, which names the members found and expected")
    func mismatches() {
        let bridge = answer(#"{"handlerName":7,"data":{},"callbackId":"c"}"#)
        #expect(bridge?["responseId"] == "c")
        #expect(bridge?["responseData"]?["error"]?["code"] == "message.invalid")
        let text = bridge?["responseData"]?["error"]?["message"]?.stringValue ?? ""
        #expect(text.contains("handlerName must be a string") && text.contains("handlerName, data, callbackId"))
        // An incomplete message is answered in the dialect of the members that it has.
        #expect(answer(#"{"method":"echo","params":{},"id":3}"#)?["error"]?["code"] == -32600)
        #expect(answer(#"{"responseData":{}}"#)?["responseData"]?["error"]?["code"] == "message.invalid")
        #expect(answer(#"{"pluginId":"camera","callbackId":"c"}"#)?["success"] == false)
        // A message of no known dialect is answered in the native dialect.
        #expect(answer(#"{"foo":"boo"}"#)?.errorCode == "message.invalid")
    }

    @Test("is refused if it mixes two dialects; the error names both")
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
