import HTTPRules
import TestSupport
import Testing

@Suite struct CookieDateTests {
    /// Returns the date in a text, in canonical form; `nil` if there is none.
    private func date(_ text: String) -> String? { CookieDate.read(Array(text.utf8)).map { CookieDate.write($0) } }

    @Test(
        "The parts of a date are read in any order",
        arguments: [
            "Fri, 07 Aug 2026 08:04:19 GMT", "7-Aug-26 8:4:19", "08:04:19 2026 aug 7", "AUGUST 07 2026 08:04:19.5 PST",
            "07 Aug 2026x 08:04:19x", "\t07;Aug/2026,08:04:19",
        ]) func orders(text: String)
    { #expect(date(text) == "Fri, 07 Aug 2026 08:04:19 GMT") }

    @Test("A two-digit year is in 1970 to 2069") func years() {
        #expect(date("1 Jan 70 0:0:0") == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(date("1 Jan 99 0:0:0") == "Fri, 01 Jan 1999 00:00:00 GMT")
        #expect(date("1 Jan 69 0:0:0") == "Tue, 01 Jan 2069 00:00:00 GMT")
        #expect(date("1 Jan 00 0:0:0") == "Sat, 01 Jan 2000 00:00:00 GMT")
        #expect(date("1 Jan 1601 0:0:0") == "Mon, 01 Jan 1601 00:00:00 GMT")
        #expect(date("31 Dec 9999 23:59:59") == "Fri, 31 Dec 9999 23:59:59 GMT")
    }

    @Test(
        "Text that is not a date is refused",
        arguments: [
            "", "Fri", "1 Jan 2026", "1 Jan 1:1:1", "Jan 2026 1:1:1", "32 Jan 2026 1:1:1", "0 Jan 2026 1:1:1",
            "1 Jan 1600 1:1:1",
            "29 Feb 2026 1:1:1", "31 Apr 2026 1:1:1", "1 Jan 2026 24:0:0", "1 Jan 2026 0:60:0", "1 Jan 2026 0:0:60",
            "1 Jan 20260 1:1:1", "1 Jan 2026 1:1", "1 Jan 2026 001:1:1", "1 Jan 2026 1:1:001", "1 Jxn 2026 1:1:1",
            "29 Feb 2100 1:1:1",
        ]) func noDates(text: String)
    { #expect(date(text) == nil) }

    @Test("A leap day is read, and a written date is read back", arguments: 0..<10 as Range<UInt64>)
    func written(seed: UInt64) {
        #expect(date("29 Feb 2000 1:1:1") == "Tue, 29 Feb 2000 01:01:01 GMT")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let time = UnixTime(seconds: Int64.random(in: -11_644_473_600...253_402_300_799, using: &random))
            #expect(CookieDate.read(Array(CookieDate.write(time).utf8)) == time)
        }
        for seconds in [Int64.min, Int64.max] {
            #expect(CookieDate.read(Array(CookieDate.write(UnixTime(seconds: seconds)).utf8)) != nil)
        }
    }

    @Test("Mutated dates never trap", arguments: 0..<10 as Range<UInt64>) func mutations(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<1000 {
            let bytes = random.mutate(
                Array("Fri, 07-Aug-2026 08:04:19 GMT".utf8), changes: 1...8,
                alphabet: Array("0123456789:-/ ;JFaug".utf8))
            guard let time = CookieDate.read(bytes) else { continue }
            #expect(CookieDate.read(Array(CookieDate.write(time).utf8)) == time)
        }
        #expect(CookieDate.read(Array(repeating: UInt8(ascii: "9"), count: 400)) == nil)
        #expect(CookieDate.read(Array(repeating: UInt8(ascii: " "), count: 65536)) == nil)
    }

    @Test(
        "The dates of http-state are read: 15 of 15 and 55 of 55",
        .enabled(if: PublicSuite.httpState.isThere, "\(PublicSuite.httpState.missing)"),
        arguments: [("examples.json", 15), ("bsd-examples.json", 55)]) func suite(file: String, count: Int)
    {
        let lines = String(decoding: PublicSuite.httpState.content(of: "tests/data/dates/\(file)"), as: UTF8.self)
            .split(separator: "\n")
        var passed = 0
        for (line, next) in zip(lines, lines.dropFirst()) where line.contains("\"test\": ") {
            let isRight = date(Self.value(line) ?? "") == Self.value(next)
            #expect(isRight, "\(line)")
            passed += isRight ? 1 : 0
        }
        #expect(passed == count)
    }

    /// Returns the text after the colon of a line of JSON; `nil` for `null`.
    private static func value(_ line: Substring) -> String? {
        guard let start = line.firstRange(of: "\": \"")?.upperBound, let end = line.lastIndex(of: "\""), start <= end
        else { return nil }
        return String(line[start..<end]).replacing("\\\"", with: "\"").replacing("\\\\", with: "\\")
    }
}
