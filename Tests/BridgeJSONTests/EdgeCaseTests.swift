import BridgeJSON
import Foundation
import TestSupport
import Testing

/// Texts at the edges, compared with Foundation. Intended differences have tests of their own.
@Suite("Edge cases, compared with Foundation")
struct EdgeCaseTests {
    /// Returns whether both read the same `[T]` of one element, or both refuse it.
    private func same<T: Decodable & Equatable>(_ type: T.Type, _ text: String) -> Bool {
        let bytes = Array("[\(text)]".utf8)
        let ours = try? decode([T].self, bytes)
        let theirs = try? JSONDecoder().decode([T].self, from: Data(bytes))
        return ours == theirs
    }

    private static let texts = [
        // Escapes and surrogates.
        #""\u0000""#, #""\u0041\u00e9\u20AC""#, #""\uD834\uDD1E""#, #""\ud834""#, #""\udd1e""#, #""\ud834\ud834""#,
        #""\ud834x""#, #""\ud834\n""#, #""\u12g4""#, #""\u 123""#, #""\U0041""#, #""\x41""#, #""\"\\\/\b\f\n\r\t""#,
        "\"\u{7F}\u{80}\u{FFFD}\u{FFFE}\u{10FFFF}\"", "\"\u{0}\"", "\"\n\"", "\"a\tb\"", #""\"#, #"""#, #""\u00""#,
        // Numbers.
        "0", "-0", "-0.0", "00", "01", "-01", "1.", ".1", "1.0", "1.50", "-", "+1", "1e", "1e+", "1e5", "1E-5", "1e05",
        "0e0", "0x1", "1_0", "NaN", "Infinity", "-Infinity", "9007199254740991", "9007199254740993",
        "9223372036854775807", "-9223372036854775808", "4.9e-324", "2.5e-324", "2.2250738585072011e-308",
        "1.7976931348623157e308", "0.1", "0.30000000000000004", "123456789012345678", "0.000001", "1e22", "1e23",
        "8.5e-5", "100000000000000000000000", "0.1000000000000000055511151231257827021181583404541015625", "1 ", " 1",
        // Words, containers, white space.
        "true", "false", "null", "True", "tru", "truex", "nul", "[]", "{}", "[1,2]", "[,]", "[1 2]",
        "{\"a\":1}",
        #"{"a"}"#, #"{a:1}"#, #"{"a":1 "b":2}"#, #"{"":0}"#, " \t\r\n1 \t\r\n", "\u{A0}1", "\u{FEFF}1",
        "1]",
        "1}", "]", "[", "// x\n1", "/**/1", "'a'", "", ",", ":", #"{"a":null,"b":[]}"#,
    ]

    @Test("Both read the same, and refuse the same", arguments: texts)
    func edges(_ text: String) {
        #expect(same(String.self, text), "as a string")
        #expect(same(Bool.self, text), "as a boolean")
        #expect(same(Int8.self, text), "as a small integer")
        #expect(same(Int.self, text), "as an integer")
        #expect(same(UInt64.self, text), "as an unsigned integer")
        #expect(same(Double.self, text), "as a double")
        #expect(same(Int?.self, text), "as an optional")
        #expect(same([Int].self, text), "as an array")
        #expect(same([String: Int].self, text), "as an object")
        #expect(same([String: Int?].self, text), "as an object of optionals")
    }

    @Test("Invalid UTF-8 is refused by both", arguments: [[0x80], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xFF]])
    func invalidUTF8(_ bytes: [UInt8]) {
        let text = Array("[\"".utf8) + bytes + Array("\"]".utf8)
        #expect(throws: JSONMismatch.self) { try decode([String].self, text) }
        #expect(throws: (any Error).self) { try JSONDecoder().decode([String].self, from: Data(text)) }
    }

    @Test(
        "Random doubles, short and long, are those of Swift and strtod, bit for bit", arguments: 0..<8 as Range<UInt64>)
    func doubles(_ seed: UInt64) throws {
        var generator = TestSupport.SeededGenerator(seed: 4000 + seed)
        for _ in 0..<500 {
            let digits = String(generator.next() >> Int.random(in: 0...63, using: &generator))
            var text = (Bool.random(using: &generator) ? "-" : "") + digits
            if Bool.random(using: &generator) {
                text += "." + String(generator.next() >> Int.random(in: 0...63, using: &generator))
            }
            if Int.random(in: 0..<4, using: &generator) == 0 {
                text += "e\(Int.random(in: -330...310, using: &generator))"
            }
            guard let value = Double(text), value.isFinite else { continue }
            #expect(try decode(Double.self, Array(text.utf8)).bitPattern == value.bitPattern, "\(text)")
            #expect(strtod(text, nil).bitPattern == value.bitPattern, "\(text)")
            let float = try decode(Float.self, Array("1.\(digits)".utf8))
            #expect(float.bitPattern == Float("1.\(digits)")?.bitPattern)
        }
        for _ in 0..<500 {
            let value = Double(bitPattern: generator.next())
            guard value.isFinite else { continue }
            let bytes = try JSONCoding.encode(value)
            #expect(try decode(Double.self, bytes).bitPattern == value.bitPattern)
            #expect(try JSONDecoder().decode(Double.self, from: Data(bytes)) == value)
        }
    }

    @Test("Integers at the bounds of types and random ones are read and written", arguments: 0..<4 as Range<UInt64>)
    func integers(_ seed: UInt64) {
        var generator = TestSupport.SeededGenerator(seed: 5000 + seed)
        let bounds = ["0", "127", "128", "255", "256", "32767", "32768", "65535", "65536", "2147483647", "2147483648"]
        let large = ["4294967295", "4294967296", "9223372036854775807", "9223372036854775808", "18446744073709551615"]
        for text in (bounds + large).flatMap({ [$0, "-" + $0] }) {
            #expect(
                same(Int8.self, text) && same(UInt8.self, text) && same(Int16.self, text) && same(UInt16.self, text))
            #expect(same(Int32.self, text) && same(UInt32.self, text), "\(text)")
            #expect(same(Int64.self, text) && same(UInt64.self, text), "\(text)")
        }
        for _ in 0..<500 {
            let number = Int64(bitPattern: generator.next()) >> Int64.random(in: 0...63, using: &generator)
            #expect((try? decode(Int64.self, Array("\(number)".utf8))) == number)
            #expect((try? JSONCoding.encode(number)) == Array("\(number)".utf8))
            #expect((try? JSONCoding.encode(UInt64(bitPattern: number))) == Array("\(UInt64(bitPattern: number))".utf8))
        }
    }

    @Test("Both read the same values from random documents", arguments: 0..<20 as Range<UInt64>)
    func documents(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: 6000 + seed)
        for _ in 0..<20 {
            let json = generator.json(depth: 4)
            guard let theirs = try? JSONSerialization.jsonObject(with: Data(json.bytes), options: .fragmentsAllowed)
            else {
                // The document has numbers beyond the range of doubles.
                #expect(json.text.contains(/[eE]|[0-9]{20}/))
                continue
            }
            #expect(means(json, theirs), "\(json.text)")
        }
    }

    /// Returns whether a value of Foundation equals ours. Numbers may differ slightly: Foundation reads those of many
    /// digits through a decimal, which rounds twice.
    private func means(_ json: JSON, _ theirs: Any) -> Bool {
        switch (json, theirs) {
        case (.null, is NSNull): return true
        case (.bool(let flag), let theirs as Bool): return flag == theirs
        case (.string(let string), let theirs as String): return string.utf8.elementsEqual(theirs.utf8)
        case (.number(let number), let theirs as NSNumber):
            return abs(number.double - theirs.doubleValue) <= abs(number.double) * 1e-14
        case (.array(let elements), let theirs as [Any]):
            return elements.count == theirs.count && zip(elements, theirs).allSatisfy { means($0, $1) }
        case (.object(let object), let theirs as [String: Any]):
            // Foundation compares keys as Swift strings, by canonical equivalence.
            return Set(object.keys).count == theirs.count
                && (theirs.count < object.count || object.allSatisfy { means($0.value, theirs[$0.key] ?? NSNull()) })
        default: return false
        }
    }

    @Test("Random mutations of a text are read or refused like JSON values", arguments: 0..<10 as Range<UInt64>)
    func mutations(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: 7000 + seed)
        let good = Array(#"{"a":[1,-2.5e3,"x\n\u00e9",true],"b":{"c":null,"a b":[]},"":0}"#.utf8)
        for _ in 0..<300 {
            let bytes = generator.mutate(good)
            let value = try? JSON(parsing: bytes)
            #expect((try? decode(JSON.self, bytes)) == value)
            #expect(
                (try? decode([String: JSON].self, bytes)).map { Set($0.keys) }
                    == (value?.objectValue?.keys).map(Set.init))
        }
    }
}

@Suite("Intended differences from Foundation")
struct DifferenceTests {
    @Test("The last of equal keys counts; Foundation's decoder takes the first or the last unpredictably")
    func duplicateKeys() throws {
        let text = Array(#"{"a":1,"b":2,"\u0061":3,"a":4}"#.utf8)
        #expect(try decode([String: Int].self, text) == ["a": 4, "b": 2])
        struct Both: Decodable, Equatable { var a: Int, b: Int }
        #expect(try decode(Both.self, text) == Both(a: 4, b: 2))
    }

    @Test("Two compositions of one letter are two keys; Foundation takes them for one")
    func composedKeys() throws {
        struct Name: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
        struct Pair: Decodable {
            var one: Int, two: Int
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Name.self)
                one = try container.decode(Int.self, forKey: Name(stringValue: "\u{E9}"))
                two = try container.decode(Int.self, forKey: Name(stringValue: "e\u{301}"))
            }
        }
        let pair = try decode(Pair.self, Array("{\"\u{E9}\":1,\"e\u{301}\":2}".utf8))
        #expect(pair.one == 1 && pair.two == 2)
    }

    @Test("A comma after the last element is refused; Foundation accepts it", arguments: ["[1,]", #"{"a":1,}"#])
    func trailingComma(_ text: String) {
        #expect(throws: JSONMismatch.self) { try decode(JSON.self, Array(text.utf8)) }
    }

    @Test("A number nearer to 0 than every double is read as 0; Foundation refuses it")
    func underflow() throws {
        #expect(try decode(Double.self, Array("1e-400".utf8)) == 0)
        #expect(try decode(Double.self, Array("-1e-400".utf8)).sign == .minus)
        #expect(throws: JSONMismatch.self) { try decode(Int.self, Array("1e-400".utf8)) }
    }

    @Test("A byte order mark is refused; Foundation ignores it")
    func byteOrderMark() {
        #expect(throws: JSONMismatch.self) { try decode(Int.self, Array("\u{FEFF}1".utf8)) }
    }

    @Test("At most 128 levels are read; Foundation reads 512")
    func depth() throws {
        func nested(_ levels: Int) -> [UInt8] {
            Array((String(repeating: "[", count: levels) + String(repeating: "]", count: levels)).utf8)
        }
        #expect(try decode(JSON.self, nested(128)) != .null)
        #expect(throws: JSONMismatch.self) { try decode(JSON.self, nested(129)) }
        // The depth of a value that is already in memory is not limited.
        #expect(try JSONCoding.decode(JSON.self, from: JSON(parsing: nested(500), maximumDepth: 512)) != .null)
    }

    @Test("A whole double is written with a fraction; Foundation writes none")
    func wholeDoubles() throws {
        #expect(try JSONCoding.encode([1.0, -0.0, 1e16]) == Array("[1.0,-0.0,1e+16]".utf8))
    }

    @Test("A slash is written unescaped; Foundation escapes it")
    func slash() throws {
        #expect(try JSONCoding.encode("a/b") == Array(#""a/b""#.utf8))
    }
}
