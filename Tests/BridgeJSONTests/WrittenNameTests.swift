import Testing

@testable import BridgeJSON

@Suite("A name written with escapes")
struct WrittenNameTests {
    private func isSame(_ written: String, _ name: String) -> Bool {
        Array(written.utf8).withUnsafeBytes { written in
            Array(name.utf8).withUnsafeBytes { WrittenName.isSame(written, as: $0) }
        }
    }

    @Test(
        "is equal by its bytes, in any spelling",
        arguments: [
            ("event", "event"), (#"\u0065vent"#, "event"), (#"\u0065\u0076\u0065\u006E\u0074"#, "event"),
            (#"a\/b\\c\"d"#, "a/b\\c\"d"), (#"\b\f\n\r\t"#, "\u{8}\u{C}\n\r\t"), (#"\u00e9"#, "\u{E9}"),
            (#"\ud83d\ude00x"#, "\u{1F600}x"), (#"\u0000"#, "\0"), ("", ""),
        ])
    func same(_ written: String, _ name: String) {
        #expect(isSame(written, name))
    }

    @Test(
        "is not equal if it differs or is broken",
        arguments: [
            ("even", "event"), ("events", "event"), (#"\u0065ven"#, "event"), (#"\u0065vents"#, "event"),
            (#"event\n"#, "event"), (#"\u0045vent"#, "event"), (#"\ud83d"#, "\u{1F600}"),
            (#"\ud83d\u0041"#, "\u{1F600}"), (#"\ude00"#, "\u{FFFD}"), ("\\", "\\"),
            (#"\u006"#, "e"), (#"\uzzzz"#, "e"),
            ("e\u{301}", "\u{E9}"), ("", "a"), ("a", ""), (#"\n"#, ""),
        ])
    func other(_ written: String, _ name: String) {
        #expect(!isSame(written, name))
    }

    @Test("is compared as the parser reads it")
    func comparison() throws {
        for unit in stride(from: UInt16(0), to: 0xFFFF, by: 7) where Unicode.Scalar(unit) != nil {
            let digits = String(unit, radix: 16)
            let written = #"\u"# + String(repeating: "0", count: 4 - digits.count) + digits
            let read = try #require(try JSON(parsing: "\"\(written)\"").stringValue)
            #expect(isSame(written, read))
        }
    }
}
