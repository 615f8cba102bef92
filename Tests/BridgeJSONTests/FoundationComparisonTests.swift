import BridgeJSON
import Foundation
import Testing

/// Our coders compared with Foundation's: each reads what the other writes, and both refuse the same texts.
@Suite("Typed coding, compared with Foundation's")
struct FoundationComparisonTests {
    struct Plain: Codable, Equatable {
        var flag = true
        var text = "é\"\\\n"
        var double = 0.1
        var float: Float = 0.1
        var int = Int.min
        var int8 = Int8.min
        var int16 = Int16.max
        var int32 = Int32.min
        var int64 = Int64.max
        var uint = UInt.max
        var uint8 = UInt8.max
        var uint16 = UInt16.max
        var uint32 = UInt32.max
        var uint64 = UInt64.max
    }

    struct Optionals: Codable, Equatable {
        var number: Int?
        var text: String?
        var nested: Plain?
        var list: [Int?]?
        var dictionary: [String: Bool?]?
    }

    enum Kind: String, Codable, CaseIterable { case alert, confirm }
    enum Level: Int, Codable { case low = 1, high = 10 }

    enum Shape: Codable, Equatable {
        case circle(radius: Double)
        case polygon([Point], closed: Bool)
        case none
    }

    struct Point: Codable, Equatable, Hashable {
        var x: Double
        var y: Double

        init(_ x: Double, _ y: Double) { (self.x, self.y) = (x, y) }

        init(from decoder: any Decoder) throws {
            var list = try decoder.unkeyedContainer()
            x = try list.decode(Double.self)
            y = try list.decode(Double.self)
        }

        func encode(to encoder: any Encoder) throws {
            var list = encoder.unkeyedContainer()
            try list.encode(x)
            try list.encode(y)
        }
    }

    struct Mixed: Codable, Equatable {
        var kind: Kind
        var level: Level
        var shapes: [Shape]
        var points: Set<Point>
        var matrix: [[Int]]
        var byName: [String: Plain]
        var byNumber: [Int: String]
        var byKind: [Kind: Int]
        var wrapped: Wrapped
        var range: Range<Int>

        enum CodingKeys: String, CodingKey {
            case kind = "the kind", level, shapes, points, matrix, byName, byNumber, byKind, wrapped, range
        }
    }

    struct Wrapped: Codable, Equatable {
        var value: String

        init(_ value: String) { self.value = value }
        init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(String.self) }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(value)
        }
    }

    private func compare<T: Codable & Equatable>(_ value: T) throws {
        let ours = try JSONCoding.encode(value)
        let theirs = try JSONEncoder().encode(value)
        #expect(try JSONDecoder().decode(T.self, from: Data(ours)) == value)
        #expect(try ours.withUnsafeBytes { try JSONCoding.decode(T.self, from: $0) } == value)
        #expect(try theirs.withUnsafeBytes { try JSONCoding.decode(T.self, from: $0) } == value)
        #expect(try JSONCoding.decode(T.self, from: JSONCoding.json(value)) == value)
    }

    @Test("Plain types are read and written alike")
    func plain() throws {
        try compare(Plain())
        try compare([Plain(), Plain(flag: false, text: "", double: -0.0, float: .pi, int: 0)])
        try compare([Double.leastNonzeroMagnitude, .greatestFiniteMagnitude, 1e22, 1e16, 123_456_789.123])
        try compare([Float.leastNonzeroMagnitude, .greatestFiniteMagnitude, 16_777_216, 0.3])
    }

    @Test("Values at the top level are read and written alike")
    func top() throws {
        try compare("text")
        try compare(7)
        try compare(true)
        try compare([Int]())
        try compare([String: Int]())
        try compare(Optional(3))
        try compare(Int?.none)
        try compare(Kind.confirm)
    }

    @Test("Present, null and missing optionals are read and written alike")
    func optionals() throws {
        try compare(Optionals())
        try compare(
            Optionals(number: 1, text: "t", nested: Plain(), list: [1, nil, 3], dictionary: ["a": true, "b": nil]))
        for text in ["{}", #"{"number":null,"text":null,"nested":null,"list":null,"dictionary":null}"#] {
            #expect(try decode(Optionals.self, text) == Optionals())
            #expect(try JSONDecoder().decode(Optionals.self, from: Data(text.utf8)) == Optionals())
        }
    }

    @Test("Enumerations, sets, dictionaries and custom arrays are read and written alike")
    func mixed() throws {
        try compare(
            Mixed(
                kind: .alert, level: .high,
                shapes: [.circle(radius: 1.5), .polygon([Point(0, 1), Point(2, 3)], closed: true), .none],
                points: [Point(1, 2), Point(3, 4)], matrix: [[], [1], [1, 2]], byName: ["a": Plain(), "": Plain()],
                byNumber: [1: "one", -2: "minus two"], byKind: [.alert: 1, .confirm: 2], wrapped: Wrapped("w"),
                range: 1..<5))
    }

    private func decode<T: Decodable>(_ type: T.Type, _ text: String) throws -> T {
        try BridgeJSONTests.decode(type, Array(text.utf8))
    }

    /// Returns whether both decoders accept a text for a type; `nil` if they differ.
    private func takes<T: Decodable>(_ type: T.Type, _ text: String) -> Bool? {
        let ours = (try? decode(type, text)) != nil
        let theirs = (try? JSONDecoder().decode(type, from: Data(text.utf8))) != nil
        return ours == theirs ? ours : nil
    }

    @Test(
        "Both accept the same integers",
        arguments: [
            "0", "-0", "255", "256", "-1", "1.0", "1.5", "1e2", "1e3", "\"1\"", "true", "null", "[]", "{}",
            "18446744073709551616", "1e400",
        ])
    func sameIntegers(_ text: String) {
        #expect(takes(UInt8.self, text) != nil, "\(text) for UInt8")
        #expect(takes(Int64.self, text) != nil, "\(text) for Int64")
        #expect(takes([Int16].self, "[\(text)]") != nil, "\(text) for Int16")
    }

    @Test(
        "Both accept the same values of other types",
        arguments: [
            "0", "1.5", "\"\"", "true", "null", "[]", "{}", "[1]", "[true]", #"{"a":1}"#, "[null]", #"{"a":null}"#,
        ])
    func sameValues(_ text: String) {
        #expect(takes(Bool.self, text) != nil)
        #expect(takes(String.self, text) != nil)
        #expect(takes(Double.self, text) != nil)
        #expect(takes([Int].self, text) != nil)
        #expect(takes([Int?].self, text) != nil)
        #expect(takes([String: Int].self, text) != nil)
        #expect(takes([String: Int?].self, text) != nil)
        #expect(takes(Int?.self, text) != nil)
        #expect(takes(Optionals.self, text) != nil)
        #expect(takes(Kind.self, text) != nil)
        #expect(takes(Level.self, text) != nil)
    }

    struct Lists: Codable, Equatable {
        var strings: [String]?
        var integers: [Int]?
        var doubles: [Double]?
        var nested: [[String]]?
    }

    @Test(
        "Both accept the same arrays of plain values, as members and as elements",
        arguments: [
            "[]", #"["a"]"#, #"["\u00e9","","a\nb","a text that is longer than fifteen bytes"]"#, "[1]", "[1,-2.0,3e2]",
            "[1.5,0,-0]", "[9223372036854775808]", "[1e400]", #"["a",1]"#, #"[1,"a"]"#, "[null]", "[true]", "[[]]",
            "{}", "null", #"[["a"],[]]"#, #"[["a"],[1]]"#, "[\(String(repeating: "7,", count: 300))7]",
        ])
    func sameLists(_ text: String) {
        for name in ["strings", "integers", "doubles", "nested"] {
            #expect(takes(Lists.self, "{\"\(name)\":\(text)}") != nil, "\(text) for \(name)")
        }
    }

    @Test("Floats are rounded once, from the text")
    func floats() throws {
        // A number just above the midpoint of two floats, nearer to it than any double.
        #expect(try decode(Float.self, "1.000000059604644775390626") == Float(1).nextUp)
        #expect(try decode(Float.self, "1.000000059604644775390625") == 1)
        #expect(throws: JSONMismatch.self) { try decode(Float.self, "1e39") }
        #expect(throws: JSONMismatch.self) { try decode(Double.self, "1e400") }
    }
}
