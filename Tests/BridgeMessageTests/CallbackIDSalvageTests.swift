import BridgeJSON
import BridgeMessage
import Testing

@Suite("The id of a line that is not JSON")
struct CallbackIDSalvageTests {
    private func id(of line: String) -> String? {
        guard case .problem(_, let id)? = decode(line).first else {
            Issue.record("this passed: \(line)")
            return nil
        }
        return id
    }

    @Test(
        "is found if it is complete and at the top level",
        arguments: [
            (#"{"callbackId":"a","task":}"#, "\"a\""), (#"{"callbackId":7,"task":tru}"#, "7"),
            (#"{"options":{"callbackId":"inner","x":[1,2,{}]},"callbackId":"outer","y":}"#, "\"outer\""),
            (#"{ "text" : "a \" , } quote" , "callbackId" : -5 , bad"#, "-5"),
            (#"{"callbackId":"a""#, "\"a\""), (#"{"callbackId":0,x}"#, "0"), (#"{"callbackId":-0,x}"#, "-0"),
        ])
    func found(line: String, expected: String) {
        #expect(id(of: line) == expected)
    }

    @Test(
        "is not found if it is incomplete, nested, escaped or invalid",
        arguments: [
            #"{"callbackId":"a"#, #"{"callbackId":7"#, #"{"callbackId":{"a":1},x}"#, #"{"options":{"callbackId":"a",}"#,
            #"["callbackId","a""#, #"{"callbackId":"\u0041",x}"#, #"{"text":"callbackId":"a"}"#, "callbackId",
            #"{"callbackId":1.5,x}"#, #"{"callbackId":"",x}"#, #"{"a":1}},"callbackId":"b"}"#,
            // These are not JSON numbers. An answer that contained one would not be JSON either.
            #"{"callbackId":00,"task":"t"}"#, #"{"callbackId":007,"task":"t"}"#, #"{"callbackId":-01,"task":"t"}"#,
        ])
    func notFound(line: String) {
        #expect(id(of: line) == nil)
    }

    @Test("is found in the kept beginning of a line that was too long")
    func tooLong() {
        let long = #"{"callbackId":"big","task":"t","options":""# + String(repeating: "x", count: 70_000) + "\"}"
        let decoder = MessageDecoder()
        var items: [Decoded] = []
        var splitter = MessageSplitter(maximumLineBytes: 1000)
        _ = withPadding(Array((long + "\n").utf8)) { piece in
            splitter.consume(piece) { line in
                _ = decoder.decode(line) {
                    items.append(Decoded($0))
                    return true
                }
                return true
            }
        }
        #expect(items == [.problem(code: .messageTooLarge, id: "\"big\"")])
    }
}
