import BridgeJSON
import Testing

@Suite("JSON pointers")
struct JSONPointerTests {
    @Test("A pointer is split at each slash, and its escapes represent a slash and a tilde")
    func keys() {
        #expect(JSONPointer("")?.keys == [])
        #expect(JSONPointer("/")?.keys == [""])
        #expect(JSONPointer("/a//b/")?.keys == ["a", "", "b", ""])
        #expect(JSONPointer("/~1~0~01~2~")?.keys == ["/~~1~2~"])
        #expect(JSONPointer("/~~1")?.keys == ["~/"])
        #expect(JSONPointer("a") == nil)
    }

    @Test("A combining mark after a slash or a tilde is part of the key")
    func marks() {
        #expect(JSONPointer("/\u{301}/a/\u{200D}b")?.keys.map { ExactText($0) } == ["\u{301}", "a", "\u{200D}b"])
        #expect(JSONPointer("/~1\u{301}/~0\u{301}")?.keys.map { ExactText($0) } == ["/\u{301}", "~\u{301}"])
        #expect(JSONPointer("\u{301}/a") == nil)
    }

    @Test("A reference has a percent-encoded pointer after the #")
    func references() {
        #expect(JSONPointer(reference: "#/a%20b/%7E1")?.keys == ["a b", "/"])
        #expect(JSONPointer(reference: "#")?.keys == [])
        for other in ["#anchor", "other#/a", "", "/a"] { #expect(JSONPointer(reference: other) == nil, "\(other)") }
    }

    @Test("A pointer finds members by name and elements by index, without a sign and without leading zeros")
    func values() throws {
        let document: JSON = ["a": [1, ["b": 2]], "0": 3, "": 4]
        func value(_ pointer: String) throws -> JSON? { document[try #require(JSONPointer(pointer))] }
        #expect(try value("") == document)
        #expect(try value("/a/1/b") == 2)
        #expect(try value("/a/0") == 1)
        #expect(try value("/0") == 3)
        #expect(try value("/") == 4)
        for none in ["/a/2", "/a/00", "/a/+0", "/a/-0", "/a/01", "/a/", "/b", "/a/1/b/c"] {
            #expect(try value(none) == nil, "\(none)")
        }
    }
}
