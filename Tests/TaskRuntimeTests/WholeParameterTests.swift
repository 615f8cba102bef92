import BridgeJSON
import BridgeMessage
import Testing

@testable import TaskRuntime

@Suite("Tasks whose options are not an object, called by position")
struct WholeParameterTests {
    let bench = dialectBench()
    let client: FakeClient
    let provider: FakeClient

    init() {
        client = bench.client()
        provider = bench.client()
    }

    private func answer(_ line: String) -> JSON? {
        client.send(line)
        return client.readOne()
    }

    /// Sets the schema of the options of the provider's task `whole`.
    private func provide(_ schema: String) {
        provider.send(
            #"{"task":"bridge.register","options":{"tasks":["whole"],"descriptions":{"whole":{"options":\#(schema)}}},"#
                + #""callbackId":0}"#)
        #expect(provider.readOne()?["result"] != nil)
    }

    private func call(_ params: String) {
        client.send(#"{"jsonrpc":"2.0","method":"whole","params":\#(params),"id":1}"#)
    }

    @Test(
        "A single parameter becomes the options",
        arguments: [
            (#"{"type":"string"}"#, #"["x"]"#, #""x""#), (#"{"type":["integer","null"]}"#, "[null]", "null"),
            (#"{"type":"number"}"#, "[1.50]", "1.50"), (#"{"type":"boolean"}"#, "[ true ]", "true"),
            (#"{"type":"string","properties":{"a":{}}}"#, #"["a"]"#, #""a""#),
        ])
    func whole(schema: String, params: String, options: String) throws {
        provide(schema)
        call(params)
        #expect(provider.readOne()?["options"]?.text == options)
        #expect(client.read().isEmpty)
    }

    @Test("Any other number of parameters is refused", arguments: [("[]", 0), (#"["x","y"]"#, 2)])
    func otherNumber(params: String, count: Int) throws {
        provide(#"{"type":"string"}"#)
        call(params)
        let error = try #require(client.readOne()?["error"])
        #expect(error["code"] == -32602)
        #expect(error["message"] == .string("whole takes one parameter, not \(count)"))
        #expect(error["data"]?["data"]?["path"] == "$")
        #expect(provider.read().isEmpty)
    }

    @Test("A parameter that does not match the schema, or is given by name, is refused")
    func misfit() {
        provide(#"{"type":"string"}"#)
        for params in ["[5]", #"{"value":"x"}"#] {
            call(params)
            #expect(client.readOne()?["error"]?["code"] == -32602)
        }
        #expect(provider.read().isEmpty)
    }

    @Test(
        "If options may be an array or an object, or anything, positional parameters are passed as an array",
        arguments: [
            #"{"type":"array"}"#, #"{"type":["string","array"]}"#, #"{"type":["object","string"]}"#, "true",
            #"{"minLength":1}"#,
        ])
    func array(schema: String) {
        provide(schema)
        call("[1]")
        // The array is passed on unchanged, or the schema refuses it as a whole.
        let options = provider.readOne()?["options"]
        #expect(options == [1] || client.readOne()?["error"]?["data"]?["data"]?["path"] == "$")
    }

    @Test("A single parameter becomes the options of a plugin's task as well, once its schema is known")
    func ofPlugin() {
        let bench = Bench()
        let client = bench.client()
        client.send(#"{"jsonrpc":"2.0","method":"work","params":["x"],"id":1}"#)
        bench.reply(0, #"{"tasks":[{"options":{"type":"string"}}]}"#)
        #expect(bench.host.started.map(\.work) == [.describe, .task(0)])
        #expect(bench.host.started[1].options == #""x""#)
    }

    @Test("The single argument of a page's Cordova call becomes the options")
    func ofCordova() {
        provide(#"{"type":"string"}"#)
        client.send(
            #"{"type":"cordova","callbackId":"c1","service":"Trestle","action":"whole","actionArgs":["x"]}"#)
        #expect(provider.readOne()?["options"] == "x")
    }

    @Test("OpenRPC describes one required parameter, by position only")
    func document() throws {
        provide(#"{"type":"string","maxLength":3}"#)
        let document = answer(#"{"jsonrpc":"2.0","method":"rpc.discover","id":1}"#)?["result"]
        let method = try #require(document?["methods"]?.arrayValue?.first { $0["name"] == "whole" })
        #expect(
            method["params"] == [
                ["name": "value", "schema": ["type": "string", "maxLength": 3], "required": true]
            ])
        #expect(method["paramStructure"] == "by-position")
        #expect(method["x-options"] == nil)
        let echo = try #require(document?["methods"]?.arrayValue?.first { $0["name"] == "echo" })
        #expect(echo["params"] == [] && echo["paramStructure"] == nil && echo["x-options"] == true)
    }
}
