/// Reads types from a tape. One for each place in it.
struct TapeDecoder: Decoder {
    let tape: JSONTape
    let node: Int
    let path: CodingPath

    var codingPath: [any CodingKey] { path.codingKeys }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard tape.kind(node) == .object else { throw mismatch("an object") }
        tape.visits?.opened(node, at: path)
        return KeyedDecodingContainer(TapeMembers<Key>(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard tape.kind(node) == .array else { throw mismatch("an array") }
        return TapeElements(decoder: self)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { TapeValue(decoder: self) }

    @inline(never)
    private func mismatch(_ expected: String) -> JSONMismatch {
        JSONMismatch(path: path.text, expected: expected, got: tape.describe(node))
    }

    // MARK: Values

    /// Reads what is in a container, at a path that is only made where it is needed: not for plain values that fit.
    @inline(__always)
    static func decode<T: Decodable>(
        _ type: T.Type, _ tape: JSONTape, _ node: Int, at path: () -> CodingPath
    ) throws -> T {
        let isPlain = type == String.self || type == Int.self || type == Double.self || type == Bool.self
        if isPlain, let value = try? TapeDecoder(tape: tape, node: node, path: .root).decode(type) { return value }
        return try TapeDecoder(tape: tape, node: node, path: path()).decode(type)
    }

    /// Reads any type, the plainest of them directly.
    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        // The types on both sides are the same.
        if type == String.self { return unsafeBitCast(try string(), to: T.self) }
        if type == Int.self { return unsafeBitCast(try integer(Int.self), to: T.self) }
        if type == Double.self { return unsafeBitCast(try double(), to: T.self) }
        if type == Bool.self { return unsafeBitCast(try bool(), to: T.self) }
        do {
            return try T(from: self)
        } catch {
            throw mismatch(error, in: type)
        }
    }

    @inline(never)
    private func mismatch(_ error: any Error, in type: Any.Type) -> JSONMismatch {
        let mismatch = JSONMismatch(error, at: path) { tape.describe(node) }
        // Of an enumeration the names say more than the type of its raw values.
        if let names = CaseNames.of(type), mismatch.path == path.text {
            return JSONMismatch(path: path.text, expected: names, got: tape.describe(node))
        }
        return mismatch
    }

    func isNull() -> Bool { tape.kind(node) == .null }

    func json() -> JSON { tape.json(node) }

    func number() throws -> JSONNumber {
        guard tape.kind(node) == .number else { throw mismatch("a number") }
        return tape.number(node)
    }

    @inline(__always)
    func bool() throws -> Bool {
        switch tape.kind(node) {
        case .true: return true
        case .false: return false
        default: throw mismatch("true or false")
        }
    }

    @inline(__always)
    func string() throws -> String {
        guard tape.kind(node) == .string else { throw mismatch("a string") }
        return tape.string(node)
    }

    @inline(__always)
    func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
        guard tape.kind(node) == .number else { throw mismatch("an integer") }
        guard let integer: T = tape.integer(node) else { throw mismatch("an integer from \(T.min) to \(T.max)") }
        return integer
    }

    @inline(__always)
    func double() throws -> Double {
        guard tape.kind(node) == .number else { throw mismatch("a number") }
        let double = tape.double(node)
        guard double.isFinite else { throw mismatch("a number that a double can hold") }
        return double
    }

    func float() throws -> Float {
        // From the text: by way of a double it would be rounded twice.
        guard let float = Float(try number().text), float.isFinite else {
            throw mismatch("a number that a float can hold")
        }
        return float
    }
}

private struct TapeValue: SingleValueDecodingContainer {
    let decoder: TapeDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.isNull() }
    func decode(_ type: Bool.Type) throws -> Bool { try decoder.bool() }
    func decode(_ type: String.Type) throws -> String { try decoder.string() }
    func decode(_ type: Double.Type) throws -> Double { try decoder.double() }
    func decode(_ type: Float.Type) throws -> Float { try decoder.float() }
    func decode(_ type: Int.Type) throws -> Int { try decoder.integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try decoder.integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try decoder.integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try decoder.integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try decoder.integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try decoder.integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try decoder.integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try decoder.integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try decoder.integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try decoder.integer(type) }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try decoder.decode(type) }
}

/// The elements of an array, one after the other.
private struct TapeElements: UnkeyedDecodingContainer {
    let decoder: TapeDecoder
    private(set) var currentIndex = 0
    private var node: Int

    init(decoder: TapeDecoder) {
        self.decoder = decoder
        node = decoder.node + 1
    }

    private var tape: JSONTape { decoder.tape }
    private var elementCount: Int { Int(tape.nodes[decoder.node].count) }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { elementCount }
    var isAtEnd: Bool { currentIndex >= elementCount }

    private var path: CodingPath { .index(currentIndex, of: decoder.path) }

    /// Reads the next element; where that fails it stays the next one.
    private mutating func next<T>(_ body: (TapeDecoder) throws -> T) throws -> T {
        guard !isAtEnd else { throw missing() }
        let value = try body(TapeDecoder(tape: tape, node: node, path: path))
        advance()
        return value
    }

    private func missing() -> JSONMismatch {
        JSONMismatch(path: path.text, expected: "another element", got: JSONMismatch.nothing)
    }

    private mutating func advance() {
        node = Int(tape.nodes[node].next)
        currentIndex += 1
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, tape.kind(node) == .null else { return false }
        advance()
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard !isAtEnd else { throw missing() }
        let value = try TapeDecoder.decode(type, tape, node) { path }
        advance()
        return value
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> { try next { try $0.container(keyedBy: type) } }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try next { $0 } }
}

/// The names of an enumeration's cases, where it lists them.
enum CaseNames {
    /// As what is expected of a value.
    static func of(_ type: Any.Type) -> String? {
        guard let enumeration = type as? any (CaseIterable & RawRepresentable).Type else { return nil }
        return "one of: \(names(enumeration).joined(separator: ", "))"
    }

    private static func names<T: CaseIterable & RawRepresentable>(_ type: T.Type) -> [String] {
        T.allCases.map { "\($0.rawValue)" }
    }
}
