import TOMLDocument
import Testing

@Suite("A TOML document as positioned values")
struct TOMLParsingTests {
    private func parse(_ text: String) throws -> TOMLTable {
        try TOMLDocument(parsing: text, file: "test.toml").root
    }

    @Test("Every kind of value is read with its content")
    func kinds() throws {
        let root = try parse(
            """
            text = "a\\tb"
            count = -12
            ratio = 2.5
            large = inf
            on = true
            day = 2026-01-02
            hour = 03:04:05
            instant = 2026-01-02T03:04:05.5+01:00
            list = [1, "two", [3]]
            inline = { a = 1 }
            """)
        #expect(root["text"]?.content == .string("a\tb"))
        #expect(root["count"]?.content == .integer(-12))
        #expect(root["ratio"]?.content == .float(2.5))
        #expect(root["large"]?.content == .float(.infinity))
        #expect(root["on"]?.content == .boolean(true))
        #expect(root["day"]?.content == .date("2026-01-02"))
        #expect(root["hour"]?.content == .date("03:04:05"))
        #expect(root["instant"]?.content == .date("2026-01-02T03:04:05.5+01:00"))
        #expect(root["list"]?.array?.map(\.typeName) == ["integer", "string", "array"])
        #expect(root["inline"]?.table?["a"]?.content == .integer(1))
    }

    @Test("A table keeps its keys in the order of the document")
    func order() throws {
        let root = try parse("zebra = 1\napple = 2\n[mango]\nb = 1\na = 2\n[fig]\n")
        #expect(root.entries.map(\.key) == ["zebra", "apple", "mango", "fig"])
        #expect(root["mango"]?.table?.entries.map(\.key) == ["b", "a"])
    }

    @Test("Keys and values have their line and column, counted in characters from 1")
    func positions() throws {
        let root = try parse("# été\n  key = 7\n\n[section]\n\"é\" =  [ 1,\n 22 ]\n")
        let key = try #require(root.entry("key"))
        #expect(key.keyPosition == TOMLPosition(line: 2, column: 3))
        #expect(key.value.position == TOMLPosition(line: 2, column: 9))
        let section = try #require(root.entry("section"))
        #expect(section.keyPosition == TOMLPosition(line: 4, column: 2))
        let list = try #require(section.value.table?.entry("é"))
        #expect(list.keyPosition == TOMLPosition(line: 5, column: 1))
        #expect(list.value.position == TOMLPosition(line: 5, column: 8))
        #expect(list.value.array?.map(\.position.line) == [5, 6])
        #expect(list.value.array?.map(\.position.column) == [10, 2])
    }

    @Test("Tables that dotted keys and headers open have the position of their first name")
    func dottedTables() throws {
        let root = try parse("a.b = 1\n[plugins.login]\nx = 1\n[plugins.alert]\n[[list]]\n[[list]]\ny = 2\n")
        #expect(root.entry("a")?.keyPosition == TOMLPosition(line: 1, column: 1))
        #expect(root["a"]?.table?.entry("b")?.keyPosition == TOMLPosition(line: 1, column: 3))
        let plugins = try #require(root.entry("plugins")?.value.table)
        #expect(plugins.entries.map(\.key) == ["login", "alert"])
        #expect(plugins.entry("login")?.keyPosition == TOMLPosition(line: 2, column: 10))
        #expect(plugins.entry("alert")?.keyPosition == TOMLPosition(line: 4, column: 10))
        #expect(root["list"]?.array?.map(\.position.line) == [5, 6])
    }

    @Test("An empty document is an empty table", arguments: ["", "\n", "# only a comment"])
    func empty(text: String) throws {
        #expect(try parse(text).entries.isEmpty)
    }

    @Test("A byte order mark and CRLF line ends are accepted")
    func windowsText() throws {
        let root = try parse("\u{FEFF}a = 1\r\nb = 2\r\n")
        #expect(root["b"]?.content == .integer(2))
        #expect(root.entry("b")?.keyPosition == TOMLPosition(line: 2, column: 1))
    }
}

@Suite("Errors of TOML documents")
struct TOMLErrorTests {
    private func refusal(_ text: String) -> TOMLError? {
        do {
            _ = try TOMLDocument(parsing: text, file: "test.toml")
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "A syntax error names file, line and column",
        arguments: [
            ("a = 1\nb = = 2\n", 2), ("a = \"open\n", 1), ("[a\n", 1), ("x = 1\n\nx = 2\n", 3),
            ("a = 01\n", 1), ("a = 1 b = 2\n", 1), ("\n\na = \"\\q\"\n", 3), ("a = {b = 1, }", 1),
        ])
    func syntax(text: String, line: Int) throws {
        let error = try #require(refusal(text))
        #expect(error.position?.line == line)
        #expect(error.description.hasPrefix("test.toml:\(line):"))
        #expect(!error.reason.isEmpty)
        #expect(error.systemError == nil)
    }

    @Test("Invalid UTF-8 is refused, not repaired")
    func invalidUTF8() {
        #expect(throws: TOMLError.self) { try TOMLDocument(bytes: [0x61, 0x3D, 0x22, 0xFF, 0x22], file: "x") }
    }

    @Test("A document longer than the limit is refused without parsing")
    func tooLong() throws {
        let longest = String(repeating: "#", count: TOMLDocument.maximumBytes)
        #expect(refusal(longest) == nil)
        #expect(try #require(refusal(longest + "#")).reason.hasPrefix("longer than 1048576 bytes"))
    }

    @Test("A file that cannot be read gives the system's reason")
    func noFile() throws {
        let error = #expect(throws: TOMLError.self) { try TOMLDocument(contentsOf: "/nowhere/trestled.toml") }
        #expect(error?.description == "/nowhere/trestled.toml: cannot be read: No such file or directory")
        #expect(error?.systemError == 2)
        #expect(error?.position == nil)
    }

    @Test("A directory is not a document")
    func directory() throws {
        let error = #expect(throws: TOMLError.self) { try TOMLDocument(contentsOf: "/") }
        #expect(error?.reason == "cannot be read: Is a directory")
    }

    @Test("A device without an end is read only up to the limit")
    func endlessFile() throws {
        let error = #expect(throws: TOMLError.self) { try TOMLDocument(contentsOf: "/dev/zero") }
        #expect(error?.reason.hasPrefix("longer than") == true)
    }
}
