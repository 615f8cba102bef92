import BridgeJSON
import Testing

@Suite("Writing JSON")
struct WriterTests {
    @Test("A value is one line without white space, with only the escapes that JSON requires")
    func compact() {
        let json: JSON = ["a": [1, true, nil, [:], []], "b\n": "\"\\/\u{8}\u{C}\n\r\t\u{0}\u{1F}\u{7F}é\u{2028}"]
        #expect(
            json.text
                == #"{"a":[1,true,null,{},[]],"b\n":"\"\\/\b\f\n\r\t\u0000\u001f"# + "\u{7F}é\u{2028}" + #""}"#)
        #expect(json.bytes == Array(json.text.utf8))
    }

    @Test("Writing appends to the output")
    func appends() {
        var output = Array("x".utf8)
        JSON.array([1]).write(to: &output)
        JSONText.appendQuoted("a\"", to: &output)
        #expect(output == Array(#"x[1]"a\"""#.utf8))
    }

    @Test("The printer writes one member or element a line")
    func printer() {
        let json: JSON = ["a": 1, "b": [true, nil], "c": [:], "d": [], "e": ["f": "g"]]
        let expected = """
            {
              "a": 1,
              "b": [
                true,
                null
              ],
              "c": {},
              "d": [],
              "e": {
                "f": "g"
              }
            }
            """
        #expect(JSONPrinter().print(json) == expected)
        #expect(JSONPrinter(indent: 0).print([1, 2]) == "[\n1,\n2\n]")
        #expect(JSONPrinter().print("a\n") == #""a\n""#)
    }

    @Test("The printer escapes characters that control terminals or change the direction of text, also in keys")
    func controls() throws {
        let hostile = "\u{7F}\u{80}\u{9B}31m\u{9F}\u{61C}\u{200E}\u{200F}\u{2028}\u{202E}\u{2066}\u{2069}"
        let json: JSON = .object([hostile: .string(hostile)])
        let printed = JSONPrinter(indent: 0).print(json)
        let escaped = #""\u007f\u0080\u009b31m\u009f\u061c\u200e\u200f\u2028\u202e\u2066\u2069""#
        #expect(printed == "{\n\(escaped): \(escaped)\n}")
        #expect(try JSON(parsing: printed) == json)
        // Everything else stays as it is.
        #expect(JSONPrinter().print("é€𝄞\u{A0}\u{200D}") == "\"é€𝄞\u{A0}\u{200D}\"")
    }

    @Test("In colour the printer writes the same text between colour codes")
    func colours() throws {
        let json: JSON = ["a": 1, "b": [true, "text"]]
        let coloured = JSONPrinter(colour: true).print(json)
        #expect(coloured.contains("\u{1B}[36m1\u{1B}[0m"))
        let plain = coloured.replacing(#/\x{1B}\[[0-9;]*m/#, with: "")
        #expect(plain == JSONPrinter().print(json))
        #expect(try JSON(parsing: plain) == json)
    }
}
