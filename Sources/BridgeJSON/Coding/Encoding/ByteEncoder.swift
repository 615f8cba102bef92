/// Writes one value: a level of the buffer.
struct ByteEncoder: Encoder {
    let buffer: EncodingBuffer
    let depth: Int
    /// Tells this level from others that were, or will be, as deep.
    let number: Int

    var codingPath: [any CodingKey] { buffer.path(of: self).codingKeys }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        buffer.openContainer(.object, at: self)
        return KeyedEncodingContainer(ByteMembers<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        buffer.openContainer(.array, at: self)
        return ByteElements(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { ByteValue(encoder: self) }
}

extension EncodingBuffer {
    /// Appends any value. The casts are from a type to itself.
    @inline(__always)
    func append<T: Encodable>(_ value: T, within encoder: ByteEncoder) throws {
        let type = T.self
        if type == String.self { return append(value as! String) }
        if type == Bool.self { return append(value as! Bool) }
        if type == Double.self { return try append(value as! Double, within: encoder) }
        if type == Float.self { return try append(value as! Float, within: encoder) }
        if type == Int.self { return append(value as! Int) }
        if type == Int8.self { return append(value as! Int8) }
        if type == Int16.self { return append(value as! Int16) }
        if type == Int32.self { return append(value as! Int32) }
        if type == Int64.self { return append(value as! Int64) }
        if type == Int128.self { return append(value as! Int128) }
        if type == UInt.self { return append(value as! UInt) }
        if type == UInt8.self { return append(value as! UInt8) }
        if type == UInt16.self { return append(value as! UInt16) }
        if type == UInt32.self { return append(value as! UInt32) }
        if type == UInt64.self { return append(value as! UInt64) }
        if type == UInt128.self { return append(value as! UInt128) }
        try appendStructure(value)
    }

    private func appendStructure<T: Encodable>(_ value: T) throws {
        if T.self == JSON.self { return (value as! JSON).write(to: &bytes) }
        try value.encode(to: open())
        close()
    }

    func append(_ value: String) { JSONText.appendQuoted(value, to: &bytes) }
    func append(_ value: Bool) { bytes.append(contentsOf: (value ? "true" : "false").utf8) }
    func append(_ value: some FixedWidthInteger) { bytes.append(contentsOf: value.description.utf8) }

    /// The shortest text that reads back as the value.
    func append(
        _ value: some BinaryFloatingPoint & CustomStringConvertible, within encoder: ByteEncoder
    ) throws {
        guard value.isFinite else { throw error("JSON has no number \(value)", at: encoder) }
        bytes.append(contentsOf: value.description.utf8)
    }
}

/// A single value.
struct ByteValue: SingleValueEncodingContainer {
    let encoder: ByteEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() throws {
        try encoder.buffer.writeSingle(at: encoder) { encoder.buffer.bytes.append(contentsOf: "null".utf8) }
    }

    func encode<T: Encodable>(_ value: T) throws {
        try encoder.buffer.writeSingle(at: encoder) { try encoder.buffer.append(value, within: encoder) }
    }

    // The standard library answers for these two itself, unless they are named.
    func encode(_ value: Int128) throws {
        try encoder.buffer.writeSingle(at: encoder) { encoder.buffer.append(value) }
    }

    func encode(_ value: UInt128) throws {
        try encoder.buffer.writeSingle(at: encoder) { encoder.buffer.append(value) }
    }
}

/// The elements of an array.
struct ByteElements: UnkeyedEncodingContainer {
    let encoder: ByteEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.buffer.elementCount(of: encoder) }

    func encodeNil() throws {
        try encoder.buffer.writeElement(at: encoder) { encoder.buffer.bytes.append(contentsOf: "null".utf8) }
    }

    func encode<T: Encodable>(_ value: T) throws {
        try encoder.buffer.writeElement(at: encoder) { try encoder.buffer.append(value, within: encoder) }
    }

    // The standard library answers for these two itself, unless they are named.
    func encode(_ value: Int128) throws {
        try encoder.buffer.writeElement(at: encoder) { encoder.buffer.append(value) }
    }

    func encode(_ value: UInt128) throws {
        try encoder.buffer.writeElement(at: encoder) { encoder.buffer.append(value) }
    }

    func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
        encoder.buffer.laterElement(at: encoder).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        encoder.buffer.laterElement(at: encoder).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder.buffer.laterElement(at: encoder) }
}
