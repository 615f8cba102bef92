import BridgeJSON
import Testing

@testable import TaskRuntime

// What a provider answers.
extension ProviderTests {
    @Test(
        "Its error goes back as it is; an answer that is none gets an error",
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

    @Test("Its error has at most 65,536 bytes")
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
        "An answer that cannot be read ends the call all the same, and does not pass for the end of a call of the provider's",
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
            // The id is within the array, so nobody knows whose answer it is.
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

    @Test("A call that cannot be read, and progress, end no call that the provider works on")
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
