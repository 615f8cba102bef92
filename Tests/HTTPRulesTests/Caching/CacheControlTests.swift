import HTTPRules
import TestSupport
import Testing

@Suite struct CacheControlTests {
    private func response(_ lines: String...) -> ResponseDirectives {
        ResponseDirectives(HeaderList(lines.compactMap { HeaderField(name: "Cache-Control", value: $0) }))
    }

    private func request(_ lines: String...) -> RequestDirectives {
        RequestDirectives(HeaderList(lines.compactMap { HeaderField(name: "Cache-Control", value: $0) }))
    }

    @Test("Directives are read in any letter case from all lines, and the first of several counts")
    func first() {
        let directives = response("MAX-age=10, public", "max-age=20, No-Store")
        #expect(directives.maxAge == .seconds(10) && directives.isPublic && directives.isNoStore)
        #expect(response("max-age=a, max-age=20").maxAge == .zero)
    }

    @Test(
        "An unreadable number means stale",
        arguments: ["-1", "1.0", "1.5", "a1", "1a", "'1'", " 1", "\"1", "", "1 2", "\u{B2}"])
    func unreadable(_ number: String) { #expect(response("max-age=\(number)").maxAge == .zero) }

    @Test("Seconds are digits, quoted or not, and are limited to 68 years")
    func seconds() {
        #expect(response("max-age=\"3600\"").maxAge == .seconds(3_600))
        #expect(response("max-age=003600").maxAge == .seconds(3_600))
        for number in ["2147483648", "2147483649", "99999999999", String(repeating: "9", count: 400)] {
            #expect(response("max-age=\(number)").maxAge == DeltaSeconds.maximum)
        }
        #expect(response("max-age =3600").maxAge == .zero)
        #expect(response("max-age").maxAge == .zero)
    }

    @Test("A quoted directive is ignored, and an open quote does not reach the next line")
    func quotes() {
        #expect(response("extension=\"max-age=3600\", max-age=1").maxAge == .seconds(1))
        #expect(response("a=\"no-store", "max-age=1").maxAge == .seconds(1))
        #expect(!response("a=\"no-store").isNoStore)
    }

    @Test("A restricting directive counts in any form; a permitting one must be well formed")
    func strictness() {
        #expect(response("no-store=x").isNoStore && response("no-store;x").isNoStore)
        #expect(response("must-revalidate=1").mustRevalidate)
        #expect(!response("public=x").isPublic && !response("immutable=1").isImmutable)
        #expect(response("stale-while-revalidate").staleWhileRevalidate == nil)
        #expect(response("stale-if-error=x").staleIfError == nil)
        #expect(response("stale-if-error=5").staleIfError == .seconds(5))
    }

    @Test("Directives for shared caches have no effect")
    func shared() {
        let directives = response("s-maxage=10, proxy-revalidate, private")
        #expect(directives.maxAge == nil && !directives.mustRevalidate && directives.isPrivate)
    }

    @Test("no-cache with names applies to those fields, without names to the response")
    func noCache() {
        #expect(response("no-cache=\"Set-Cookie, a\"").noCache == .fields(["set-cookie", "a"]))
        #expect(response("no-cache=a", "no-cache=b").noCache == .fields(["a", "b"]))
        #expect(response("no-cache").noCache == .response)
        #expect(response("no-cache=a, no-cache").noCache == .response)
        #expect(response("no-cache, no-cache=a").noCache == .response)
        for value in ["no-cache=\"\"", "no-cache=\"a b\"", "no-cache=", "no-cache=\"a"] {
            #expect(response(value).noCache == .response, "\(value)")
        }
        let many = (0..<300).map { "f\($0)" }.joined(separator: ",")
        #expect(response("no-cache=\"\(many)\"").noCache == .response)
    }

    @Test("A request specifies the age, freshness and staleness that it accepts")
    func requests() {
        let directives = request("max-age=0, min-fresh=5, max-stale=6, only-if-cached, stale-if-error=7")
        #expect(directives.maxAge == .zero && directives.minFresh == .seconds(5) && directives.isOnlyIfCached)
        #expect(directives.maxStale == .upTo(.seconds(6)) && directives.staleIfError == .seconds(7))
        #expect(request("max-stale").maxStale == .unlimited)
        #expect(request("max-stale=x").maxStale == nil)
        #expect(request("max-age=x").maxAge == .zero)
    }

    @Test("Pragma: no-cache counts if a request has no Cache-Control")
    func pragma() {
        #expect(RequestDirectives(fields(("Pragma", "x, No-Cache"))).isNoCache)
        #expect(!RequestDirectives(fields(("Pragma", "no-cache"), ("Cache-Control", "max-age=1"))).isNoCache)
    }

    @Test("Ten thousand directives, and mutated ones, never trap")
    func hostile() {
        let many = (0..<10_000).map { "d\($0)=\"\\\"\"" }.joined(separator: ",")
        #expect(response("\(many),max-age=5").maxAge == .seconds(5))
        var generator = SeededGenerator(seed: 9_111)
        let text = Array("max-age=10, no-cache=\"a, b\", public, max-stale, stale-while-revalidate=5".utf8)
        for _ in 0..<3_000 {
            let line = FieldText.decode(generator.mutate(text, alphabet: Array(",=\"\\ \tmaxage-0".utf8) + [0xFF]))
            _ = (response(line), request(line))
        }
    }
}
