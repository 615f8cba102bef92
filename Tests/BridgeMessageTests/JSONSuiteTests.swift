import BridgeMessage
import TestSupport
import Testing

/// The texts of the JSONTestSuite as options of a call, decoded at once and, like long lines, in steps.
@Suite("The JSONTestSuite", .enabled(if: PublicSuite.jsonParsing.isThere, "\(PublicSuite.jsonParsing.missing)"))
struct JSONSuiteTests {
    private let files = PublicSuite.jsonParsing.files(in: "test_parsing")

    /// The accepted texts among those whose verdict the suite leaves to the parser: numbers of any size, which keep
    /// their text. The other 25 are invalid UTF-8, have an unpaired surrogate or a byte order mark, or are nested too
    /// deep.
    private static let acceptedOfEither: Set = [
        "i_number_double_huge_neg_exp.json", "i_number_huge_exp.json", "i_number_neg_int_huge_exp.json",
        "i_number_pos_double_huge_exp.json", "i_number_real_neg_overflow.json", "i_number_real_pos_overflow.json",
        "i_number_real_underflow.json", "i_number_too_big_neg_int.json", "i_number_too_big_pos_int.json",
        "i_number_very_big_negative_int.json",
    ]

    /// Returns a call with this text as its options.
    private func message(_ text: [UInt8]) -> [UInt8] {
        Array(#"{"task":"Echo","options":"#.utf8) + text + Array(#","callbackId":1}"#.utf8)
    }

    /// Returns whether the text is accepted as the options of a call and passed on unchanged.
    private func isAccepted(_ file: PublicSuite.File, _ decode: ([UInt8]) -> [Decoded]) -> Bool {
        guard case .call("Echo", let options, "1", _, _, _) = decode(message(file.bytes)).first else { return false }
        return options.utf8.elementsEqual(trimmed(file.bytes))
    }

    /// Returns the text without the white space at its ends.
    private func trimmed(_ text: [UInt8]) -> ArraySlice<UInt8> {
        let space = Set(" \t\r\n".utf8)
        let start = text.drop { space.contains($0) }
        return start.dropLast(start.reversed().prefix { space.contains($0) }.count)
    }

    @Test("All 95 texts that are JSON are accepted, and all 188 that are not are refused")
    func verdicts() {
        var count: [Character: Int] = [:]
        var accepted: Set<String> = []
        for file in files {
            let verdict = isAccepted(file) { decode($0) }
            #expect(isAccepted(file) { decodeInSteps($0).items } == verdict, "in steps: \(file.name)")
            count[file.name.first ?? "?", default: 0] += 1
            switch file.name.first {
            case "y": #expect(verdict, "\(file.name)")
            case "n": #expect(!verdict, "\(file.name)")
            default: if verdict { accepted.insert(file.name) }
            }
        }
        #expect(count == ["y": 95, "n": 188, "i": 35])
        #expect(accepted == Self.acceptedOfEither)
    }
}
