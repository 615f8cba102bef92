/// Reads types from a tape. Each decoder reads one of its nodes.
final class TapeDecoder: Decoder {
    let tape: JSONTape
    let node: Int
    let path: CodingPath

    init(tape: JSONTape, node: Int, path: CodingPath) {
        (self.tape, self.node, self.path) = (tape, node, path)
    }

    var codingPath: [any CodingKey] { path.codingKeys }
    var userInfo: [CodingUserInfoKey: Any] { tape.userInfo }

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

    /// Reads a value in a container. The path is created only if it is needed: not for plain values that fit.
    @inline(__always)
    static func decode<T: Decodable>(
        _ type: T.Type, _ tape: JSONTape, _ node: Int, at path: () -> CodingPath
    ) throws -> T {
        // The types on both sides are the same.
        if type == String.self, let value = String.plain(tape, node) { return unsafeBitCast(value, to: T.self) }
        if type == Int.self, let value = Int.plain(tape, node) { return unsafeBitCast(value, to: T.self) }
        if type == Double.self, let value = Double.plain(tape, node) { return unsafeBitCast(value, to: T.self) }
        if type == Bool.self, let value = Bool.plain(tape, node) { return unsafeBitCast(value, to: T.self) }
        if tape.kind(node) == .array {
            if type == [String].self, let value = [String].plain(tape, node) { return unsafeBitCast(value, to: T.self) }
            if type == [Int].self, let value = [Int].plain(tape, node) { return unsafeBitCast(value, to: T.self) }
            if type == [Double].self, let value = [Double].plain(tape, node) { return unsafeBitCast(value, to: T.self) }
        }
        return try TapeDecoder(tape: tape, node: node, path: path()).decode(type)
    }

    /// Reads the type of the whole text.
    func decodeRoot<T: Decodable>(_ type: T.Type) throws(JSONMismatch) -> T {
        do {
            return try decode(type)
        } catch {
            throw JSONMismatch(error, at: .root) { tape.describe(JSONTape.root) }
        }
    }

    /// Reads any type; the plainest types directly.
    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        // The types on both sides are the same.
        if type == String.self { return unsafeBitCast(try plain() as String, to: T.self) }
        if type == Int.self { return unsafeBitCast(try plain() as Int, to: T.self) }
        if type == Double.self { return unsafeBitCast(try plain() as Double, to: T.self) }
        if type == Bool.self { return unsafeBitCast(try plain() as Bool, to: T.self) }
        do {
            return try T(from: self)
        } catch {
            throw mismatch(error, in: type)
        }
    }

    @inline(never)
    private func mismatch(_ error: any Error, in type: Any.Type) -> JSONMismatch {
        let mismatch = JSONMismatch(error, at: path) { tape.describe(node) }
        // For an enumeration, the names of its cases are more useful than the type of its raw values.
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
    func plain<T: PlainValue>() throws -> T {
        guard let value = T.plain(tape, node) else {
            throw mismatch(tape.kind(node) == .number ? T.expectedNumber : T.expected)
        }
        return value
    }
}

private struct TapeValue: SingleValueDecodingContainer {
    let decoder: TapeDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.isNull() }
    func decode(_ type: Bool.Type) throws -> Bool { try decoder.plain() }
    func decode(_ type: String.Type) throws -> String { try decoder.plain() }
    func decode(_ type: Double.Type) throws -> Double { try decoder.plain() }
    func decode(_ type: Float.Type) throws -> Float { try decoder.plain() }
    func decode(_ type: Int.Type) throws -> Int { try decoder.plain() }
    func decode(_ type: Int8.Type) throws -> Int8 { try decoder.plain() }
    func decode(_ type: Int16.Type) throws -> Int16 { try decoder.plain() }
    func decode(_ type: Int32.Type) throws -> Int32 { try decoder.plain() }
    func decode(_ type: Int64.Type) throws -> Int64 { try decoder.plain() }
    func decode(_ type: UInt.Type) throws -> UInt { try decoder.plain() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try decoder.plain() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try decoder.plain() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try decoder.plain() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try decoder.plain() }
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

    /// Reads the next element. If that fails, it remains the next one.
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

/// The names of an enumeration's cases, if it lists them.
enum CaseNames {
    /// Returns the names as the expected value of a mismatch; nil if the type does not list its cases.
    static func of(_ type: Any.Type) -> String? {
        guard let enumeration = type as? any (CaseIterable & RawRepresentable).Type else { return nil }
        return "one of: \(names(enumeration).joined(separator: ", "))"
    }

    private static func names<T: CaseIterable & RawRepresentable>(_ type: T.Type) -> [String] {
        T.allCases.map { "\($0.rawValue)" }
    }
}
