/// The members that a type asks for.
struct RecordedMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let recorder: SchemaRecorder

    var codingPath: [any CodingKey] { recorder.codingPath }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) throws -> Bool { false }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try member(type, key, isRequired: true)
    }

    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try member(type, key, isRequired: true) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try member(type, key, isRequired: true) }

    // MARK: Members that may be missing. The standard library answers for plain types itself, unless each is named.

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? { try optional(type, key) }
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try optional(type, key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try optional(type, key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try optional(type, key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try optional(type, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try optional(type, key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try optional(type, key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try optional(type, key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try optional(type, key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try optional(type, key) }
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? { try optional(type, key) }

    private func optional<T: Decodable>(_ type: T.Type, _ key: Key) throws -> T? {
        try member(type, key, isRequired: false)
    }

    private func member<T: Decodable>(_ type: T.Type, _ key: Key, isRequired: Bool) throws -> T {
        let path = recorder.path + [.key(key.stringValue)]
        let (schema, value) = try SchemaRecorder.record(type, at: path, within: recorder.types)
        recorder.noteMember(key.stringValue, isRequired: isRequired) { schema }
        return value
    }

    // MARK: Members in pieces

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> { try inner(key.stringValue).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw recorder.byHand("an array is read in pieces", at: .key(key.stringValue))
    }

    func superDecoder() throws -> any Decoder { inner("super") }
    func superDecoder(forKey key: Key) throws -> any Decoder { inner(key.stringValue) }

    private func inner(_ name: String) -> SchemaRecorder {
        let inner = SchemaRecorder(path: recorder.path + [.key(name)], types: recorder.types)
        recorder.noteMember(name, isRequired: true) { inner.schema }
        return inner
    }
}
