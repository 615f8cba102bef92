import BridgeJSON
import Testing

private enum Key: String, CodingKey { case a, b }

private struct Pair: Codable, Equatable {
    var a: Int
    var b: String
}

private struct Named: Codable, Equatable {
    var name: String
    var pairs: [Pair]
    var pair: Pair?
}

/// Keeps the coders and containers that a value receives.
private final class Keeper {
    var decoder: (any Decoder)?
    var members: KeyedDecodingContainer<Key>?
    var encoder: (any Encoder)?
    var written: KeyedEncodingContainer<Key>?
}

private struct Keeping: Codable {
    /// The keeper for the values that the current task reads and writes.
    @TaskLocal static var keeper: Box?
    /// `@unchecked`: one test uses it, on one thread.
    struct Box: @unchecked Sendable { var keeper: Keeper }

    init() {}

    init(from decoder: any Decoder) throws {
        Self.keeper?.keeper.members = try decoder.container(keyedBy: Key.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(1, forKey: .a)
        Self.keeper?.keeper.written = container
    }
}

private struct KeepingCoder: Codable {
    init() {}

    init(from decoder: any Decoder) throws { Keeping.keeper?.keeper.decoder = decoder }

    func encode(to encoder: any Encoder) throws {
        Keeping.keeper?.keeper.encoder = encoder
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(1, forKey: .a)
    }
}

@Suite("JSON of Codable types")
struct CoderTests {
    private func decode<T: Decodable>(_ type: T.Type, _ text: String) throws(JSONMismatch) -> T {
        var bytes = Array(text.utf8)
        let result = bytes.withUnsafeMutableBytes { bytes in
            Result { () throws(JSONMismatch) in
                // The bytes are overwritten afterwards, which exposes any later use of the borrowed memory.
                defer { for index in bytes.indices { bytes[index] = UInt8(ascii: "#") } }
                return try JSONCoding.decode(type, from: UnsafeRawBufferPointer(bytes))
            }
        }
        return try result.get()
    }

    private func text<T: Encodable>(_ value: T) throws(JSONEncodingError) -> String {
        try JSONCoding.withText(of: value) { String(decoding: $0, as: UTF8.self) }
    }

    @Test("reads and writes one value after another, of any type, also after values that do not fit")
    func oneAfterTheOther() throws {
        let named = Named(name: "n", pairs: [Pair(a: 1, b: "x"), Pair(a: 2, b: "y")], pair: Pair(a: 3, b: "z"))
        for round in 0..<4 {
            let pair = Pair(a: round, b: String(repeating: "long ", count: round * 10))
            #expect(try decode(Pair.self, try text(pair)) == pair)
            #expect(try decode(Named.self, try text(named)) == named)
            #expect(try decode([Int].self, try text([round])) == [round])
            #expect(throws: JSONMismatch.self) { try decode(Pair.self, #"{"a": 1, "b": "#) }
            let mismatch = #expect(throws: JSONMismatch.self) {
                try decode(Named.self, #"{"name": "n", "pairs": [{"a": 1, "b": 2}]}"#)
            }
            #expect(mismatch?.path == "$.pairs[0].b")
            #expect(throws: JSONEncodingError.self) { try text(["a": [1, Double.nan]]) }
        }
    }

    @Test("may be written while the text of another value is lent")
    func nested() throws {
        let texts = try JSONCoding.withText(of: Pair(a: 1, b: "outer")) { outer in
            let inner = try? text(Pair(a: 2, b: "inner"))
            return [String(decoding: outer, as: UTF8.self), inner]
        }
        #expect(texts == [#"{"a":1,"b":"outer"}"#, #"{"a":2,"b":"inner"}"#])
    }

    @Test("lets a type keep its decoder or container, which does not change when other texts are read")
    func keptDecoder() throws {
        for _ in 0..<3 {
            let (one, two) = (Keeper(), Keeper())
            for (keeper, text) in [(one, #"{"a": 1, "b": "one"}"#), (two, #"{"a": 2, "b": "two"}"#)] {
                try Keeping.$keeper.withValue(Keeping.Box(keeper: keeper)) {
                    _ = try decode(Keeping.self, text)
                    _ = try decode(KeepingCoder.self, text)
                }
            }
            #expect(try decode(Pair.self, #"{"a": 3, "b": "three"}"#) == Pair(a: 3, b: "three"))
            for (keeper, expected) in [(one, Pair(a: 1, b: "one")), (two, Pair(a: 2, b: "two"))] {
                let members = try #require(keeper.members)
                #expect(try members.decode(Int.self, forKey: .a) == expected.a)
                #expect(try members.decode(String.self, forKey: .b) == expected.b)
                #expect(try Pair(from: #require(keeper.decoder)) == expected)
            }
        }
    }

    @Test("refuses writes into a later value through a kept encoder or container")
    func keptEncoder() throws {
        for _ in 0..<3 {
            let keeper = Keeper()
            let texts = try Keeping.$keeper.withValue(Keeping.Box(keeper: keeper)) {
                [try text(Keeping()), try text(KeepingCoder())]
            }
            #expect(texts == [#"{"a":1}"#, #"{"a":1}"#])
            struct Intruded: Encodable {
                let keeper: Keeper

                func encode(to encoder: any Encoder) throws {
                    var container = encoder.container(keyedBy: Key.self)
                    #expect(throws: JSONEncodingError.self) { try keeper.written?.encode("in", forKey: .b) }
                    #expect(throws: JSONEncodingError.self) {
                        var container = keeper.encoder?.container(keyedBy: Key.self)
                        try container?.encode("in", forKey: .b)
                    }
                    try container.encode(2, forKey: .a)
                }
            }
            #expect(try text(Intruded(keeper: keeper)) == #"{"a":2}"#)
        }
    }
}
