/// Writes a Codable value into a text. Valid while the value is being written.
struct TextEncoder: Encoder {
    let text: EncodingText
    /// The value's number in the text.
    let id: Int

    var codingPath: [any CodingKey] { text.path.codingPath.codingKeys }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(TextMembers<Key>(text: text, id: text.open(.object, in: id)))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        TextElements(text: text, id: text.open(.array, in: id))
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { TextValue(text: text, id: id) }
}

/// A single value. Values that are not plain JSON values go through the generic function.
private struct TextValue: SingleValueEncodingContainer {
    let text: EncodingText
    let id: Int

    var codingPath: [any CodingKey] { text.path.codingPath.codingKeys }

    func encodeNil() throws { try text.single(in: id) { text.writeNull() } }
    func encode(_ value: Bool) throws { try text.single(in: id) { text.write(value) } }
    func encode(_ value: Double) throws { try text.single(in: id) { try text.write(value) } }
    func encode(_ value: Float) throws { try text.single(in: id) { try text.write(value) } }
    func encode(_ value: Int) throws { try integer(value) }
    func encode(_ value: Int8) throws { try integer(value) }
    func encode(_ value: Int16) throws { try integer(value) }
    func encode(_ value: Int32) throws { try integer(value) }
    func encode(_ value: Int64) throws { try integer(value) }
    func encode(_ value: UInt) throws { try integer(value) }
    func encode(_ value: UInt8) throws { try integer(value) }
    func encode(_ value: UInt16) throws { try integer(value) }
    func encode(_ value: UInt32) throws { try integer(value) }
    func encode(_ value: UInt64) throws { try integer(value) }
    func encode(_ value: String) throws { try text.single(in: id) { JSONText.quote(value, to: &text.bytes) } }
    func encode<T: Encodable>(_ value: T) throws { try text.single(in: id) { try text.encode(value, at: nil) } }

    private func integer(_ value: some FixedWidthInteger) throws {
        try text.single(in: id) { JSONText.write(value, to: &text.bytes) }
    }
}

private struct TextMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let text: EncodingText
    let id: Int

    var codingPath: [any CodingKey] { text.path.codingPath.codingKeys }

    func encodeNil(forKey key: Key) throws { try text.member(key, in: id) { text.writeNull() } }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        try text.member(key, in: id) { try text.encode(value, at: .key(key.stringValue)) }
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> { text.nestedPart(key, in: id).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        text.nestedPart(key, in: id).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { text.part(AnyKey("super"), in: id) }
    func superEncoder(forKey key: Key) -> any Encoder { text.part(key, in: id) }
}

private struct TextElements: UnkeyedEncodingContainer {
    let text: EncodingText
    let id: Int

    var codingPath: [any CodingKey] { text.path.codingPath.codingKeys }
    var count: Int { text.elementCount(in: id) }

    func encodeNil() throws { try text.nullElement(in: id) }
    func encode<T: Encodable>(_ value: T) throws { try text.element(in: id, value) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> { text.part(in: id).container(keyedBy: type) }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { text.part(in: id).unkeyedContainer() }
    func superEncoder() -> any Encoder { text.part(in: id) }
}
