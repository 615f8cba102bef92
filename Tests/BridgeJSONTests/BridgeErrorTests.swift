import BridgeJSON
import Testing

@Suite("The error object")
struct BridgeErrorTests {
    @Test(
        "is read back as it was written",
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

    @Test("omits members without a value")
    func members() {
        #expect(BridgeError(.busy, "B.").json.text == #"{"code":"busy","message":"B."}"#)
        #expect(
            BridgeError(.busy, "B.", isTransient: true, retryAfter: .seconds(2)).json.text
                == #"{"code":"busy","message":"B.","transient":true,"retryAfter":2000}"#)
    }

    @Test("rounds the wait up, so that no caller retries too early, and clamps it")
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
        "requires a code and a message",
        arguments: [
            "null", "{}", #""busy""#, #"{"code":"busy"}"#, #"{"code":1,"message":"m"}"#, #"{"code":"","message":"m"}"#,
        ])
    func noError(_ text: String) throws {
        #expect(BridgeError(json: try JSON(parsing: text)) == nil)
    }

    @Test("ignores members of the wrong type")
    func tolerant() throws {
        let json = try JSON(parsing: #"{"code":"a","message":"m","transient":"yes","retryAfter":"soon","extra":1}"#)
        #expect(BridgeError(json: json) == BridgeError("a", "m"))
        let negative = try JSON(parsing: #"{"code":"a","message":"m","retryAfter":-1}"#)
        #expect(BridgeError(json: negative)?.retryAfter == .zero)
    }

    @Test("contains path, expectation, finding and the known keys of a mismatch, as options.invalid")
    func mismatch() {
        let plain = BridgeError(JSONMismatch(path: "$.a", expected: "a string", got: "null"))
        #expect(plain.code == .optionsInvalid)
        #expect(plain.data == ["path": "$.a", "expected": "a string", "got": "null"])
        #expect(plain.message == "invalid options: $.a: expected a string; got null")
        let unknown = BridgeError(
            JSONMismatch(path: "$.b", expected: "one of the keys a", got: "an unknown key", knownKeys: ["a"]))
        #expect(unknown.data?["known"] == ["a"])
        #expect(unknown.message == "unknown option 'b' (known: a)")
    }

    private struct Query: Decodable {
        struct Condition: Decodable { var field: String }
        var table: String
        var `where`: [Condition]?
    }

    @Test(
        "describes a missing or unknown key in the same words for a type and for a schema",
        arguments: [
            ("{}", "required option 'table' is missing"),
            (#"{"tabel":"a"}"#, "unknown option 'tabel'; did you mean 'table'?"),
            (#"{"where":[]}"#, "required option 'table' is missing"),
            (#"{"table":"a","wher":1}"#, "unknown option 'wher'; did you mean 'where'?"),
            (#"{"table":"a","colour":1}"#, "unknown option 'colour' (known: table, where)"),
            (#"{"table":"a","where":[{}]}"#, "required option 'where[0].field' is missing"),
            (#"{"table":"a","where":[{"feild":1}]}"#, "unknown option 'where[0].feild'; did you mean 'field'?"),
            (
                #"{"table":1}"#, "invalid options: $.table: expected a string; got number 1"
            ),
        ])
    func oneVoice(text: String, message: String) throws {
        let check = try SchemaCheck(
            JSON(
                parsing: #"""
                    {"properties":{"table":{"type":"string"},"where":{"items":{"properties":{"field":{}},
                    "required":["field"],"additionalProperties":false}}},
                    "required":["table"],"additionalProperties":false}
                    """#))
        let byType = #expect(throws: JSONMismatch.self) {
            try JSONCoding.decode(Query.self, text: Array(text.utf8), unknownKeys: .refuse)
        }
        let bySchema = #expect(throws: SchemaMisfit.self) {
            try Array(text.utf8).withUnsafeBytes { try check.check($0) }
        }
        #expect(byType.map { BridgeError($0).message } == message)
        #expect(bySchema.map { BridgeError($0).message } == message)
    }

    @Test("takes no known key for a misspelt one, and no key far back")
    func similar() {
        struct Pair: Decodable {
            var event: String
            var events: [String]?
        }
        func message(_ text: String) -> String? {
            let error = #expect(throws: JSONMismatch.self) { try JSONCoding.decode(Pair.self, text: Array(text.utf8)) }
            return error.map { BridgeError($0).message }
        }
        #expect(message(#"{"events":[]}"#) == "required option 'event' is missing")
        #expect(message(#"{"evnt":[]}"#) == "unknown option 'evnt'; did you mean 'event'?")
        let many = (0..<64).map { "\"x\($0)\":0," }.joined()
        #expect(message("{\(many)\"evnt\":0}") == "required option 'event' is missing")
    }

    @Test("shows a key that is not a plain word as a quoted path")
    func oddKeys() {
        let odd = JSONMismatch(missing: "a.b", expected: "a value", given: ["a.c"])
        #expect(BridgeError(odd).message == #"required option '$["a.b"]' is missing"#)
        #expect(BridgeError(odd, noun: "member").message == #"required member '$["a.b"]' is missing"#)
    }

    @Test("has a code that equals its text")
    func codes() {
        #expect(ErrorCode("busy") == .busy)
        #expect("\(ErrorCode.messageInvalid)" == "message.invalid")
        #expect(ErrorCode(rawValue: "x.y").rawValue == "x.y")
        #expect("\(BridgeError(.busy, "Try later"))" == "Try later (busy)")
    }
}
