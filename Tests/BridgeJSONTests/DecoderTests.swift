import BridgeJSON
import Testing

private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

@Suite("Types with custom decoding")
struct DecoderTests {
    @Test("Members are found in any order of requests", arguments: [1, 15, 16, 17, 40, 20_000])
    func anyOrder(_ count: Int) throws {
        struct Reversed: Decodable {
            var sum = 0
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Name.self)
                for key in container.allKeys.reversed() { sum += try container.decode(Int.self, forKey: key) }
                for key in container.allKeys.shuffled() where !container.contains(key) { sum = -1 }
                if container.contains(Name(stringValue: "none")) { sum = -1 }
            }
        }
        // Some of the keys are written with an escape.
        let members = (0..<count).map { $0 % 3 == 0 ? "\"\\u006b\($0)\":\($0)" : "\"k\($0)\":\($0)" }
        let text = "{" + members.joined(separator: ",") + "}"
        #expect(try decode(Reversed.self, Array(text.utf8)).sum == count * (count - 1) / 2)
    }

    @Test(
        "The last of equal keys counts, at the position of the first, in small and large objects", arguments: [0, 40])
    func duplicates(_ others: Int) throws {
        struct Order: Decodable {
            var keys: [String]
            var first: JSON
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Name.self)
                keys = container.allKeys.map(\.stringValue)
                first = try container.decode(JSON.self, forKey: Name(stringValue: "a"))
            }
        }
        let rest = (0..<others).map { "\"k\($0)\":\($0)," }.joined()
        let text = #"{"a":[1],"b":{"a":1,"a":2},"# + rest + #""a":{"x":1},"b":7,"\u0061":[3]}"#
        let order = try decode(Order.self, Array(text.utf8))
        #expect(order.keys == ["a", "b"] + (0..<others).map { "k\($0)" })
        #expect(order.first == [3])
    }

    @Test("A mismatching member may be read as another type, and a missing one as nil, any number of times")
    func again() throws {
        struct Patient: Decodable {
            var text: String
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Name.self)
                let (a, b) = (Name(stringValue: "a"), Name(stringValue: "b"))
                _ = try? container.decode(Int.self, forKey: a)
                _ = try? container.decode([Int].self, forKey: a)
                guard try container.decodeIfPresent(Int.self, forKey: b) == nil, try container.decodeNil(forKey: b),
                    try !container.decodeNil(forKey: a)
                else { throw DecodingError.dataCorruptedError(forKey: b, in: container, debugDescription: "there") }
                text = try container.decode(String.self, forKey: a) + (try container.decode(String.self, forKey: a))
            }
        }
        #expect(try decode(Patient.self, Array(#"{"z":0,"a":"x","b":null}"#.utf8)).text == "xx")
        #expect(try decode(Patient.self, Array(#"{"a":"x"}"#.utf8)).text == "xx")
    }

    @Test("A kept decoder can be read later: it has a copy of the text and does not use the caller's memory")
    func kept() throws {
        struct Keeping: Decodable {
            var later: () throws -> [String: Int]
            init(from decoder: any Decoder) throws {
                later = { try decoder.singleValueContainer().decode([String: Int].self) }
            }
        }
        var bytes = Array(#"{"one":1,"a key that is not small, at all":2}"#.utf8)
        let keeping = try decode(Keeping.self, bytes)
        for index in bytes.indices { bytes[index] = UInt8(ascii: "#") }
        bytes = []
        #expect(try keeping.later() == ["one": 1, "a key that is not small, at all": 2])
    }

    @Test("The superclass of an object without a member for it reads null")
    func missingSuper() throws {
        struct Child: Decodable {
            var isNull: Bool
            var path: [String]
            init(from decoder: any Decoder) throws {
                let parent = try decoder.container(keyedBy: Name.self).superDecoder()
                isNull = try parent.singleValueContainer().decodeNil()
                path = parent.codingPath.map(\.stringValue)
            }
        }
        let child = try decode([Child].self, Array("[{}]".utf8))[0]
        #expect(child.isNull && child.path == ["0", "super"])
    }

    @Test("Trying two types for each of 100,000 elements takes linear time")
    func manyTries() throws {
        struct Either: Decodable {
            var number: Int
            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if let text = try? container.decode(String.self) {
                    number = text.utf8.count
                } else {
                    number = try container.decode(Int.self)
                }
            }
        }
        let text = "[" + (0..<100_000).map { "\($0)" }.joined(separator: ",") + "]"
        #expect(try decode([Either].self, Array(text.utf8)).last?.number == 99_999)
    }
}
