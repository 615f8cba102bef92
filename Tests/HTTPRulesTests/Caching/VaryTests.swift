import HTTPRules
import TestSupport
import Testing

@Suite struct VaryTests {
    private func fits(_ vary: String, _ one: HeaderList, _ other: HeaderList) -> Bool {
        SelectingFields(Vary(fields(("Vary", vary))), request: one)?.fits(other) ?? false
    }

    @Test("Names are read in any letter case, once each, sorted; a star or an unreadable name varies on everything")
    func names() {
        #expect(Vary(fields(("Vary", "B, a"), ("vary", ", A"))) == .fields(["a", "b"]))
        #expect(Vary(HeaderList()) == .fields([]) && Vary(fields(("Vary", ""))) == .fields([]))
        for value in ["*", "*, *", ", *", "a, *", "a b", "\"a\""] {
            #expect(Vary(fields(("Vary", value))) == .everything, "\(value)")
        }
        let many = (0...Vary.maximumFields).map { "f\($0)" }.joined(separator: ",")
        #expect(Vary(fields(("Vary", many))) == .everything)
    }

    @Test("A request matches if it has the same fields, joined and without spaces around commas")
    func matching() {
        #expect(fits("Foo", fields(("foo", "1, 2")), fields(("Foo", "1"), ("FOO", "2"))))
        #expect(fits("Foo", fields(("foo", "1,2")), fields(("Foo", " 1 , 2 "))))
        #expect(!fits("Foo", fields(("foo", "a")), fields(("foo", "A"))))
        #expect(!fits("Foo", fields(("foo", "1")), HeaderList()) && !fits("Foo", HeaderList(), fields(("foo", "1"))))
        #expect(!fits("Foo", fields(("foo", "")), HeaderList()))
        #expect(fits("Foo, Bar", fields(("foo", "1")), fields(("foo", "1"), ("other", "2"))))
    }

    @Test("Languages and codings match in any order and letter case, with equal weights")
    func preferences() {
        for name in ["Accept-Language", "Accept-Encoding"] {
            func same(_ one: String, _ other: String) -> Bool {
                fits(name, fields((name, one)), fields((name, other)))
            }
            #expect(same("en, de", "De , eN") && same("en;q=0.50, de", "de;q=1.0,en ; q=0.5"))
            #expect(!same("en;q=0.5", "en") && !same("en", "de") && !same("en;q=500", "en;q=0.5"))
            #expect(!same("en;q=2", "en") && !same("en;x=1", "en"))
        }
    }

    @Test("The text of selecting fields is read back, and differs for different fields")
    func text() throws {
        let vary = Vary(fields(("Vary", "b, a")))
        let some = try #require(SelectingFields(vary, request: fields(("a", "1:+2 \u{E9}"))))
        let none = try #require(SelectingFields(vary, request: HeaderList()))
        let empty = try #require(SelectingFields(vary, request: fields(("a", ""))))
        #expect(some.text == "a:+1:+2 \u{E9}\nb:-\n")
        #expect(Set([some.text, none.text, empty.text]).count == 3)
        for fields in [some, none, empty] { #expect(SelectingFields(text: fields.text) == fields) }
        #expect(SelectingFields(text: "")?.text == "")
        for text in ["a", "a:", "a:x\n", "a:-b\n", ":\n", "a:-", "\n", "a:+b"] {
            #expect(SelectingFields(text: text) == nil, "\(text)")
        }
    }

    @Test("Mutated texts and values never trap")
    func mutated() {
        var generator = SeededGenerator(seed: 41)
        for _ in 0..<2_000 {
            let text = FieldText.decode(
                generator.mutate(
                    Array("a:+1,2\naccept-language:+de;q=0.5\nb:-\n".utf8), alphabet: Array(":+-\n,;q=.".utf8)))
            if let read = SelectingFields(text: text) { #expect(read.text == text) }
            let value = FieldText.decode(
                generator.mutate(Array("de, en;q=0.5, *;q=0.001".utf8), alphabet: Array(",;q=.01* \"".utf8)))
            let list = fields(("Accept-Language", value))
            #expect(fits("accept-language", list, list))
        }
    }
}
