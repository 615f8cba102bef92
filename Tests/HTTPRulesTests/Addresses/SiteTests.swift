import HTTPRules
import TestSupport
import Testing

@Suite struct SiteTests {
    @Test("A site is the scheme with the registrable domain, or with the host if there is none") func sites() throws {
        for (origin, site) in [
            ("https://www.example.com:8443", "https://example.com"),
            ("http://a.b.example.co.uk", "http://example.co.uk"),
            ("https://co.uk", "https://co.uk"), ("https://localhost", "https://localhost"),
            ("http://127.0.0.1:80", "http://127.0.0.1"),
            ("https://[::1]", "https://[::1]"),
        ] { #expect(try suffixes.site(of: WebOrigin(origin)).text == site) }
    }

    @Test("Two origins share a site if scheme and registrable domain are equal") func sameSite() throws {
        let origin = try WebOrigin("https://a.example.com")
        #expect(try suffixes.isSameSite(origin, WebOrigin("https://b.example.com:444")))
        #expect(try !suffixes.isSameSite(origin, WebOrigin("http://a.example.com")))
        #expect(try !suffixes.isSameSite(origin, WebOrigin("https://example.org")))
        #expect(try !suffixes.isSameSite(WebOrigin("https://a.co.uk"), WebOrigin("https://b.co.uk")))
    }

    @Test("A pattern is too wide if it covers everything below a public suffix") func patterns() throws {
        for (pattern, isTooWide) in [
            ("https://*.com", true), ("https://*.co.uk", true), ("https://*.unknown", true),
            ("https://*.example.com", false),
            ("https://com", false),
        ] { #expect(try suffixes.isTooWide(OriginPattern(pattern)) == isTooWide) }
    }

    @Test("A missing or empty file gives no list") func files() {
        #expect(PublicSuffixList(file: "/nonexistent") == nil)
        #expect(PublicSuffixList(file: "/dev/null") == nil)
    }

    @Test(
        "The tests of publicsuffix.org pass: 78 of 78, with the built-in list and with the file",
        .enabled(if: PublicSuite.publicSuffixes.isThere, "\(PublicSuite.publicSuffixes.missing)"),
        arguments: [false, true]) func suite(usesFile: Bool) throws
    {
        let list =
            usesFile
            ? try #require(PublicSuffixList(file: PublicSuite.publicSuffixes.path(of: "public_suffix_list.dat")))
            : suffixes
        let text = String(decoding: PublicSuite.publicSuffixes.content(of: "tests/test_psl.txt"), as: UTF8.self)
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("checkPublicSuffix(") }
        var passed = 0
        for line in lines {
            let values = line.dropFirst("checkPublicSuffix(".count).dropLast(2).split(separator: ", ").map {
                $0.trimmed
            }
            let domain = (try? Host(values[0])).flatMap { list.registrableDomain(of: $0) }
            let expected = values[1] == "null" ? nil : try Host(values[1])
            #expect(domain == expected, "\(line)")
            passed += domain == expected ? 1 : 0
        }
        #expect(passed == 78 && lines.count == 78)
    }
}

extension Substring {
    /// The text without the suite's quotes.
    fileprivate var trimmed: Substring { hasPrefix("'") ? dropFirst().dropLast() : self }
}
