/// Records the single value that a type requests.
struct RecordedValue: SingleValueDecodingContainer {
    let recorder: SchemaRecorder
    var codingPath: [any CodingKey] { recorder.codingPath }

    private func note<T>(_ schema: JSON, _ value: T) -> T {
        recorder.schema = schema
        return value
    }

    private func integer<T: FixedWidthInteger>(_ type: T.Type) -> T { note(PlainSchema.integer(type), 0) }

    func decodeNil() -> Bool { false }
    func decode(_ type: Bool.Type) -> Bool { note(PlainSchema.boolean, false) }
    func decode(_ type: String.Type) -> String { note(PlainSchema.string, "") }
    func decode(_ type: Double.Type) -> Double { note(PlainSchema.number, 0) }
    func decode(_ type: Float.Type) -> Float { note(PlainSchema.number, 0) }
    func decode(_ type: Int.Type) -> Int { integer(type) }
    func decode(_ type: Int8.Type) -> Int8 { integer(type) }
    func decode(_ type: Int16.Type) -> Int16 { integer(type) }
    func decode(_ type: Int32.Type) -> Int32 { integer(type) }
    func decode(_ type: Int64.Type) -> Int64 { integer(type) }
    func decode(_ type: UInt.Type) -> UInt { integer(type) }
    func decode(_ type: UInt8.Type) -> UInt8 { integer(type) }
    func decode(_ type: UInt16.Type) -> UInt16 { integer(type) }
    func decode(_ type: UInt32.Type) -> UInt32 { integer(type) }
    func decode(_ type: UInt64.Type) -> UInt64 { integer(type) }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let (schema, value) = try SchemaRecorder.record(type, at: recorder.path, within: recorder.types)
        return note(schema, value)
    }
}

/// Records the members that a type requests. All default implementations of the protocol call one of these functions.
struct RecordedMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let recorder: SchemaRecorder

    var codingPath: [any CodingKey] { recorder.codingPath }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) throws -> Bool { false }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try member(type, key, isRequired: true)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        try member(type, key, isRequired: false)
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try optional(type, key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try optional(type, key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try optional(type, key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try optional(type, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try optional(type, key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try optional(type, key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try optional(type, key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try optional(type, key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try optional(type, key) }

    private func optional<T: Decodable>(_ type: T.Type, _ key: Key) throws -> T? {
        try member(type, key, isRequired: false)
    }

    private func member<T: Decodable>(_ type: T.Type, _ key: Key, isRequired: Bool) throws -> T {
        let path = CodingPath.key(key.stringValue, of: recorder.path)
        let (schema, value) = try SchemaRecorder.record(type, at: path, within: recorder.types)
        recorder.note(key.stringValue, isRequired ? schema : PlainSchema.orNull(schema), isRequired: isRequired)
        return value
    }

    private func byHand(_ key: any CodingKey) -> JSONSchemaError {
        JSONSchemaError(
            path: CodingPath.key(key.stringValue, of: recorder.path).text,
            reason: "it is read piece by piece; write the schema by hand")
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> { throw byHand(key) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw byHand(key) }
    func superDecoder() throws -> any Decoder { throw byHand(AnyKey("super")) }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw byHand(key) }
}
