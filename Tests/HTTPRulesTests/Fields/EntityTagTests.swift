import HTTPRules
import TestSupport
import Testing

@Suite struct EntityTagTests {
    @Test("An entity tag is quoted and may be weak")
    func reads() throws {
        let strong = try #require(EntityTag("\"a\\b\u{FC}\""))
        let weak = try #require(EntityTag("W/\"a\\b\u{FC}\""))
        #expect(!strong.isWeak && weak.isWeak && strong.opaque == weak.opaque)
        #expect(strong.text == "\"a\\b\u{FC}\"" && weak.text == "W/\"a\\b\u{FC}\"")
        #expect(EntityTag("\"\"")?.opaque == "")
    }

    @Test(
        "A malformed entity tag is refused",
        arguments: ["", "a", "\"a", "a\"", "w/\"a\"", "W\"a\"", "\"a\"b", "\"a b\"", "W/a", "\"a\"\"", "*"])
    func refuses(_ text: String) { #expect(EntityTag(text) == nil) }

    @Test("Weak tags are never strongly equal")
    func compares() throws {
        let (strong, weak) = (try #require(EntityTag("\"1\"")), try #require(EntityTag("W/\"1\"")))
        #expect(strong.isStronglyEqual(to: strong) && !weak.isStronglyEqual(to: weak))
        #expect(!strong.isStronglyEqual(to: weak) && strong.isWeaklyEqual(to: weak))
        #expect(try !strong.isWeaklyEqual(to: #require(EntityTag("\"2\""))))
    }

    @Test("A list of tags spans all lines of the field; a comma in a tag does not separate")
    func lists() throws {
        let list = fields(("If-None-Match", "\"a,b\" , W/\"c\","), ("if-none-match", ",\"d\""))
        let tags = try #require(EntityTagList(named: "If-None-Match", in: list))
        #expect(tags == .tags(["\"a,b\"", "W/\"c\"", "\"d\""].compactMap { EntityTag($0) }))
        #expect(tags.contains(EntityTag("\"c\"")) && !tags.contains(EntityTag("\"a\"")) && !tags.contains(nil))
        let any = try #require(EntityTagList(named: "If-None-Match", in: fields(("If-None-Match", "*"))))
        #expect(any == .any && any.contains(nil))
    }

    @Test("A list with a malformed member or with too many tags is refused")
    func brokenLists() {
        for value in ["a", "\"a\" \"b\"", "\"a\", *", "\"a\", b", "\"a\";q=1"] {
            #expect(EntityTagList(named: "If-None-Match", in: fields(("If-None-Match", value))) == nil)
        }
        func many(_ count: Int) -> HeaderList {
            fields(("If-None-Match", String(repeating: "\"a\",", count: count)))
        }
        #expect(EntityTagList(named: "If-None-Match", in: many(EntityTagList.maximumTags)) != nil)
        #expect(EntityTagList(named: "If-None-Match", in: many(EntityTagList.maximumTags + 1)) == nil)
        #expect(EntityTagList(named: "If-None-Match", in: HeaderList()) == nil)
    }
}
