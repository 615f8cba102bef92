import BridgeJSON
import Testing

@Suite("A JSON-RPC notification other than a call")
struct JSONRPCNotificationTests {
    private func notification(_ method: String, _ params: String) -> String {
        #"{"jsonrpc":"2.0","method":"$/\#(method)","params":\#(params)}"#
    }

    /// Returns an object of `bytes` bytes: these members and one that fills it up.
    private func object(_ members: String, bytes: Int) -> String {
        let start = "{" + members + #","more":""#
        return start + String(repeating: "x", count: bytes - start.utf8.count - 2) + #""}"#
    }

    @Test("cancels with at most 65,536 bytes of parameters")
    func cancel() {
        let id = #""id":"a""#
        #expect(decode(notification("cancelRequest", object(id, bytes: 65_536))) == [.cancel(id: #""a""#)])
        #expect(
            decode(notification("cancelRequest", object(id, bytes: 65_537)))
                == [.problem(code: .messageInvalid, id: nil)])
    }

    @Test("reports progress of any length, byte for byte")
    func progress() {
        let numbers = Array(repeating: "1.50e+00", count: 30_000).joined(separator: " ,")
        for value in ["[ \(numbers) ]", #"{"id":9,"a":"}\"","b":[{}, "]"]}"#, #""\u0061\/""#, "-1.50", "null"] {
            for params in [
                #"{"id":7,"progress":\#(value),"sequence":3}"#, #"{ "progress" : \#(value) , "sequence":3, "id":7 }"#,
                #"{"more":[\#(value)],"sequence":3,"\u0069d":7,"progr\u0065ss":\#(value)}"#,
            ] {
                #expect(
                    decode(notification("progress", params)) == [.progress(id: "7", value: value, sequence: 3)],
                    "\(params.prefix(100))")
            }
        }
        #expect(decode(notification("progress", #"{"id":7}"#)) == [.progress(id: "7", value: "null", sequence: 0)])
    }

    @Test("reports progress with at most 16 members")
    func members() {
        func params(_ more: Int) -> String {
            "{" + (0..<more).map { "\"m\($0)\":0," }.joined() + #""id":7,"progress":1}"#
        }
        #expect(decode(notification("progress", params(14))) == [.progress(id: "7", value: "1", sequence: 0)])
        #expect(decode(notification("progress", params(15))) == [.problem(code: .messageInvalid, id: nil)])
    }

    @Test("is refused if a name occurs twice or the parameters are invalid")
    func twice() {
        for params in [
            #"{"id":7,"id":7}"#, #"{"id":7,"progress":1,"progress":1}"#, #"{"id":7,"sequence":1,"s\u0065quence":1}"#,
            "{}", "[]", "[7]",
        ] {
            #expect(
                decode(notification("progress", params)) == [.problem(code: .messageInvalid, id: nil)], "\(params)")
        }
        for params in [#"{"id":7,"id":7}"#, #"{"id":{}}"#, "{}", "[7]"] {
            #expect(
                decode(notification("cancelRequest", params)) == [.problem(code: .messageInvalid, id: nil)],
                "\(params)")
        }
    }
}
