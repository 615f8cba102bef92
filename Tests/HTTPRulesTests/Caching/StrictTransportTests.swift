import HTTPRules
import TestSupport
import Testing

@Suite struct StrictTransportTests {
    @Test("The directives are read in any order and case, with quotes or without")
    func reads() throws {
        for value in [
            "max-age=31536000; includeSubDomains", "includesubdomains;MAX-AGE=\"31536000\"",
            " ; max-age = 31536000 ;; unknown=\"a;b\" ; preload; IncludeSubDomains;",
        ] {
            let policy = try #require(StrictTransport(value), "\(value)")
            #expect(policy.maxAge == .seconds(31_536_000) && policy.includesSubdomains)
        }
        #expect(StrictTransport("max-age=0")?.maxAge == .zero)
        #expect(StrictTransport("max-age=0")?.includesSubdomains == false)
        #expect(StrictTransport("max-age=\(String(repeating: "9", count: 400))")?.maxAge == DeltaSeconds.maximum)
    }

    @Test(
        "A malformed value gives no policy",
        arguments: [
            "", "includeSubDomains", "max-age", "max-age=", "max-age=-1", "max-age=1.0", "max-age=a",
            "max-age=1; max-age=2", "max-age=1; x; X", "max-age=1; includeSubDomains=1", "max-age=1 includeSubDomains",
            "max-age=1; =", "max-age=\"1", "max-age=1, max-age=2",
        ])
    func refuses(_ value: String) { #expect(StrictTransport(value) == nil) }

    @Test("The first of several fields counts")
    func first() {
        let list = fields(("Strict-Transport-Security", "max-age=1"), ("strict-transport-security", "max-age=2"))
        #expect(StrictTransport(list)?.maxAge == .seconds(1))
        #expect(StrictTransport(HeaderList()) == nil)
    }

    @Test("A host covers itself, and its subdomains if it includes them")
    func covers() {
        let known = ["example", "org"]
        #expect(StrictTransport.covers(known, includesSubdomains: false, host: known))
        #expect(!StrictTransport.covers(known, includesSubdomains: false, host: ["a", "example", "org"]))
        #expect(StrictTransport.covers(known, includesSubdomains: true, host: ["b", "a", "example", "org"]))
        #expect(!StrictTransport.covers(known, includesSubdomains: true, host: ["org"]))
        #expect(!StrictTransport.covers(known, includesSubdomains: true, host: ["ample", "org"]))
        #expect(!StrictTransport.covers([], includesSubdomains: true, host: ["org"]))
    }

    @Test("Too many directives, and mutated ones, never trap")
    func hostile() {
        let many = (0..<10_000).map { "x\($0)" }.joined(separator: ";")
        #expect(StrictTransport("max-age=1;\(many)") == nil)
        var generator = SeededGenerator(seed: 6_797)
        for _ in 0..<2_000 {
            let bytes = generator.mutate(
                Array("max-age=31536000; includeSubDomains; a=\"b\"".utf8), alphabet: Array("max-age=;\" 1".utf8))
            _ = StrictTransport(FieldText.decode(bytes))
        }
    }
}
