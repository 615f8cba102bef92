import HTTPRules
import TestSupport
import Testing

@Suite struct HeaderListTests {
    @Test("Fields keep their order and duplicates, and are found in any letter case")
    func lookup() {
        let list = fields(("Accept", "a"), ("X-Other", "1"), ("ACCEPT", "b"))
        #expect(list.map(\.name) == ["Accept", "X-Other", "ACCEPT"])
        #expect(list.first(named: "accept") == "a")
        #expect(list.values(named: "aCCept") == ["a", "b"])
        #expect(list.combined(named: "accept") == "a, b")
        #expect(list.combined(named: "none") == nil)
        #expect(list.contains(named: "x-other") && !list.contains(named: "x-othe"))
    }

    @Test("Values of Set-Cookie are not joined")
    func setCookie() {
        #expect(fields(("Set-Cookie", "a=1"), ("set-cookie", "b=2")).combined(named: "Set-Cookie") == "a=1")
    }

    @Test("Setting a field replaces the first of its name and removes the others")
    func set() throws {
        var list = fields(("a", "1"), ("b", "2"), ("A", "3"))
        list.set(try #require(HeaderField(name: "A", value: "4")))
        #expect(list == fields(("A", "4"), ("b", "2")))
        list.set(try #require(HeaderField(name: "c", value: "5")))
        #expect(list.map(\.name) == ["A", "b", "c"])
        list.remove(named: "B")
        #expect(list.map(\.name) == ["A", "c"])
    }

    @Test("A name must be a token", arguments: ["", " ", "a b", "a:", "a\r", "ä", "(a)", "a\0", "a=b", "a,"])
    func names(_ name: String) { #expect(HeaderField(name: name, value: "") == nil) }

    @Test(
        "A value with CR, LF, NUL or a scalar above U+00FF is refused",
        arguments: ["a\rb", "a\n", "\0", "\u{100}", "a\r\n b"])
    func values(_ value: String) { #expect(HeaderField(name: "a", value: value) == nil) }

    @Test("Spaces and tabs at the ends of a value are removed")
    func trims() { #expect(HeaderField(name: "a", value: " \t b c\t ")?.value == "b c") }

    @Test("The byte count is that of the fields on the wire")
    func counts() {
        #expect(fields(("ab", "cd"), ("e", "\u{FC}")).byteCount == 8 + 6)
        #expect(fields(("ab", "cd"), ("ab", "cd")).count == 2)
    }

    @Test("Every byte is decoded to one scalar and encoded back")
    func isomorphic() {
        let all = (0...255).map { UInt8($0) }
        let text = FieldText.decode(all)
        #expect(text.unicodeScalars.map(\.value) == all.map(UInt32.init))
        #expect(FieldText.encode(text) == all)
        #expect(FieldText.encode("\u{100}") == nil)
    }

    @Test("Fields are read back from their bytes; malformed bytes are refused")
    func bytes() {
        let list = fields(("A", "b"), ("Set-Cookie", ""), ("a", "\u{FC}: \u{1}"))
        #expect(list.bytes.count == list.byteCount && HeaderList(bytes: list.bytes) == list)
        #expect(HeaderList(bytes: []) == HeaderList())
        #expect(HeaderList(bytes: Array("A: b\nC:d\r\n".utf8)) == fields(("A", "b"), ("C", "d")))
        for text in ["a", "a : b\r\n", " a: b\r\n", ": b\r\n", "a: b\r\n c\r\n", "a: b\rc\r\n", "a: \0"] {
            #expect(HeaderList(bytes: Array(text.utf8)) == nil, "\(text)")
        }
    }

    @Test("Members of a list come from all lines, without empty ones; a quoted comma does not separate")
    func members() {
        let list = fields(("a", " b ,, \"c, d\" ,"), ("b", "x"), ("A", ",e"))
        #expect(list.members(named: "a") == ["b", "\"c, d\"", "e"])
        #expect(FieldScanner.members(of: "\"a, b") == ["\"a, b"])
        #expect(FieldScanner.members(of: "\"a\\\", b\", c") == ["\"a\\\", b\"", "c"])
        #expect(FieldScanner.members(of: "").isEmpty)
        #expect(FieldScanner.members(of: String(repeating: ",", count: 65_536)).isEmpty)
    }

    @Test("The scanner reads tokens, quoted strings and parameters from left to right")
    func scanner() {
        var scanner = FieldScanner("Text/html; Charset=\"a\\\"b\" ;q=0.5; ;x=")
        #expect(scanner.token() == "Text")
        #expect(scanner.skip("/") && !scanner.skip("/"))
        #expect(scanner.token() == "html")
        #expect(scanner.parameter() == FieldScanner.Parameter(name: "charset", value: "a\"b"))
        #expect(scanner.parameter() == FieldScanner.Parameter(name: "q", value: "0.5"))
        #expect(scanner.parameter() == nil)
        var open = FieldScanner("\"abc")
        #expect(open.quotedString() == nil && open.rest == "\"abc")
    }
}
