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

/// Orders in which containers may be asked for and filled, and what must not be done with them.
@Suite("Types that write themselves")
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

    @Test("A nested container that is opened again for its key goes on")
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

    @Test("An encoder asked twice for the same kind of container gives the same one")
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
        "Of a key that is written twice the last value counts, at the place of the first", arguments: [0, 15, 16, 100])
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

    @Test("A value replaces a nested container of its key, and the other way round; what comes later counts")
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

    @Test("Encoders of superclasses are filled when their owner likes")
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

    @Test("Of a part that failed and was given up nothing is left")
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

    @Test("A nested container outlives a member of its key that failed")
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

    @Test("What is kept of a part is of no use when its value has ended")
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

    @Test("A failure leaves the output as it was")
    func failure() {
        var output: [UInt8] = [1, 2]
        #expect(throws: JSONEncodingError.self) { try JSONCoding.encode(["a": Refused()], to: &output) }
        #expect(output == [1, 2])
    }

    @Test("Many nested containers in one object cost their number, not its square")
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

    @Test("JSON that a type writes as itself keeps the order of its members and its numbers' texts")
    func jsonAsItself() throws {
        let json = try JSON(parsing: #"{"z":1.50,"a":[1e400],"m":{}}"#)
        #expect(try text { try json.encode(to: $0) } == json.text)
        #expect(try text { try JSONNumber(text: "1.00").encode(to: $0) } == "1.00")
    }

    @Test("The path that a type sees while it writes is that of its position")
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
