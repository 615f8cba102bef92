import CBridgeJSON
import TestSupport
import Testing

@testable import BridgeMessage

@Suite("Names that are searched among the keys of a line")
struct MemberNamesTests {
    /// Several names of one length, an empty one, one of one byte and the longest; some have the same beginning.
    private static let wanted: [StaticString] = [
        "task", "data", "", "a", "taskb", "abcdefgh", "abcdefgi", "abcdefghi", "0123456789abcdef", "0123456789abcdeg",
        "é",
    ]
    /// Keys that are names, and similar keys: longer, shorter, with another byte, with an escape.
    private static let keys =
        wanted.map { "\($0)" } + [
            "tas", "tasks", "Task", "abcdefgj", "0123456789abcde", "0123456789abcdef0", "b", "ê", "\\u0074ask", "a\\n",
        ]
    private static let names = MemberNames(wanted)

    /// The names that were found.
    private struct Found: Equatable {
        var places: [String: Int] = [:]
        var repeated: Set<String> = []
        var hasEscapedKeys = false

        init() {}

        init(_ line: ParsedLine) {
            let text = line.text.pointee
            for (number, name) in wanted.enumerated() where text.found & 1 << UInt64(number) != 0 {
                places["\(name)"] = text.places.map { Int($0[number]) }
                if text.repeated & 1 << UInt64(number) != 0 { repeated.insert("\(name)") }
            }
            hasEscapedKeys = text.has_escaped_keys
        }

        /// Creates the expected result for keys in this order.
        init(keys: [String]) {
            for (index, key) in keys.enumerated() {
                if key.contains("\\") { hasEscapedKeys = true }
                guard wanted.contains(where: { "\($0)" == key }) else { continue }
                if places.updateValue(index, forKey: key) != nil { repeated.insert(key) }
            }
        }
    }

    @Test("are found with their positions, at once and in steps", arguments: 0..<50 as Range<UInt64>)
    func random(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<40 {
            let count = Int.random(in: 0...8, using: &generator)
            let keys = (0..<count).map { _ in Self.keys.randomElement(using: &generator) ?? "" }
            // Keys of inner objects do not count.
            let text = "{" + keys.map { #""\#($0)":{"task":1}"# }.joined(separator: ",") + "}"
            let expected = Found(keys: keys)
            withPadding(text.utf8) { bytes in
                var parser = LineParser(Self.names)
                #expect((try? parser.parse(parser.inCopy(of: bytes))).map(Found.init) == expected, "\(text)")
                let empty = UnsafeRawBufferPointer(start: nil, count: 0)
                let walk = LineWalk(OwnedLine(copying: bytes, empty), maximumDepth: 128, names: Self.names)
                while !walk.step(bytes: 5) {}
                #expect((try? walk.parsed()).map(Found.init) == expected, "\(text)")
            }
        }
    }

    @Test("are not taken from the previous line")
    func again() {
        var parser = LineParser(Self.names)
        for (text, expected) in [
            (#"{"task":1,"task":2,"\n":3}"#, Found(keys: ["task", "task", "\\n"])), ("{}", Found()), ("[1]", Found()),
            ("1", Found()), (#"{"data":1}"#, Found(keys: ["data"])),
        ] {
            withPadding(text.utf8) { bytes in
                #expect((try? parser.parse(parser.inCopy(of: bytes))).map(Found.init) == expected, "\(text)")
            }
        }
    }
}
