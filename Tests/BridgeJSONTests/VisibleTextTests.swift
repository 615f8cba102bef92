import BridgeJSON
import Testing

@Suite("Text for terminals and logs")
struct VisibleTextTests {
    /// The characters that control terminals or change the direction of text.
    private static let hidden: [UInt32] =
        Array(0..<0x20) + Array(0x7F...0x9F) + [0x61C, 0x200E, 0x200F] + Array(0x2028...0x202E) + Array(0x2066...0x2069)

    @Test("has no character that controls a terminal or changes the direction of text, and keeps all others")
    func characters() {
        for value in Self.hidden {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let text = "a\(scalar)b"
            for shown in [VisibleText.escaped(text), VisibleText.line(text)] {
                #expect(!shown.unicodeScalars.contains(scalar) && shown.hasPrefix("a") && shown.hasSuffix("b"))
            }
        }
        let plain = "äöü 弹窗 😀 \u{A0}\u{200B}\\ \"x\""
        #expect(VisibleText.escaped(plain) == plain && VisibleText.line(plain) == plain)
        #expect(VisibleText.json(plain) == plain)
    }

    @Test("keeps line ends if requested")
    func lines() {
        #expect(VisibleText.escaped("a\n\tb\u{9B}", keepsLines: true) == "a\n\tb\\u{009B}")
        #expect(VisibleText.escaped("a\nb\u{1B}") == #"a\nb\u{1B}"#)
        #expect(VisibleText.line("a\n\tb\r") == "a  b\u{FFFD}")
    }

    @Test("is the same JSON after escaping")
    func json() throws {
        let text = String(String.UnicodeScalarView(Self.hidden.compactMap(Unicode.Scalar.init)))
        let value: JSON = ["key\u{202E}": .string(text), "list": [1, .string("\u{9B}")]]
        let shown = VisibleText.json(value.text)
        #expect(!shown.unicodeScalars.contains { Self.hidden.contains($0.value) })
        #expect(try JSON(parsing: shown) == value)
        #expect(VisibleText.json(#"{"a":"\u001b"}"#) == #"{"a":"\u001b"}"#)
    }
}
