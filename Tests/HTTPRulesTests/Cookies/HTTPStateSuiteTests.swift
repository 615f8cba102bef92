import HTTPRules
import TestSupport
import Testing

/// The tests of http-state, from 2011. `misses` lists those that contradict the rules of today.
@Suite(
    "The tests of http-state", .enabled(if: PublicSuite.httpState.isThere, "\(PublicSuite.httpState.missing)")
) struct HTTPStateSuiteTests {
    /// A time in 2017, when the suite was last changed. The suite's dates are of 2019 and later.
    private static let time = UnixTime(seconds: 1_500_000_000)

    private static let nameless =
        "a line without an equals sign, or with nothing in front of it, is a cookie without a name today"
    private static let control = "a control character refuses the line today, and cuts it in the test"

    /// The reasons for which tests fail, by the names of the tests.
    private static let misses: [String: String] = {
        var misses: [String: String] = [
            "0028": "the expectation is damaged: it holds Set-Cookie lines; and \(nameless)",
            "disabled-chromium0022": control, "disabled-chromium0023": control,
            "disabled-path0029": "a path is compared as it is written, and not with its percent signs decoded",
            "optional-domain0042": "an empty Domain counts as the last one today, and the host's own cookie is meant",
        ]
        let names = [
            "0004", "0021", "0023", "0024", "0025", "0026", "0027", "chromium0009", "chromium0010", "chromium0012",
            "mozilla0012",
            "mozilla0014", "mozilla0015", "mozilla0016", "mozilla0017", "name0017", "name0023", "name0025", "name0028",
            "name0031",
            "name0032", "name0033",
        ]
        for name in names { misses[name] = nameless }
        return misses
    }()

    @Test("Of 222 tests 195 pass, and each of the others has its reason") func suite() throws {
        let files = PublicSuite.httpState.files(in: "tests/data/parser", endingIn: "-test")
        #expect(files.count == 222)
        var failed: Set<String> = []
        for file in files {
            let name = String(file.name.dropLast("-test".count))
            if try !passes(name, file.bytes) { failed.insert(name) }
        }
        #expect(failed.subtracting(Self.misses.keys).sorted() == [], "failed without a reason")
        #expect(Set(Self.misses.keys).subtracting(failed).sorted() == [], "passed, so that the reason is wrong")
        #expect(files.count - failed.count == 195)
    }

    /// Returns whether the cookies set by a test's lines match its expectation at `Location`, by default at the path
    /// of the result.
    private func passes(_ name: String, _ bytes: [UInt8]) throws -> Bool {
        let url = try WebURL("http://home.example.org:8888/cookie-parser?\(name)")
        let lines = bytes.split(separator: UInt8(ascii: "\n"))
        var jar = CookieJar()
        jar.put(Self.values("Set-Cookie:", lines), in: CookieContext(url: url), at: Self.time)
        let location = Self.values("Location: ", lines).first ?? Array("/cookie-parser-result?\(name)".utf8)
        let sent = jar.header(for: CookieContext(url: try url.resolving(bytes: location)), at: Self.time)
        let expected = PublicSuite.httpState.content(of: "tests/data/parser/\(name)-expected")
        let first = expected.split(separator: UInt8(ascii: "\n")).first ?? []
        return first.isEmpty ? sent.isEmpty : Array(first) == Array("Cookie: ".utf8) + sent
    }

    private static func values(_ field: String, _ lines: [ArraySlice<UInt8>]) -> [[UInt8]] {
        lines.filter { $0.starts(with: field.utf8) }.map { Array($0.dropFirst(field.utf8.count)) }
    }
}
