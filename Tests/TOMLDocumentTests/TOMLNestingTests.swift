import TOMLDocument
import Testing

@Suite("The limit of nesting")
struct TOMLNestingTests {
    private func parse(_ text: String) throws -> TOMLTable {
        try TOMLDocument(parsing: text, file: "test.toml").root
    }

    private func dotted(_ parts: Int) -> String {
        Array(repeating: "a", count: parts).joined(separator: ".")
    }

    @Test(
        "Nesting that would exhaust the stack is refused with its position",
        arguments: [
            "\(String(repeating: "[", count: 500_000))",
            "x = \(String(repeating: "[", count: 500_000))",
            "x = \(String(repeating: "{a=", count: 300_000))",
        ])
    func brackets(text: String) throws {
        let error = #expect(throws: TOMLError.self) { try parse(text) }
        #expect(error?.reason == "tables or arrays nested deeper than 128 levels")
        #expect(error?.position?.line == 1)
    }

    @Test("A key of very many parts is refused at any position")
    func dottedKeys() throws {
        let key = dotted(400_000)
        for text in [
            "\(key) = 1", "[\(key)]", "[[\(key)]]", "x = { \(key) = 1 }", "# .\n\n\(key) = 1",
            "x = [ \"\"\"quote\"\"\"\", { \(key) = 1 } ]", "x = [ '''quote''''', { \(key) = 1 } ]",
            "x = [ \"a\\\"\", { \(key) = 1 } ]", "x = [ 'a\\', { \(key) = 1 } ]",
        ] {
            let error = #expect(throws: TOMLError.self) { try parse(text) }
            #expect(error?.reason == "tables or arrays nested deeper than 128 levels", "\(text.prefix(40))")
        }
    }

    @Test("The depth of headers, keys and brackets together has an exact limit")
    func sum() throws {
        let header = "[\(dotted(60))]\n"
        // Levels: the root, 60 of the header, 58 of the key's parents and 9 arrays.
        let deepest = header + "\(dotted(59)) = \(String(repeating: "[", count: 9))\(String(repeating: "]", count: 9))"
        #expect(throws: Never.self) { try parse(deepest) }
        let tooDeep =
            header + "\(dotted(59)) = \(String(repeating: "[", count: 10))\(String(repeating: "]", count: 10))"
        let error = #expect(throws: TOMLError.self) { try parse(tooDeep) }
        #expect(error?.position?.line == 2)
    }

    @Test("Dots and brackets in strings, comments and numbers do not count as nesting")
    func innocent() throws {
        let dots = String(repeating: ".[{", count: 1_000)
        let root = try parse(
            """
            # \(dots)
            basic = "\(dots) \\" \(dots)"
            literal = '\(dots) " \\'
            lines = \"\"\"
            \(dots) "" \(dots)
            \(dots)\"\"\"\"
            raw = '''
            \(dots)'' \(dots)'''
            numbers = [\(Array(repeating: "1.5", count: 1_000).joined(separator: ", "))]
            """)
        #expect(root.entries.map(\.key) == ["basic", "literal", "lines", "raw", "numbers"])
        #expect(root["numbers"]?.array?.count == 1_000)
    }
}
