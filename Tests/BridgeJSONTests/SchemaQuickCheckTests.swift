import BridgeJSON
import Testing

/// Checks on a thread that other work waits for.
@Suite("Quick checks of schemas")
struct SchemaQuickCheckTests {
    private func quickly(_ schema: String, _ value: String) throws -> Bool {
        let check = try SchemaCheck(try JSON(parsing: schema))
        let room = SchemaRoom()
        return try Array(value.utf8).withUnsafeBytes { try check.checkQuickly($0, in: room) }
    }

    @Test("A small value is decided at once")
    func small() throws {
        let schema = #"{"type":"object","properties":{"a":{"type":"string","pattern":"^x+$"}},"required":["a"]}"#
        #expect(try quickly(schema, #"{"a":"xxx"}"#))
        #expect(throws: SchemaMisfit.self) { try quickly(schema, #"{"a":"y"}"#) }
        #expect(throws: SchemaMisfit.self) { try quickly(schema, "{") }
    }

    @Test("A check with many steps or a long text is left to a whole check, whatever its result")
    func large() throws {
        let choices = (0..<300).map { #"{"enum":[\#($0)]}"# }.joined(separator: ",")
        let schema = #"{"items":{"anyOf":[\#(choices)]}}"#
        let many = "[" + Array(repeating: "299", count: 100).joined(separator: ",") + "]"
        #expect(try !quickly(schema, many))
        #expect(try SchemaCheck(try JSON(parsing: schema)).misfit(many) == nil)
        #expect(try !quickly(schema, "[" + String(repeating: " ", count: 5_000) + "]"))
        #expect(try quickly(schema, "[1]"))
    }

    @Test("A long number is not tested thousands of times for being an integer")
    func integers() throws {
        let integers = Array(repeating: #"{"type":"integer"}"#, count: 2_000).joined(separator: ",")
        let schema = #"{"not":{"anyOf":[\#(integers)]}}"#
        #expect(try !quickly(schema, "1.5" + String(repeating: "0", count: 4_080)))
        #expect(try quickly(schema, "1.5"))
    }

    @Test("A mismatch with a large schema is described by a whole check")
    func words() throws {
        let schema = #"{"enum":[\#((0..<2_000).map(String.init).joined(separator: ","))]}"#
        #expect(try quickly(schema, "1999"))
        #expect(try !quickly(schema, "2000"))
        #expect(try SchemaCheck(try JSON(parsing: schema)).misfit("2000")?.description.contains("one of: 0") == true)
    }

    @Test("A value that no check can decide is refused at once")
    func undecidable() throws {
        #expect {
            try quickly(#"{"minimum":3}"#, "1e9999999999999999")
        } throws: {
            if case .tooMuch? = $0 as? SchemaMisfit { true } else { false }
        }
    }

    @Test("A pattern that was removed from the cache is not compiled in a quick check")
    func pattern() throws {
        let check = try SchemaCheck(["pattern": "^left[0-9]$"])
        let room = SchemaRoom()
        func quick() throws -> Bool {
            try Array(#""left7""#.utf8).withUnsafeBytes { try check.checkQuickly($0, in: room) }
        }
        // Other tests compile patterns at the same time and may displace this one, so it is tried several times.
        func soonQuick() throws -> Bool {
            for _ in 0..<20 {
                _ = check.misfit(#""left7""#)
                if try quick() { return true }
            }
            return false
        }
        #expect(try soonQuick())
        // Each takes 64 KiB of the 16 MiB for all.
        for number in 0..<300 { _ = try SchemaCheck(["pattern": .string("^new\(number)$")]) }
        #expect(try !quick())
        #expect(try soonQuick())
    }
}
