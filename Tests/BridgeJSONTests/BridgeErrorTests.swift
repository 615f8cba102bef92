import BridgeJSON
import Testing

@Suite("The error object")
struct BridgeErrorTests {
    @Test(
        "It reads back as it was written",
        arguments: [
            BridgeError(.busy, "Busy.", isTransient: true, retryAfter: .milliseconds(250)),
            BridgeError("scan.blurred", "The picture is blurred.", data: ["frames": [1, 2]]),
            BridgeError(.internal, ""), BridgeError(.optionsInvalid, "a\nb", data: .null),
            BridgeError(.busy, "", retryAfter: .zero),
        ])
    func roundTrip(_ error: BridgeError) throws {
        #expect(BridgeError(json: error.json) == error)
        var bytes: [UInt8] = []
        error.write(to: &bytes)
        #expect(BridgeError(json: try JSON(parsing: bytes)) == error)
    }

    @Test("Members that say nothing are left out")
    func members() {
        #expect(BridgeError(.busy, "B.").json.text == #"{"code":"busy","message":"B."}"#)
        #expect(
            BridgeError(.busy, "B.", isTransient: true, retryAfter: .seconds(2)).json.text
                == #"{"code":"busy","message":"B.","transient":true,"retryAfter":2000}"#)
    }

    @Test("The wait is rounded up, never negative, and bounded: who waits so long does not come too early")
    func retryAfter() {
        func written(_ duration: Duration) -> JSON? { BridgeError(.busy, "", retryAfter: duration).json["retryAfter"] }
        #expect(written(.microseconds(1)) == 1)
        #expect(written(.milliseconds(3)) == 3)
        #expect(written(.microseconds(3001)) == 4)
        #expect(written(.milliseconds(-5)) == 0)
        #expect(written(.seconds(Int64.max)) == .number(JSONNumber(Int64.max)))
        #expect(written(.seconds(Int64.min)) == 0)
    }

    @Test(
        "What has no code and message is no error",
        arguments: [
            "null", "{}", #""busy""#, #"{"code":"busy"}"#, #"{"code":1,"message":"m"}"#, #"{"code":"","message":"m"}"#,
        ])
    func noError(_ text: String) throws {
        #expect(BridgeError(json: try JSON(parsing: text)) == nil)
    }

    @Test("Members of the wrong type are passed over")
    func tolerant() throws {
        let json = try JSON(parsing: #"{"code":"a","message":"m","transient":"yes","retryAfter":"soon","extra":1}"#)
        #expect(BridgeError(json: json) == BridgeError("a", "m"))
        let negative = try JSON(parsing: #"{"code":"a","message":"m","retryAfter":-1}"#)
        #expect(BridgeError(json: negative)?.retryAfter == .zero)
    }

    @Test("A mismatch becomes options.invalid, with place, expectation, finding, and the known keys")
    func mismatch() {
        let plain = BridgeError(JSONMismatch(path: "$.a", expected: "a string", got: "null"))
        #expect(plain.code == .optionsInvalid)
        #expect(plain.data == ["path": "$.a", "expected": "a string", "got": "null"])
        #expect(plain.message == "the options do not fit: at $.a a string was expected, not null")
        let unknown = BridgeError(
            JSONMismatch(path: "$.b", expected: "one of the keys a", got: "an unknown key", knownKeys: ["a"]))
        #expect(unknown.data?["known"] == ["a"])
    }

    @Test("A code is its text")
    func codes() {
        #expect(ErrorCode("busy") == .busy)
        #expect("\(ErrorCode.messageInvalid)" == "message.invalid")
        #expect(ErrorCode(rawValue: "x.y").rawValue == "x.y")
        #expect("\(BridgeError(.busy, "Try later"))" == "Try later (busy)")
    }
}
