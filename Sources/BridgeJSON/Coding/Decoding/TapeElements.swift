/// The elements of an array, one after the other.
struct TapeElements: UnkeyedDecodingContainer {
    let source: DecodingSource
    let array: Int
    private(set) var currentIndex = 0
    private let elementCount: Int
    private var place: Int

    init(source: DecodingSource, array: Int) {
        self.source = source
        self.array = array
        elementCount = Int(source.entry(array).length)
        place = array + 1
    }

    var codingPath: [any CodingKey] { source.path(to: array).codingKeys }
    var count: Int? { elementCount }
    var isAtEnd: Bool { currentIndex >= elementCount }

    /// The next element, for which a type has a use.
    private func current(_ expected: any Any.Type) throws -> TapeDecoder {
        guard !isAtEnd else {
            throw Misfit(place: .beyondEnd(of: array), expected: .valueOf(expected))
        }
        return TapeDecoder(source: source, place: place)
    }

    private mutating func advance() {
        place = Int(source.entry(place).next)
        currentIndex += 1
    }

    /// Reads the next element; where that fails it stays the next one.
    @inline(__always)
    private mutating func next<T>(_ expected: any Any.Type, _ body: (TapeDecoder) throws -> T) throws -> T {
        let value = try body(current(expected))
        advance()
        return value
    }

    mutating func decodeNil() throws -> Bool {
        let isNull = try current(JSON.self).decodeNil()
        if isNull { advance() }
        return isNull
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try next(type) { try $0.decode(type) } }

    // The standard library answers for these two itself, unless they are named.
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try next(type) { try $0.decode(type) } }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try next(type) { try $0.decode(type) } }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> { try next(JSONObject.self) { try $0.container(keyedBy: type) } }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next([JSON].self) { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try next(JSON.self) { $0 } }
}
