import BridgeJSON
import Foundation
import Testing

@Suite("Types with custom coding")
struct ContainerTests {
    class Animal: Codable {
        var name: String
        init(name: String) { self.name = name }
    }

    final class Dog: Animal {
        var tricks: [String]

        private enum Keys: CodingKey { case tricks, parent }

        init(name: String, tricks: [String]) {
            self.tricks = tricks
            super.init(name: name)
        }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            tricks = try container.decode([String].self, forKey: .tricks)
            try super.init(from: container.superDecoder())
        }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(tricks, forKey: .tricks)
            try super.encode(to: container.superEncoder())
        }
    }

    @Test("A class is read and written with its superclass")
    func classes() throws {
        let dog = Dog(name: "Rex", tricks: ["sit"])
        let json = try JSONCoding.json(dog)
        #expect(json == ["tricks": ["sit"], "super": ["name": "Rex"]])
        let again = try JSONCoding.decode(Dog.self, from: json)
        #expect(again.name == "Rex" && again.tricks == ["sit"])
        #expect(try JSONDecoder().decode(Dog.self, from: Data(json.bytes)).name == "Rex")
    }

    /// Two members of one nested object, written through two containers, and a list in a list.
    struct Nested: Codable, Equatable {
        var a: Int
        var b: Int
        var list: [Int]

        enum Keys: CodingKey { case inner, list, absent }
        enum InnerKeys: CodingKey { case a, b }

        init(a: Int, b: Int, list: [Int]) { (self.a, self.b, self.list) = (a, b, list) }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            let inner = try container.nestedContainer(keyedBy: InnerKeys.self, forKey: .inner)
            a = try inner.decode(Int.self, forKey: .a)
            b = try inner.decode(Int.self, forKey: .b)
            var outer = try container.nestedUnkeyedContainer(forKey: .list)
            var numbers = try outer.nestedUnkeyedContainer()
            list = []
            while !numbers.isAtEnd { list.append(try numbers.decode(Int.self)) }
            let end = try outer.nestedContainer(keyedBy: InnerKeys.self)
            guard end.allKeys.isEmpty, try outer.decodeNil(), outer.isAtEnd else {
                throw DecodingError.dataCorruptedError(in: outer, debugDescription: "no end")
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            var first = container.nestedContainer(keyedBy: InnerKeys.self, forKey: .inner)
            try first.encode(a, forKey: .a)
            var outer = container.nestedUnkeyedContainer(forKey: .list)
            var numbers = outer.nestedUnkeyedContainer()
            for number in list { try numbers.encode(number) }
            _ = outer.nestedContainer(keyedBy: InnerKeys.self)
            try outer.encodeNil()
            var second = container.nestedContainer(keyedBy: InnerKeys.self, forKey: .inner)
            try second.encode(b, forKey: .b)
        }
    }

    @Test("Nested containers are read and written, one of them opened twice")
    func nested() throws {
        let value = Nested(a: 1, b: 2, list: [3, 4])
        let json = try JSONCoding.json(value)
        #expect(json == ["inner": ["a": 1, "b": 2], "list": [[3, 4], [:], nil]])
        #expect(try JSONCoding.decode(Nested.self, from: json) == value)
        #expect(try JSONDecoder().decode(Nested.self, from: Data(json.bytes)) == value)
        let theirs = try JSON(parsing: Array(JSONEncoder().encode(value)))
        #expect(theirs == json)
    }

    @Test("A list that ends early is a mismatch at the missing element")
    func early() throws {
        struct Pair: Decodable {
            init(from decoder: any Decoder) throws {
                var list = try decoder.unkeyedContainer()
                _ = try (list.decode(Int.self), list.decode(Int.self))
            }
        }
        #expect(throws: JSONMismatch(path: "$[1]", expected: "another element", got: "nothing")) {
            try JSONCoding.decode(Pair.self, from: [1])
        }
    }

    @Test("An element that did not fit may be read as another type")
    func retry() throws {
        struct Either: Decodable {
            var texts: [String] = []
            init(from decoder: any Decoder) throws {
                var list = try decoder.unkeyedContainer()
                while !list.isAtEnd {
                    if let number = try? list.decode(Int.self) {
                        texts.append("\(number)")
                    } else {
                        texts.append(try list.decode(String.self))
                    }
                }
            }
        }
        #expect(try JSONCoding.decode(Either.self, from: [1, "two", 3]).texts == ["1", "two", "3"])
    }

    @Test("JSON and its numbers pass through unchanged")
    func passThrough() throws {
        struct Holder: Codable, Equatable {
            var any: JSON
            var number: JSONNumber
            var list: [JSON]
            var dictionary: [String: JSON]
            var absent: JSON?
        }
        let text =
            #"{"any":{"z":1.50,"a":[1e400,12345678901234567890123,null]},"number":0.100,"list":[1.0,null],"dictionary":{"k":2E+5}}"#
        let holder = try Array(text.utf8).withUnsafeBytes { try JSONCoding.decode(Holder.self, from: $0) }
        #expect(String(decoding: try JSONCoding.encode(holder), as: UTF8.self) == text)
        #expect(holder.absent == nil)
        // An optional member that is null is nil, like every optional.
        #expect(
            try JSONCoding.decode(
                Holder.self, from: ["any": nil, "number": 1, "list": [], "dictionary": [:], "absent": nil]
            ).absent == nil)
    }

    @Test("Other coders read and write JSON one value at a time")
    func otherCoders() throws {
        let json = try JSON(parsing: #"{"a":[1,-2,2.5,true,null,"t",18446744073709551615],"b":{}}"#)
        let data = try JSONEncoder().encode(json)
        #expect(try JSON(parsing: Array(data)) == json)
        #expect(try JSONDecoder().decode(JSON.self, from: data) == json)
    }

    @Test("A value that has no JSON is refused with its position, and nothing is appended")
    func noJSON() throws {
        var output: [UInt8] = [1]
        #expect {
            try JSONCoding.encode(["a": [1, Double.nan]], to: &output)
        } throws: { error in
            (error as? JSONEncodingError)?.path == "$.a[1]"
        }
        #expect(output == [1])
        #expect(throws: JSONEncodingError.self) { try JSONCoding.encode(Float.infinity) }
        struct Refuses: Encodable {
            func encode(to encoder: any Encoder) throws {
                throw EncodingError.invalidValue(1, .init(codingPath: encoder.codingPath, debugDescription: "no"))
            }
        }
        #expect(throws: JSONEncodingError.self) { try JSONCoding.encode([Refuses()]) }
    }

    @Test("A type that writes nothing is an empty object, and an empty optional is null")
    func nothing() throws {
        struct Silent: Codable {}
        #expect(try JSONCoding.json(Silent()) == [:])
        #expect(try JSONCoding.json([Silent(), Silent()]) == [[:], [:]])
        #expect(try JSONCoding.json(Int?.none) == nil)
        #expect(try JSONCoding.json([Int?.none]) == [nil])
    }

    @Test("The coding path in a type's decoding is that of its position")
    func codingPath() throws {
        struct Spy: Decodable {
            var path: [String]
            init(from decoder: any Decoder) throws { path = decoder.codingPath.map(\.stringValue) }
        }
        let spies = try JSONCoding.decode([String: [Spy]].self, from: ["a": [1, 2]])
        #expect(spies["a"]?.map(\.path) == [["a", "0"], ["a", "1"]])
    }
}
