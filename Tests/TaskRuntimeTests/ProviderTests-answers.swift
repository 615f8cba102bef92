import BridgeJSON
import Testing

@testable import TaskRuntime

// Answers of providers.
extension ProviderTests {
    @Test(
        "A provider's error is returned unchanged; an invalid answer becomes an error",
        arguments: [
            (#""error":{"code":"own.code","message":"m","data":{"a":1}}"#, "own.code"),
            (#""error":{"no":"code"}"#, "reply.invalid"), (#""error":"text""#, "reply.invalid"),
            (#""result":1,"error":{"code":"c","message":"m"}"#, "reply.invalid"),
            (#""more":1"#, "reply.invalid"),
        ])
    func errors(answer: String, code: String) throws {
        let provider = provider()
        let caller = bench.client()
        caller.send(#"{"task":"scan","callbackId":1}"#)
        let id = try #require(provider.readOne()?["callbackId"]?.int64Value)
        provider.send(#"{"callbackId":\#(id),\#(answer)}"#)
        #expect(caller.readOne()?.errorCode == code)
    }

    @Test("A provider's error has at most 65,536 bytes")
    func longError() throws {
        let provider = provider()
        let caller = bench.client()
        func error(bytes: Int) throws -> JSON? {
            caller.send(#"{"task":"scan","callbackId":1}"#)
            let id = try #require(provider.readOne()?["callbackId"]?.int64Value)
            let start = #"{"code":"own.code","message":""#
            let text = start + String(repeating: "x", count: bytes - start.utf8.count - 2) + #""}"#
            provider.send(#"{"callbackId":\#(id),"error":\#(text)}"#)
            return caller.readOne()?["error"]
        }
        #expect(try error(bytes: 65_536)?["code"] == "own.code")
        let refused = try error(bytes: 65_537)
        #expect(refused?["code"] == "reply.invalid")
        #expect(refused?["message"] == "the provider answered with an error of more than 65536 bytes")
    }

    @Test(
        "An unreadable answer ends the call; the error for it does not appear to end a call of the provider",
        arguments: [
            #"{"callbackId":ID,"result":"\ud800"}"#, #"{"callbackId":ID,"error":{"code":nonsense}}"#,
            #"{"result":[1,2,"callbackId":ID}"#, #"{"callbackId":ID,"result":\#(String(repeating: "[", count: 200))"#,
        ])
    func unreadable(line: String) throws {
        let provider = provider()
        let caller = bench.client()
        caller.send(#"{"task":"scan","callbackId":1}"#)
        let id = try #require(provider.readOne()?["callbackId"]?.int64Value)
        provider.send(line.replacing("ID", with: "\(id)"))
        guard !line.contains("[1,2,") else {
            // The id is inside the array, so the call of this answer is unknown.
            return #expect(caller.read().isEmpty)
        }
        let answer = caller.readOne()
        #expect(answer?["callbackId"] == 1)
        #expect(answer?.errorCode == "reply.invalid")
        let error = provider.readOne()
        #expect(error?["callbackId"] == .null)
        #expect(error?["error"]?["data"]?["callbackId"]?.int64Value == id)
        provider.send(#"{"callbackId":\#(id),"result":2}"#)
        #expect(caller.read().isEmpty)
    }

    @Test("Unreadable calls and progress do not end the call that the provider works on")
    func unreadableOthers() throws {
        let provider = provider()
        let caller = bench.client()
        caller.send(#"{"task":"scan","callbackId":1}"#)
        let id = try #require(provider.readOne()?["callbackId"]?.int64Value)
        for line in [
            #"{"task":"x","callbackId":ID,"result":no}"#, #"{"callbackId":ID,"progress":no}"#,
            #"{"callbackId":ID,"task":no}"#,
        ] {
            provider.send(line.replacing("ID", with: "\(id)"))
        }
        #expect(caller.read().isEmpty)
        provider.send(#"{"callbackId":\#(id),"result":2}"#)
        #expect(caller.readOne()?["result"] == 2)
    }
}
