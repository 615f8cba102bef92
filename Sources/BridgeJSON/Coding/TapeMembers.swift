/// The members of an object.
struct TapeMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: TapeDecoder

    private var tape: JSONTape { decoder.tape }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { tape.keys(of: decoder.node).compactMap(Key.init(stringValue:)) }

    /// The node of a member's value.
    private func member(_ key: some CodingKey, isTaken: Bool = true) -> Int? {
        let name = key.stringValue
        if let visits = tape.visits { visits.ask(name, of: decoder.node) }
        return tape.member(name, of: decoder.node, isTaken: isTaken)
    }

    private func path(_ key: some CodingKey) -> CodingPath { .key(key.stringValue, of: decoder.path) }

    private func place(_ node: Int, _ key: some CodingKey) -> TapeDecoder {
        TapeDecoder(tape: tape, node: node, path: path(key))
    }

    /// The decoder of a member of a plain type. Its path is not made before it is needed; see `read`.
    @inline(__always)
    private func read<T>(
        _ key: Key, _ expected: StaticString, _ body: (TapeDecoder) throws -> T
    ) throws -> T {
        guard let node = member(key) else { throw missing(key, "\(expected)") }
        return try read(node, key, body)
    }

    @inline(__always)
    private func readIfPresent<T>(_ key: Key, _ body: (TapeDecoder) throws -> T) throws -> T? {
        guard let node = member(key), tape.kind(node) != .null else { return nil }
        return try read(node, key, body)
    }

    /// Reads as if the member stood at the object's own place; where it does not fit, reads it once more at its own,
    /// for an error that tells the place.
    @inline(__always)
    private func read<T>(_ node: Int, _ key: Key, _ body: (TapeDecoder) throws -> T) throws -> T {
        do {
            return try body(TapeDecoder(tape: tape, node: node, path: .root))
        } catch {
            return try body(place(node, key))
        }
    }

    @inline(never)
    private func missing(_ key: some CodingKey, _ expected: String) -> JSONMismatch {
        JSONMismatch(path: path(key).text, expected: expected, got: JSONMismatch.nothing)
    }

    func contains(_ key: Key) -> Bool { member(key, isTaken: false) != nil }

    func decodeNil(forKey key: Key) throws -> Bool {
        member(key, isTaken: false).map { tape.kind($0) == .null } ?? true
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        try read(key, "true or false") { try $0.bool() }
    }
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try readIfPresent(key) { try $0.bool() }
    }
    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try read(key, "a string") { try $0.string() }
    }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try readIfPresent(key) { try $0.string() }
    }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try read(key, "a number") { try $0.double() }
    }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try readIfPresent(key) { try $0.double() }
    }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        try read(key, "a number") { try $0.float() }
    }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try readIfPresent(key) { try $0.float() }
    }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        try read(key, "an integer") { try $0.integer(type) }
    }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try readIfPresent(key) { try $0.integer(type) }
    }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
        try read(key, "an integer") { try $0.integer(type) }
    }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        try readIfPresent(key) { try $0.integer(type) }
    }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
        try read(key, "an integer") { try $0.integer(type) }
    }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        try readIfPresent(key) { try $0.integer(type) }
    }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
        try read(key, "an integer") { try $0.integer(type) }
    }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        try readIfPresent(key) { try $0.integer(type) }
    }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        try read(key, "an integer") { try $0.integer(type) }
    }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try readIfPresent(key) { try $0.integer(type) }
    }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
        try read(key, "an integer") { try $0.integer(type) }
    }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        try readIfPresent(key) { try $0.integer(type) }
    }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
        try read(key, "an integer") { try $0.integer(type) }
    }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        try readIfPresent(key) { try $0.integer(type) }
    }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
        try read(key, "an integer") { try $0.integer(type) }
    }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        try readIfPresent(key) { try $0.integer(type) }
    }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
        try read(key, "an integer") { try $0.integer(type) }
    }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try readIfPresent(key) { try $0.integer(type) }
    }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
        try read(key, "an integer") { try $0.integer(type) }
    }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try readIfPresent(key) { try $0.integer(type) }
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        guard let node = member(key) else { throw missing(key, CaseNames.of(type) ?? "a value") }
        return try TapeDecoder.decode(type, tape, node) { path(key) }
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let node = member(key), tape.kind(node) != .null else { return nil }
        return try TapeDecoder.decode(type, tape, node) { path(key) }
    }

    // MARK: Containers

    private func container(_ key: Key) throws -> TapeDecoder {
        guard let node = member(key) else { throw missing(key, "a value") }
        return place(node, key)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> { try container(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try container(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { superDecoder(named: AnyKey("super")) }
    func superDecoder(forKey key: Key) throws -> any Decoder { superDecoder(named: key) }

    /// A missing one reads as null.
    private func superDecoder(named key: some CodingKey) -> TapeDecoder {
        place(member(key) ?? tape.appendedNull(), key)
    }
}
