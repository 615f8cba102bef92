import BridgeJSON
import Testing

private struct Refused: Error, Encodable {
    func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        try list.encode("half written")
        var nested = list.nestedUnkeyedContainer()
        try nested.encode(1)
        throw self
    }
}

/// The orders in which containers may be requested and filled, and the misuses of an encoder.
@Suite("Types with custom encoding")
struct EncoderTests {
    func text(_ write: @escaping (any Encoder) throws -> Void) throws -> String {
        let value = Custom(write)
        let text = String(decoding: try JSONCoding.encode(value), as: UTF8.self)
        // The same as an element of an array, between others.
        #expect(try JSONCoding.encode([Custom { _ in }, value, value]) == Array("[{},\(text),\(text)]".utf8))
        return text
    }

    @Test("Two nested containers are filled alternately, and after their siblings")
    func alternate() throws {
        let written = try text { encoder in
            var outer = encoder.container(keyedBy: Key.self)
            var first = outer.nestedContainer(keyedBy: Key.self, forKey: .a)
            var second = outer.nestedUnkeyedContainer(forKey: .b)
            try first.encode(1, forKey: .a)
            try second.encode("x")
            try outer.encode(true, forKey: .c)
            try first.encode(2, forKey: .b)
            var third = second.nestedContainer(keyedBy: Key.self)
            try second.encodeNil()
            try third.encode([1.5], forKey: .quoted)
        }
        #expect(written == #"{"a":{"a":1,"b":2},"b":["x",{"\"\n":[1.5]},null],"c":true}"#)
    }

    @Test("A nested container that is opened again for its key continues")
    func reopened() throws {
        let written = try text { encoder in
            var outer = encoder.container(keyedBy: Key.self)
            var first = outer.nestedContainer(keyedBy: Key.self, forKey: .a)
            try first.encode(1, forKey: .a)
            try outer.encode(0, forKey: .b)
            var second = outer.nestedContainer(keyedBy: Key.self, forKey: .a)
            try second.encode(2, forKey: .b)
            try first.encode(3, forKey: .c)
        }
        #expect(written == #"{"a":{"a":1,"b":2,"c":3},"b":0}"#)
    }

    @Test("An encoder that is asked twice for the same kind of container returns the same one")
    func sameContainer() throws {
        let written = try text { encoder in
            var first = encoder.container(keyedBy: Key.self)
            try first.encode(1, forKey: .a)
            var second = encoder.container(keyedBy: Key.self)
            try second.encode(2, forKey: .b)
            try first.encode(3, forKey: .c)
        }
        #expect(written == #"{"a":1,"b":2,"c":3}"#)
    }

    @Test(
        "The last of equal keys counts, at the position of the first", arguments: [0, 15, 16, 100])
    func sameKey(_ others: Int) throws {
        struct Name: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
        let rest = (0..<others).map { ",\"k\($0)\":\($0)" }.joined()
        #expect(
            try text { encoder in
                var object = encoder.container(keyedBy: Name.self)
                try object.encode([1], forKey: Name(stringValue: "a\n"))
                for number in 0..<others { try object.encode(number, forKey: Name(stringValue: "k\(number)")) }
                try object.encode("last", forKey: Name(stringValue: "a\n"))
            } == #"{"a\n":"last""# + rest + "}")
    }

    @Test("A value replaces a nested container of its key and vice versa; the later one counts")
    func replaced() throws {
        #expect(
            try text { encoder in
                var outer = encoder.container(keyedBy: Key.self)
                var nested = outer.nestedContainer(keyedBy: Key.self, forKey: .a)
                try outer.encode(1, forKey: .a)
                try nested.encode(2, forKey: .b)
            } == #"{"a":1}"#)
        #expect(
            try text { encoder in
                var outer = encoder.container(keyedBy: Key.self)
                try outer.encode(1, forKey: .a)
                var nested = outer.nestedContainer(keyedBy: Key.self, forKey: .a)
                try nested.encode(2, forKey: .b)
            } == #"{"a":{"b":2}}"#)
    }

    @Test("Encoders of superclasses may be filled at any time")
    func superEncoders() throws {
        let written = try text { encoder in
            var outer = encoder.container(keyedBy: Key.self)
            let parent = outer.superEncoder()
            let named = outer.superEncoder(forKey: .b)
            let silent = outer.superEncoder(forKey: .c)
            try outer.encode(1, forKey: .a)
            var list = named.unkeyedContainer()
            let element = list.superEncoder()
            try list.encode(2)
            try "single".encode(to: element)
            var object = parent.container(keyedBy: Key.self)
            try object.encode(3, forKey: .a)
            _ = silent
        }
        #expect(written == #"{"super":{"a":3},"b":["single",2],"c":{},"a":1}"#)
    }

    @Test("A part whose encoding failed leaves nothing in the output if the error is caught")
    func givenUp() throws {
        let written = try text { encoder in
            var object = encoder.container(keyedBy: Key.self)
            try? object.encode(Refused(), forKey: .a)
            try? object.encode(Double.nan, forKey: .a)
            var list = object.nestedUnkeyedContainer(forKey: .b)
            try list.encode(1)
            try? list.encode(Refused())
            try? list.encode(["k": [Refused()]])
            try? list.encode(Float.infinity)
            #expect(list.count == 1)
            try list.encode(2)
            try object.encode(
                Custom { encoder in
                    var single = encoder.singleValueContainer()
                    try? single.encode(Refused())
                    try single.encode("instead")
                }, forKey: .c)
        }
        #expect(written == #"{"b":[1,2],"c":"instead"}"#)
    }

    @Test("A nested container keeps its members when another value for its key fails")
    func partKept() throws {
        let written = try text { encoder in
            var object = encoder.container(keyedBy: Key.self)
            var first = object.nestedContainer(keyedBy: Key.self, forKey: .a)
            try first.encode(1, forKey: .a)
            try? object.encode(Refused(), forKey: .a)
            var second = object.nestedContainer(keyedBy: Key.self, forKey: .a)
            try second.encode(2, forKey: .b)
        }
        #expect(written == #"{"a":{"a":1,"b":2}}"#)
    }

    @Test("Kept parts are refused after their value has ended")
    func keptParts() throws {
        final class Keeper { var encoder: (any Encoder)? }
        let keeper = Keeper()
        let value = Custom { encoder in
            var list = encoder.unkeyedContainer()
            keeper.encoder = list.superEncoder()
        }
        #expect(try JSONCoding.encode(value) == Array("[{}]".utf8))
        var object = try #require(keeper.encoder).container(keyedBy: Key.self)
        #expect(throws: JSONEncodingError.self) { try object.encode(1, forKey: .a) }
        var nested = object.nestedUnkeyedContainer(forKey: .b)
        #expect(throws: JSONEncodingError.self) { try nested.encode(1) }
    }

    @Test("A failure leaves the output unchanged")
    func failure() {
        var output: [UInt8] = [1, 2]
        #expect(throws: JSONEncodingError.self) { try JSONCoding.encode(["a": Refused()], to: &output) }
        #expect(output == [1, 2])
    }

    @Test("50,000 nested containers in one object take linear time")
    func manyParts() throws {
        struct Number: CodingKey {
            let intValue: Int?
            var stringValue: String { "\(intValue ?? 0)" }
            init(intValue: Int) { self.intValue = intValue }
            init?(stringValue: String) { nil }
        }
        let value = Custom { encoder in
            var outer = encoder.container(keyedBy: Number.self)
            for number in 0..<50_000 {
                var nested = outer.nestedUnkeyedContainer(forKey: Number(intValue: number))
                try nested.encode(number)
            }
        }
        let json = try JSONCoding.json(value)
        #expect(json.objectValue?.count == 50_000)
        #expect(json["49999"] == [49_999])
    }

    @Test("JSON values keep the order of their members and the texts of their numbers")
    func jsonAsItself() throws {
        let json = try JSON(parsing: #"{"z":1.50,"a":[1e400],"m":{}}"#)
        #expect(try text { try json.encode(to: $0) } == json.text)
        #expect(try text { try JSONNumber(text: "1.00").encode(to: $0) } == "1.00")
    }

    @Test("The coding path in a type's encoding is that of its position")
    func codingPath() throws {
        var seen: [[String]] = []
        _ = try JSONCoding.encode([
            "a": [
                Custom { encoder in
                    var object = encoder.container(keyedBy: Key.self)
                    let nested = object.nestedContainer(keyedBy: Key.self, forKey: .b)
                    seen = [encoder.codingPath, nested.codingPath].map { $0.map(\.stringValue) }
                }
            ]
        ])
        #expect(seen == [["a", "0"], ["a", "0", "b"]])
    }
}
