import TOMLDocument
import TestSupport
import Testing

@Suite("Mutated documents")
struct TOMLMutationTests {
    private static let original = Array(
        """
        # A document with one of everything.
        socket = "/run/trestle/bridge.sock"
        raw = 'C:\\path'
        lines = \"\"\"
        one "two" \\
            three\"\"\"
        count = 1_000
        hex = 0xFF
        ratio = -1.5e3
        when = 2026-01-02T03:04:05Z
        a.b."c d" = [1, [2.5, "x"], { y = true, z = {} }]

        [limits]
        message_bytes = "1MiB" # in bytes

        [[rules]]
        name = "été \\u00e9"
        [[rules]]
        name = '''last'''
        """.utf8)
    private static let tomlBytes = Array("\"'[]{}.=\n#\\\u{2028}\r0,_-".utf8) + [0, 0xFF]

    /// Checks that every position is in the document, and that a key precedes its value unless a header or a dotted
    /// key opened the table.
    private func check(_ table: TOMLTable, lines: Int) {
        for entry in table.entries {
            #expect((1...lines).contains(entry.keyPosition.line))
            #expect((1...lines).contains(entry.value.position.line))
            #expect(entry.keyPosition.column >= 1 && entry.value.position.column >= 1)
            if entry.value.table == nil, entry.value.array == nil {
                #expect(entry.keyPosition < entry.value.position)
            }
            if let inner = entry.value.table { check(inner, lines: lines) }
        }
        #expect(Set(table.entries.map(\.key)).count == table.entries.count)
        #expect(table.entries.map(\.keyPosition) == table.entries.map(\.keyPosition).sorted())
    }

    @Test("give a value or an error with its position, and never crash", arguments: 0..<8)
    func mutations(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var accepted = 0
        for _ in 0..<500 {
            let bytes = generator.mutate(Self.original, changes: 1...6, alphabet: Self.tomlBytes)
            let lines = bytes.count { $0 == UInt8(ascii: "\n") } + 1
            do {
                check(try TOMLDocument(bytes: bytes, file: "mutated").root, lines: lines)
                accepted += 1
            } catch {
                let position = try #require(error.position)
                #expect((1...lines).contains(position.line))
                #expect(!error.reason.isEmpty)
            }
        }
        #expect(accepted > 0)
        #expect(accepted < 500)
    }

    @Test("give a value or an error if they are cut anywhere")
    func prefixes() {
        var accepted = 0
        for length in 0...Self.original.count {
            accepted += (try? TOMLDocument(bytes: Array(Self.original[..<length]), file: "prefix")) == nil ? 0 : 1
        }
        #expect(accepted > 10)
        #expect(accepted < Self.original.count)
    }
}
