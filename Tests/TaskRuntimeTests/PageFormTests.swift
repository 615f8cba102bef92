import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

@Suite("Messages in the forms that pages use")
struct PageFormTests {
    let bench = dialectBench()
    let page: FakeClient

    init() { page = bench.client() }

    private func answer(_ line: String) -> JSON? {
        page.send(line)
        return page.readOne()
    }

    @Test("WebViewJavascriptBridge: a response may contain the name of its handler")
    func response() {
        page.send(#"{"handlerName":"bridge.register","data":{"tasks":["page.color"]},"callbackId":"cb_1_1"}"#)
        _ = page.read()
        let caller = bench.client()
        for (data, result) in [(#""red""#, JSON.string("red")), (#"{"a":1}"#, ["a": 1])] {
            caller.send(#"{"task":"page.color","callbackId":1}"#)
            let id = page.readOne()?["callbackId"]?.text ?? ""
            page.send(#"{"handlerName":"page.color","responseId":\#(id),"responseData":\#(data)}"#)
            #expect(caller.readOne() == ["callbackId": 1, "result": result])
        }
        // For a handler that returns nothing, JSON.stringify omits the member.
        caller.send(#"{"task":"page.color","callbackId":1}"#)
        let id = page.readOne()?["callbackId"]?.text ?? ""
        page.send(#"{"handlerName":"page.color","responseId":\#(id)}"#)
        #expect(caller.readOne() == ["callbackId": 1, "result": nil])
    }

    @Test("WebViewJavascriptBridge: null as data means no options")
    func noData() {
        #expect(answer(#"{"handlerName":"echo","data":null,"callbackId":"c"}"#)?["responseData"] == [:])
    }

    @Test(
        "The answer contains the name of the page's function, with an id and without",
        arguments: ["callback", "callbackFunction"])
    func functionNames(member: String) {
        #expect(
            answer(#"{"funName":"echo","value":{"a":1},"\#(member)":"onCode"}"#)
                == .object([member: "onCode", "result": ["a": 1]]))
        #expect(
            answer(#"{"funName":"echo","value":{"a":1},"\#(member)":"onCode","callbackId":"c1"}"#)
                == .object(["callbackId": "c1", member: "onCode", "result": ["a": 1]]))
        #expect(
            answer(#"{"url":"jxaction://camera/scan?\#(member)=onScan&x=1"}"#)
                == .object([member: "onScan", "result": ["x": "1"]]))
        #expect(
            answer(#"{"url":"jxaction://camera/scan?x=1&\#(member)=on%22Scan","callbackId":7}"#)
                == .object(["callbackId": 7, member: "on\"Scan", "result": ["x": "1"]]))
        #expect(answer(#"{"url":"jxaction://camera/scan?\#(member)=f"}"#)?["result"] == [:])
        let error = answer(#"{"funName":"fail","\#(member)":"onCode"}"#)
        #expect(error?[member] == "onCode" && error?.errorCode == "door.locked")
    }

    @Test("Several calls may name the same function; each is a separate call that its id can cancel")
    func sameFunction() {
        for _ in 1...2 { page.send(#"{"funName":"work","callback":"onCode","progress":true}"#) }
        page.send(#"{"funName":"work","callback":"onCode","callbackId":"c"}"#)
        #expect(page.read().isEmpty)
        bench.progress(0, "5")
        #expect(page.readOne() == ["callback": "onCode", "progress": 5, "sequence": 0])
        for index in 0..<2 { bench.reply(index, "\(index)") }
        #expect(page.read() == [["callback": "onCode", "result": 0], ["callback": "onCode", "result": 1]])
        page.send(#"{"funName":"bridge.cancel","value":{"callbackId":"c"}}"#)
        let cancelled = page.readOne()
        #expect(cancelled?["callback"] == "onCode" && cancelled?["callbackId"] == "c")
        #expect(cancelled?.errorCode == "call.cancelled")
    }

    @Test("The name of a function is a non-empty string of at most 128 bytes; null means no name")
    func badNames() {
        for name in ["7", #""""#, "\"" + String(repeating: "f", count: 129) + "\""] {
            #expect(answer(#"{"funName":"echo","callback":\#(name),"callbackId":1}"#)?.errorCode == "message.invalid")
        }
        #expect(answer(#"{"funName":"echo","callback":null,"callbackId":1}"#) == ["callbackId": 1, "result": [:]])
    }
}

@Suite("JSON-RPC on a fresh connection")
struct FreshRPCTests {
    let bench = dialectBench()

    private func answer(_ line: String, to client: FakeClient? = nil) -> JSON? {
        let client = client ?? bench.client()
        client.send(line)
        return client.readOne()
    }

    private func isError(_ answer: JSON?, _ number: Int) -> Bool {
        answer?["jsonrpc"] == "2.0" && answer?["id"] == .null
            && answer?["error"]?["code"] == .number(JSONNumber(number))
    }

    // The examples of the specification's last chapter, each on its own connection.

    @Test("Invalid JSON that contains \"jsonrpc\" is answered as JSON-RPC")
    func brokenText() {
        #expect(isError(answer(#"{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]"#), -32700))
        let batch = #"[{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},{"jsonrpc": "2.0", "method"]"#
        #expect(isError(answer(batch), -32700))
        #expect(answer(#"{"jsonRPC: 1"#)?["callbackId"] == .null)
    }

    @Test("An empty array, and arrays without messages, are answered as JSON-RPC")
    func arrays() {
        #expect(isError(answer("[]"), -32600))
        for count in [1, 3] {
            let line = "[" + (1...count).map(String.init).joined(separator: ",") + "]"
            let answers = answer(line)?.arrayValue ?? []
            #expect(answers.count == count && answers.allSatisfy { isError($0, -32600) })
        }
    }

    @Test("A connection that has used another dialect gets answers in that dialect")
    func otherDialects() {
        let native = bench.client()
        _ = answer(#"{"task":"echo","callbackId":1}"#, to: native)
        for line in ["[]", "[1]", #"{"jsonrpc": "#] {
            #expect(answer(line, to: native)?["callbackId"] == .null, "\(line)")
        }
    }

    @Test("bridge.hello sets the dialect of answers to messages of no known dialect")
    func hello() {
        let client = bench.client()
        _ = answer(#"{"task":"bridge.hello","options":{"dialect":"JSON-RPC"},"callbackId":1}"#, to: client)
        #expect(isError(answer("[]", to: client), -32600))
        #expect(isError(answer("{", to: client), -32700))
        let native = bench.client()
        _ = answer(#"{"task":"bridge.hello","options":{"dialect":"native"},"callbackId":1}"#, to: native)
        #expect(answer("[]", to: native)?["callbackId"] == .null)
        let none = answer(#"{"task":"bridge.hello","options":{"dialect":"SOAP"},"callbackId":1}"#)
        #expect(none?.errorCode == "options.invalid")
        #expect(none?["error"]?["data"]?["expected"]?.stringValue?.contains("JSON-RPC") == true)
    }

    @Test("The dialect that a session has set is passed on to the next daemon")
    func handover() {
        let client = bench.client()
        _ = answer(#"{"task":"bridge.hello","options":{"dialect":"JSON-RPC"},"callbackId":1}"#, to: client)
        let record = bench.runtime.record(of: client.session)
        let next = Bench()
        let session = next.runtime.resume(record, peer: client.session.peer, transport: client.transport)
        #expect(session.onlyDialect == .jsonRPC)
    }

    @Test(
        "Headers such as those of language servers are refused with an explanation, once for each message",
        arguments: [
            ["Content-Length: 52\r"], ["Content-Type: application/vscode-jsonrpc; charset=utf-8\r"],
            ["Content-Type: application/vscode-jsonrpc\r", "content-length: 52\r"],
            ["Content-Length: 52\r", "Content-Type: application/vscode-jsonrpc\r"],
        ])
    func headers(lines: [String]) throws {
        let client = bench.client()
        // The second message is refused like the first, because there is a call between them.
        for _ in 0..<2 {
            for line in lines { client.send(line) }
            let refusals = client.read()
            #expect(refusals.count == 1)
            #expect(isError(refusals.first, -32700))
            let message = try #require(refusals.first?["error"]?["message"]?.stringValue)
            #expect(message.contains("without headers such as Content-Length"))
            #expect(answer(#"{"jsonrpc":"2.0","method":"echo","id":1}"#, to: client)?["result"] == [:])
        }
        // Other invalid text between two headers also separates them.
        for line in [lines[0], "{", lines[0]] {
            client.send(line)
            #expect(client.read().count == 1)
        }
    }
}
