import TaskKit
import TestSupport
import Testing

@testable import PersistenceTasks

@Suite("The order of a query")
struct OrderingTests {
    /// Values in ascending order; those in one line share a position.
    private static let ladder: [[String?]] = [
        [nil], ["null"], ["false"], ["true"],
        ["-1e400"], ["-12345678901234567890124"], ["-12345678901234567890123"], ["-9007199254740993"],
        ["-9007199254740992"], ["-1.5"], ["-1"], ["-0", "0"], ["0.0", "-0.0", "0e5"],
        ["5e-324"], ["0.1"], ["1"], ["1.0", "10e-1"], ["1.5"], ["9007199254740992"], ["9007199254740993"],
        ["9007199254740992.0", "9007199254740993.0"], ["9007199254740994"], ["18446744073709551615"],
        ["18446744073709551616"], ["1e308"], ["1e309", "1e400"],
        [#""""#], [#""A""#], [#""a""#], [#""a\u0000""#], [#""aa""#], [#""e\u0301""#], [#""\u00e9""#],
        [#""\uffff""#], [#""😀""#], ["[]", "[1]"], ["{}", #"{"a":1}"#],
    ]

    private func value(_ text: String?) throws -> SortValue { SortValue(try text.map { try JSON(parsing: $0) }) }

    @Test("Values are ordered: missing, null, false, true, numbers, texts, arrays, objects")
    func ladder() throws {
        for (leftRung, leftTexts) in Self.ladder.enumerated() {
            for (rightRung, rightTexts) in Self.ladder.enumerated() {
                for left in leftTexts {
                    for right in rightTexts {
                        let order = try value(left).order(to: value(right))
                        #expect(
                            order == Comparison.Order(leftRung, rightRung),
                            "\(left ?? "missing") against \(right ?? "missing")")
                    }
                }
            }
        }
    }

    @Test("A position is unchanged after a round trip through a cursor")
    func throughCursor() throws {
        let path = TablePath(namespace: Namespace(uid: 1, origin: "local"), table: ExactText("t"))
        for text in Self.ladder.flatMap({ $0 }) {
            let ordering = try Ordering(parsing: ["-a", "b.c"])
            let position = Ordering.Position(values: [try value(text), .missing], key: Array("k\u{0}é".utf8))
            let back = try Cursor.parse(Cursor.text(position, in: path, ordering), in: path, ordering)
            #expect(back == position)
        }
    }

    @Test("A field is sorted in descending order even if its name begins with a combining character")
    func combining() throws {
        let ordering = try Ordering(parsing: "-\u{301}x")
        let position = { (json: JSON) in ordering.position(of: json, key: [1]) }
        #expect(position(["\u{301}x": 1]).values == [SortValue(1)])
        #expect(ordering.precedes(position(["\u{301}x": 2]), position(["\u{301}x": 1])))
    }

    @Test("Long texts are sorted by their first bytes, without splitting a code point")
    func longTexts() throws {
        let long = String(repeating: "x", count: Limits.orderTextBytes - 1)
        #expect(SortValue(.string(long + "éa")) == .text(Array(long.utf8)))
        #expect(SortValue(.string(long + "aé")) == .text(Array((long + "a").utf8)))
        #expect(SortValue(.string(long + "a")) == .text(Array((long + "a").utf8)))
    }

    @Test("A number with very many digits has a position and a small cursor")
    func longNumbers() throws {
        let ordering = try Ordering(parsing: "n")
        let path = TablePath(namespace: Namespace(uid: 1, origin: "local"), table: ExactText("t"))
        for text in [String(repeating: "9", count: 5000), "0." + String(repeating: "3", count: 5000)] {
            let position = ordering.position(of: ["n": try JSON(parsing: text)], key: [1])
            let cursor = Cursor.text(position, in: path, ordering)
            #expect(cursor.utf8.count < 300)
            #expect(try Cursor.parse(cursor, in: path, ordering) == position)
        }
    }

    @Test(
        "An invalid order is refused with its path",
        arguments: [
            ("1", "$.order"), (#"{"a":1}"#, "$.order"), ("[1]", "$.order[0]"), (#"["a","b..c"]"#, "$.order[1]"),
            (#""""#, "$.order"), (#""-""#, "$.order"), (#"["a","b","c","d","e","f","g","h","i"]"#, "$.order"),
        ])
    func refused(_ order: String, _ path: String) throws {
        let error = try #require(throws: BridgeError.self) { try Ordering(parsing: JSON(parsing: order)) }
        #expect(error.code == .optionsInvalid)
        #expect(error.data?["path"]?.stringValue == path)
    }

    @Test("A damaged cursor is either refused or parsed to a valid position")
    func damagedCursors() throws {
        let ordering = try Ordering(parsing: ["a", "-b"])
        let path = TablePath(namespace: Namespace(uid: 1, origin: "local"), table: ExactText("t"))
        let record: JSON = ["a": 12345, "b": "text"]
        let text = Cursor.text(ordering.position(of: record, key: Array("key".utf8)), in: path, ordering)
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\0 é".utf8)
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<3000 {
            let bytes = generator.mutate(Array(text.utf8), changes: 1...3, alphabet: alphabet)
            do throws(BridgeError) {
                let position = try Cursor.parse(String(decoding: bytes, as: UTF8.self), in: path, ordering)
                #expect(position.values.count == 2)
            } catch {
                #expect(error.code == .optionsInvalid)
                #expect(error.data?["path"]?.stringValue == "$.cursor")
            }
        }
    }
}
