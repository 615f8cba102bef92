/// The members of an object.
///
/// Each plain type has a function of its own, for the reason that ``TapeMembers`` has them.
struct ByteMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: ByteEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil(forKey key: Key) throws {
        let buffer = encoder.buffer
        try buffer.writeMember(key.stringValue, at: encoder) { buffer.bytes.append(contentsOf: "null".utf8) }
    }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        let buffer = encoder.buffer
        try buffer.writeMember(key.stringValue, at: encoder) { try buffer.append(value, within: encoder) }
    }

    func encode(_ value: Double, forKey key: Key) throws {
        try encoder.buffer.writeMember(key.stringValue, value, at: encoder)
    }
    func encode(_ value: Float, forKey key: Key) throws {
        try encoder.buffer.writeMember(key.stringValue, value, at: encoder)
    }
    func encode(_ value: Bool, forKey key: Key) throws {
        try encoder.buffer.writeMember(key.stringValue, value, at: encoder)
    }
    func encode(_ value: String, forKey key: Key) throws {
        try encoder.buffer.writeMember(key.stringValue, value, at: encoder)
    }
    func encode(_ value: Int, forKey key: Key) throws {
        try encoder.buffer.writeMember(key.stringValue, value, at: encoder)
    }
    func encode(_ value: Int8, forKey key: Key) throws {
        try encoder.buffer.writeMember(key.stringValue, value, at: encoder)
    }
    func encode(_ value: Int16, forKey key: Key) throws {
        try encoder.buffer.writeMember(key.stringValue, value, at: encoder)
    }
    func encode(_ value: Int32, forKey key: Key) throws {
        try encoder.buffer.writeMember(key.stringValue, value, at: encoder)
    }
    func encode(_ value: Int64, forKey key: Key) throws {
        try encoder.buffer.writeMember(key.stringValue, value, at: encoder)
    }
    func encode(_ value: Int128, forKey key: Key) throws {
        try encoder.buffer.writeMember(key.stringValue, value, at: encoder)
    }
    func encode(_ value: UInt, forKey key: Key) throws {
        try encoder.buffer.writeMember(key.stringValue, value, at: encoder)
    }
    func encode(_ value: UInt8, forKey key: Key) throws {
        try encoder.buffer.writeMember(key.stringValue, value, at: encoder)
    }
    func encode(_ value: UInt16, forKey key: Key) throws {
        try encoder.buffer.writeMember(key.stringValue, value, at: encoder)
    }
    func encode(_ value: UInt32, forKey key: Key) throws {
        try encoder.buffer.writeMember(key.stringValue, value, at: encoder)
    }
    func encode(_ value: UInt64, forKey key: Key) throws {
        try encoder.buffer.writeMember(key.stringValue, value, at: encoder)
    }
    func encode(_ value: UInt128, forKey key: Key) throws {
        try encoder.buffer.writeMember(key.stringValue, value, at: encoder)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        encoder.buffer.laterMember(key.stringValue, at: encoder).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.buffer.laterMember(key.stringValue, at: encoder).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder.buffer.laterMember("super", at: encoder) }
    func superEncoder(forKey key: Key) -> any Encoder { encoder.buffer.laterMember(key.stringValue, at: encoder) }
}

extension EncodingBuffer {
    fileprivate func writeMember(_ key: String, _ value: String, at encoder: ByteEncoder) throws {
        try writeMember(key, at: encoder) { append(value) }
    }

    fileprivate func writeMember(_ key: String, _ value: Bool, at encoder: ByteEncoder) throws {
        try writeMember(key, at: encoder) { append(value) }
    }

    fileprivate func writeMember(_ key: String, _ value: some FixedWidthInteger, at encoder: ByteEncoder) throws {
        try writeMember(key, at: encoder) { append(value) }
    }

    fileprivate func writeMember(
        _ key: String, _ value: some BinaryFloatingPoint & CustomStringConvertible, at encoder: ByteEncoder
    ) throws {
        try writeMember(key, at: encoder) { try append(value, within: encoder) }
    }
}
