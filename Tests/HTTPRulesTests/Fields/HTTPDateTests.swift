import HTTPRules
import TestSupport
import Testing

@Suite struct HTTPDateTests {
    @Test(
        "All three date formats are read as the same moment, in any letter case",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "sUN, 06 nOV 1994 08:49:37 gmt", "MON, 06 Nov 1994 08:49:37 GMT", "Sun Nov 06 08:49:37 1994",
        ])
    func forms(_ text: String) { #expect(HTTPDate.parse(text, now: november1994) == november1994) }

    @Test(
        "Text in none of the three formats is refused",
        arguments: [
            "", "0", "-1", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun,  06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
            "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 29 Feb 1900 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, 06 Nov 1994 08.49.37 GMT",
            "Sun, 06 Noc 1994 08:49:37 GMT", "Sun, 0\u{FF} Nov 1994 08:49:37 GMT", "Sunday, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT",
        ])
    func noDates(_ text: String) { #expect(HTTPDate.parse(text, now: november1994) == nil) }

    @Test("A two-digit year is within 50 years of now, to the second")
    func twoDigits() throws {
        func year(_ text: String, now: String) throws -> String {
            let now = try #require(HTTPDate.parse(now, now: november1994))
            return HTTPDate.format(try #require(HTTPDate.parse(text, now: now)))
        }
        let now = "Thu, 27 Nov 2026 00:00:00 GMT"
        #expect(try year("Sunday, 27-Nov-76 00:00:00 GMT", now: now).contains("2076"))
        #expect(try year("Sunday, 27-Nov-76 00:00:01 GMT", now: now).contains("1976"))
        #expect(try year("Sunday, 01-Jan-77 00:00:00 GMT", now: now).contains("1977"))
        #expect(try year("Sunday, 01-Jan-00 00:00:00 GMT", now: "Thu, 27 Nov 2060 00:00:00 GMT").contains("2100"))
        // 2100 has no 29 February, 2000 has.
        #expect(try year("Sunday, 29-Feb-00 00:00:00 GMT", now: "Thu, 27 Nov 2060 00:00:00 GMT").contains("2000"))
    }

    @Test("A formatted date is parsed as the same moment, for all years of four digits")
    func roundTrip() {
        var generator = SeededGenerator(seed: 9_110)
        let nameable: ClosedRange<Int64> = -62_167_219_200...253_402_300_799
        let edges = [nameable.lowerBound, nameable.upperBound, -1, 0, 951_782_400, 4_107_542_399]
        let randoms = (0..<5_000).map { _ in Int64.random(in: nameable, using: &generator) }
        let wrong = (edges + randoms).map { UnixTime(seconds: $0) }.filter { time in
            let text = HTTPDate.format(time)
            return text.utf8.count != 29 || HTTPDate.parse(text, now: november1994) != time
        }
        #expect(wrong == [])
    }

    @Test("Known moments have the expected text")
    func known() {
        #expect(HTTPDate.format(november1994) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.format(UnixTime(seconds: 0)) == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(HTTPDate.format(UnixTime(seconds: 951_782_400)) == "Tue, 29 Feb 2000 00:00:00 GMT")
        #expect(HTTPDate.format(UnixTime(seconds: -1)) == "Wed, 31 Dec 1969 23:59:59 GMT")
    }

    @Test("Moments outside the years 0000 to 9999 are formatted as the nearest one inside")
    func beyond() {
        #expect(HTTPDate.format(UnixTime(seconds: .max)) == "Fri, 31 Dec 9999 23:59:59 GMT")
        #expect(HTTPDate.format(UnixTime(seconds: .min)) == "Sat, 01 Jan 0000 00:00:00 GMT")
        for now in [Int64.min, .max] {
            #expect(HTTPDate.parse("Sunday, 06-Nov-94 08:49:37 GMT", now: UnixTime(seconds: now)) != nil)
        }
    }

    @Test("Mutated dates never trap")
    func mutated() {
        var generator = SeededGenerator(seed: 5_322)
        let alphabet = Array("0123456789 ,-:GMTSunNov".utf8)
        for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            for _ in 0..<2_000 {
                let bytes = generator.mutate(Array(text.utf8), alphabet: alphabet)
                guard let found = HTTPDate.parse(FieldText.decode(bytes), now: november1994) else { continue }
                if HTTPDate.parse(HTTPDate.format(found), now: november1994) != found {
                    Issue.record("\(FieldText.decode(bytes))")
                }
            }
        }
    }
}
