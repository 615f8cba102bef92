import BridgeJSON
import BridgeMessage
import Testing

@Suite("The native dialect")
struct NativeDialectTests {
    private func invalid(id: String? = nil) -> [Decoded] { [.problem(code: .messageInvalid, id: id)] }

    @Test("A call has the members that were sent, and defaults for the others")
    func calls() {
        #expect(decode(#"{"task":"Echo"}"#) == [call("Echo")])
        #expect(
            decode(#"{"task":"E","options":[1],"callbackId":"i","timeout":1500,"progress":true,"session":7}"#)
                == [
                    call("E", "[1]", id: "\"i\"", timeout: .milliseconds(1500), progress: true, session: 7)
                ])
        #expect(decode(#"{"task":"E","options":null}"#) == [call("E", "null")])
        #expect(decode(#"{"task":"E","idempotencyKey":"k","unknown":{"a":1},"meta":[]}"#) == [call("E")])
    }

    @Test("Names and keys may be written with escapes")
    func escapes() {
        #expect(decode(#"{"t\u0061sk":"\u0041lert","callbackId":"\u00e9"}"#) == [call("Alert", id: #""\u00e9""#)])
        #expect(decode(#"{"task":"\ud83d\ude00"}"#) == [call("😀")])
    }

    @Test(
        "An id keeps its text",
        arguments: [
            #""a""#, "0", "-7", "12345678901234567890123456789", #""with \"quotes\" and \\""#, #""\u0041""#, "\"é\"",
        ])
    func ids(id: String) {
        #expect(decode(#"{"task":"t","callbackId":\#(id)}"#) == [call("t", id: id)])
    }

    @Test(
        "An invalid id makes the message invalid",
        arguments: [
            "null", "true", "1.5", "1e3", "123.4", "1234.5", "12345e6", "12345678.9", "-12E+34567", "{}", "[]", #""""#,
            #""\#(String(repeating: "x", count: 129))""#,
            String(repeating: "1", count: 129),
        ])
    func badIDs(id: String) {
        #expect(decode(#"{"task":"t","callbackId":\#(id)}"#) == invalid())
    }

    @Test("An id has at most 128 bytes, with escapes counted as their characters")
    func longID() {
        let plain = "\"" + String(repeating: "x", count: 128) + "\""
        #expect(decode(#"{"task":"t","callbackId":\#(plain)}"#) == [call("t", id: plain)])
        let escaped = "\"" + String(repeating: #"\u0041"#, count: 128) + "\""
        #expect(decode(#"{"task":"t","callbackId":\#(escaped)}"#) == [call("t", id: escaped)])
    }

    @Test(
        "An invalid field is reported with the id of its message",
        arguments: [
            #""task":7"#, #""task":"""#, #""task":"t","timeout":0"#, #""task":"t","timeout":-1"#,
            #""task":"t","timeout":1.5"#, #""task":"t","timeout":"5""#, #""task":"t","progress":1"#,
            #""task":"t","session":"s""#, #""task":"t","result":1"#, #""task":"t","cancel":"x""#,
            #""task":"t","event":"e""#, #""task":"t","task":"u""#, #""task":"t","options":1,"options":2"#,
            #""progress":1,"result":2"#,
        ])
    func badFields(fields: String) {
        #expect(decode(#"{"callbackId":"id",\#(fields)}"#) == invalid(id: "\"id\""))
        #expect(decode(#"{\#(fields),"callbackId":"id"}"#) == invalid(id: "\"id\""))
    }

    @Test("A message with two ids is refused, and neither id is returned")
    func twoIDs() {
        #expect(decode(#"{"task":"t","callbackId":"a","callbackId":"b"}"#) == invalid())
    }

    @Test("A timeout that is too long is limited to a year")
    func longTimeout() {
        let line = #"{"task":"t","timeout":99999999999999999999999999}"#
        #expect(decode(line) == [call("t", timeout: .seconds(366 * 24 * 3600))])
    }

    @Test("Callback, progress, cancel and event are distinguished")
    func otherMessages() {
        #expect(decode(#"{"callbackId":1,"result":null}"#) == [.callback(id: "1", result: "null", error: nil)])
        #expect(
            decode(#"{"callbackId":1,"error":{"code":"c"}}"#)
                == [.callback(id: "1", result: nil, error: #"{"code":"c"}"#)])
        #expect(decode(#"{"callbackId":1}"#) == [.callback(id: "1", result: nil, error: nil)])
        #expect(
            decode(#"{"callbackId":1,"result":1,"error":2}"#) == [.callback(id: "1", result: "1", error: "2")])
        #expect(
            decode(#"{"callbackId":"x","progress":[1],"sequence":9}"#)
                == [.progress(id: "\"x\"", value: "[1]", sequence: 9)])
        #expect(decode(#"{"cancel":"x"}"#) == [.cancel(id: "\"x\"")])
        #expect(decode(#"{"event":"e"}"#) == [.event(name: "e", data: "null")])
    }

    @Test("A line that is neither object nor array is invalid", arguments: ["1", "null", "\"task\"", "true"])
    func scalars(line: String) {
        #expect(decode(line) == invalid())
    }

    @Test("Each message of a batch is decoded separately, and each invalid item is reported separately")
    func batch() {
        #expect(
            decode(#"[{"task":"a"},7,{"task":"b","callbackId":1},{"x":1},[]]"#)
                == [call("a")] + invalid() + [call("b", id: "1")] + invalid() + invalid())
        #expect(decode("[]") == invalid())
    }

    @Test("A handler may stop within a batch and receives the offset from which to resume")
    func stoppedBatch() {
        let decoder = MessageDecoder()
        let line = #"[{"task":"a"}, {"task":"b"}, {"task":"c"}]"#
        let outcome = withPadding(Array(line.utf8)) { bytes in
            decoder.decode(.line(bytes)) { _ in false }
        }
        #expect(outcome == .stopped(offset: 15))
        #expect(decode("[" + line.dropFirst(15)) == [call("b"), call("c")])
    }

    @Test("Any number of unknown fields is ignored")
    func manyFields() {
        let fields = (0..<300).map { #""f\#($0)":\#($0)"# }.joined(separator: ",")
        #expect(decode("{\(fields),\"task\":\"t\"}") == [call("t")])
    }
}
