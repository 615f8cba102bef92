/// The members of an object.
///
/// Each plain type has functions of its own: a container is generic over its keys, so that one function for all types
/// would find out at run time, at every member, which type it is called for.
struct TapeMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let source: DecodingSource
    let object: Int

    var codingPath: [any CodingKey] { source.path(to: object).codingKeys }
    var allKeys: [Key] { source.keys(of: object).compactMap(Key.init(stringValue:)) }

    /// The place of a member.
    private func place(_ key: Key, _ type: any Any.Type) throws -> Int {
        let name = key.stringValue
        guard let place = source.member(name, of: object) else {
            throw Misfit(place: .missing(name, of: object), expected: .valueOf(type))
        }
        return place
    }

    /// The place of a member; nil where it is missing or null.
    private func presentPlace(_ key: Key) -> Int? {
        guard let place = source.member(key.stringValue, of: object), !source.isNull(place) else { return nil }
        return place
    }

    func contains(_ key: Key) -> Bool { source.member(key.stringValue, of: object) != nil }
    func decodeNil(forKey key: Key) throws -> Bool { source.isNull(try place(key, JSON.self)) }

    // MARK: Members that must be there

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try source.decode(type, at: place(key, type))
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try source.bool(place(key, type)) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try source.string(place(key, type)) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try source.double(place(key, type)) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try source.float(place(key, type)) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try source.integer(place(key, type)) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try source.integer(place(key, type)) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try source.integer(place(key, type)) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try source.integer(place(key, type)) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try source.integer(place(key, type)) }
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try source.integer(place(key, type)) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try source.integer(place(key, type)) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try source.integer(place(key, type)) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try source.integer(place(key, type)) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try source.integer(place(key, type)) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try source.integer(place(key, type)) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try source.integer(place(key, type)) }

    // MARK: Members that may be missing

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        try presentPlace(key).map { try source.decode(type, at: $0) }
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try presentPlace(key).map { try source.bool($0) }
    }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try presentPlace(key).map { try source.string($0) }
    }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try presentPlace(key).map { try source.double($0) }
    }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        try presentPlace(key).map { try source.float($0) }
    }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try presentPlace(key).map { try source.integer($0) }
    }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        try presentPlace(key).map { try source.integer($0) }
    }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        try presentPlace(key).map { try source.integer($0) }
    }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        try presentPlace(key).map { try source.integer($0) }
    }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try presentPlace(key).map { try source.integer($0) }
    }
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
        try presentPlace(key).map { try source.integer($0) }
    }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        try presentPlace(key).map { try source.integer($0) }
    }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        try presentPlace(key).map { try source.integer($0) }
    }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        try presentPlace(key).map { try source.integer($0) }
    }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try presentPlace(key).map { try source.integer($0) }
    }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try presentPlace(key).map { try source.integer($0) }
    }
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
        try presentPlace(key).map { try source.integer($0) }
    }

    // MARK: Members in pieces

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try TapeDecoder(source: source, place: place(key, JSONObject.self)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try TapeDecoder(source: source, place: place(key, [JSON].self)).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { superDecoder(named: "super") }
    func superDecoder(forKey key: Key) throws -> any Decoder { superDecoder(named: key.stringValue) }

    /// A member that is missing is null to whoever decodes it.
    private func superDecoder(named name: String) -> TapeDecoder {
        let place = source.member(name, of: object) ?? source.absentMember(name, of: object)
        return TapeDecoder(source: source, place: place)
    }
}
