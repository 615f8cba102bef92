/// Reads the members of an object.
struct TapeMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: TapeDecoder

    private var tape: JSONTape { decoder.tape }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { tape.keys(of: decoder.node).compactMap(Key.init(stringValue:)) }

    /// Returns the node of a member's value; nil if it is missing.
    @inline(__always)
    private func member(_ key: some CodingKey, isTaken: Bool = true) -> Int? {
        decoder.member(key.stringValue, isTaken: isTaken)
    }

    private func path(_ key: some CodingKey) -> CodingPath { .key(key.stringValue, of: decoder.path) }

    private func makeDecoder(_ node: Int, _ key: some CodingKey) -> TapeDecoder {
        TapeDecoder(tape: tape, node: node, path: path(key))
    }

    func contains(_ key: Key) -> Bool { member(key, isTaken: false) != nil }

    func decodeNil(forKey key: Key) throws -> Bool {
        member(key, isTaken: false).map { tape.kind($0) == .null } ?? true
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try decoder.plain(key.stringValue, Key.self) }
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try decoder.plainIfPresent(key.stringValue)
    }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try decoder.plain(key.stringValue, Key.self) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try decoder.plainIfPresent(key.stringValue)
    }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try decoder.plain(key.stringValue, Key.self) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try decoder.plainIfPresent(key.stringValue)
    }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try decoder.plain(key.stringValue, Key.self) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try decoder.plainIfPresent(key.stringValue)
    }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try decoder.plain(key.stringValue, Key.self) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try decoder.plainIfPresent(key.stringValue)
    }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try decoder.plain(key.stringValue, Key.self) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        try decoder.plainIfPresent(key.stringValue)
    }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try decoder.plain(key.stringValue, Key.self) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        try decoder.plainIfPresent(key.stringValue)
    }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try decoder.plain(key.stringValue, Key.self) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        try decoder.plainIfPresent(key.stringValue)
    }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try decoder.plain(key.stringValue, Key.self) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try decoder.plainIfPresent(key.stringValue)
    }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try decoder.plain(key.stringValue, Key.self) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        try decoder.plainIfPresent(key.stringValue)
    }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try decoder.plain(key.stringValue, Key.self) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        try decoder.plainIfPresent(key.stringValue)
    }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try decoder.plain(key.stringValue, Key.self) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        try decoder.plainIfPresent(key.stringValue)
    }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try decoder.plain(key.stringValue, Key.self) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try decoder.plainIfPresent(key.stringValue)
    }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try decoder.plain(key.stringValue, Key.self) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try decoder.plainIfPresent(key.stringValue)
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        guard let node = member(key) else {
            throw decoder.missing(key.stringValue, Key.self, CaseNames.of(type) ?? "a value")
        }
        return try TapeDecoder.decode(type, tape, node) { path(key) }
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let node = member(key), tape.kind(node) != .null else { return nil }
        return try TapeDecoder.decode(type, tape, node) { path(key) }
    }

    // MARK: Containers

    private func container(_ key: Key) throws -> TapeDecoder {
        guard let node = member(key) else { throw decoder.missing(key.stringValue, Key.self, "a value") }
        return makeDecoder(node, key)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> { try container(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try container(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { superDecoder(named: AnyKey("super")) }
    func superDecoder(forKey key: Key) throws -> any Decoder { superDecoder(named: key) }

    /// A missing member reads as null.
    private func superDecoder(named key: some CodingKey) -> TapeDecoder {
        makeDecoder(member(key) ?? tape.appendedNull(), key)
    }
}

/// Functions that do not depend on the type of the keys.
extension TapeDecoder {
    /// Returns the node of a member's value; nil if it is missing.
    func member(_ key: String, isTaken: Bool = true) -> Int? {
        if let visits = tape.visits { visits.ask(key, of: node) }
        return tape.member(key, of: node, isTaken: isTaken)
    }

    /// Reads a member of a plain type.
    @inline(__always)
    func plain<T: PlainValue>(_ key: String, _ keys: any CodingKey.Type) throws -> T {
        guard let node = member(key) else { throw missing(key, keys, T.expected) }
        if let value = T.plain(tape, node) { return value }
        return try TapeDecoder(tape: tape, node: node, path: .key(key, of: path)).plain()
    }

    @inline(__always)
    func plainIfPresent<T: PlainValue>(_ key: String) throws -> T? {
        guard let node = member(key), tape.kind(node) != .null else { return nil }
        if let value = T.plain(tape, node) { return value }
        return try TapeDecoder(tape: tape, node: node, path: .key(key, of: path)).plain()
    }

    /// - Parameter keys: The type of the keys that the type knows.
    @inline(never)
    func missing(_ key: String, _ keys: any CodingKey.Type, _ expected: String) -> JSONMismatch {
        JSONMismatch(
            missing: key, at: CodingPath.key(key, of: path), expected: expected,
            given: tape.firstKeys(of: node).filter { keys.init(stringValue: $0) == nil })
    }
}
