/// Reads types from a value. One for each place in it.
struct ValueDecoder: Decoder {
    let value: JSON
    let path: CodingPath
    let visits: KeyVisits?

    var codingPath: [any CodingKey] { path.codingKeys }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let object) = value else { throw JSONMismatch(path, "an object", got: value) }
        visits?.opened(object, at: path)
        return KeyedDecodingContainer(KeyedValues<Key>(object: object, decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = value else { throw JSONMismatch(path, "an array", got: value) }
        return UnkeyedValues(elements: elements, decoder: self)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { SingleValue(decoder: self) }

    func child(_ key: any CodingKey, _ value: JSON) -> ValueDecoder {
        ValueDecoder(value: value, path: .key(key.stringValue, of: path), visits: visits)
    }

    // MARK: Values

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        // The casts are from a type to itself.
        if type == JSON.self { return value as! T }
        if type == JSONNumber.self { return try number() as! T }
        do {
            return try T(from: self)
        } catch {
            let mismatch = JSONMismatch(error, at: path, value: value)
            // Of an enumeration the names say more than the type of its raw values.
            if mismatch.path == path.text, let names = CaseNames.of(type) {
                throw JSONMismatch(path, "one of: \(names.joined(separator: ", "))", got: value)
            }
            throw mismatch
        }
    }

    func number() throws -> JSONNumber {
        guard case .number(let number) = value else { throw JSONMismatch(path, "a number", got: value) }
        return number
    }

    func bool() throws -> Bool {
        guard case .bool(let flag) = value else { throw JSONMismatch(path, "true or false", got: value) }
        return flag
    }

    func string() throws -> String {
        guard case .string(let string) = value else { throw JSONMismatch(path, "a string", got: value) }
        return string
    }

    func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
        guard case .number(let number) = value else { throw JSONMismatch(path, "an integer", got: value) }
        guard let integer: T = number.integer() else {
            throw JSONMismatch(path, "an integer from \(T.min) to \(T.max)", got: value)
        }
        return integer
    }

    func double() throws -> Double {
        let double = try number().double
        guard double.isFinite else { throw JSONMismatch(path, "a number that a double can hold", got: value) }
        return double
    }

    func float() throws -> Float {
        // From the text: by way of a double it would be rounded twice.
        guard let float = Float(try number().text), float.isFinite else {
            throw JSONMismatch(path, "a number that a float can hold", got: value)
        }
        return float
    }
}

private struct SingleValue: SingleValueDecodingContainer {
    let decoder: ValueDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.value.isNull }
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

/// The members of an object. What is left to the protocol's default implementations goes through `decode`.
private struct KeyedValues<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let object: JSONObject
    let decoder: ValueDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { object.keys.compactMap(Key.init(stringValue:)) }

    private func member(_ key: any CodingKey) -> JSON? {
        decoder.visits?.ask(key.stringValue, at: decoder.path)
        return object[key.stringValue]
    }

    private func place(_ key: any CodingKey) throws -> ValueDecoder {
        guard let value = member(key) else {
            throw JSONMismatch(.key(key.stringValue, of: decoder.path), "a value", got: nil)
        }
        return decoder.child(key, value)
    }

    /// Reads a member; where it is missing, says what kind of value should be there.
    private func read<T>(_ key: Key, _ expected: String, _ body: (ValueDecoder) throws -> T) throws -> T {
        guard let value = member(key) else {
            throw JSONMismatch(.key(key.stringValue, of: decoder.path), expected, got: nil)
        }
        return try body(decoder.child(key, value))
    }

    func contains(_ key: Key) -> Bool { member(key) != nil }
    func decodeNil(forKey key: Key) throws -> Bool { member(key)?.isNull ?? true }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try read(key, "true or false") { try $0.bool() } }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try read(key, "a string") { try $0.string() } }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try read(key, "a number") { try $0.double() } }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try read(key, "a number") { try $0.float() } }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try integer(type, key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try integer(type, key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try integer(type, key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try integer(type, key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try integer(type, key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try integer(type, key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(type, key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(type, key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(type, key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(type, key) }

    private func integer<T: FixedWidthInteger>(_ type: T.Type, _ key: Key) throws -> T {
        try read(key, "an integer") { try $0.integer(type) }
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        let expected = CaseNames.of(type).map { "one of: \($0.joined(separator: ", "))" } ?? "a value"
        return try read(key, expected) { try $0.decode(type) }
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> { try place(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try place(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { superDecoder(named: AnyKey("super")) }
    func superDecoder(forKey key: Key) throws -> any Decoder { superDecoder(named: key) }

    private func superDecoder(named key: any CodingKey) -> ValueDecoder {
        decoder.child(key, member(key) ?? .null)
    }
}

/// The elements of an array, one after the other.
private struct UnkeyedValues: UnkeyedDecodingContainer {
    let elements: [JSON]
    let decoder: ValueDecoder
    private(set) var currentIndex = 0

    init(elements: [JSON], decoder: ValueDecoder) {
        self.elements = elements
        self.decoder = decoder
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    /// Reads the next element; where that fails it stays the next one.
    private mutating func next<T>(_ body: (ValueDecoder) throws -> T) throws -> T {
        let path = CodingPath.index(currentIndex, of: decoder.path)
        guard !isAtEnd else { throw JSONMismatch(path, "another element", got: nil) }
        let value = try body(ValueDecoder(value: elements[currentIndex], path: path, visits: decoder.visits))
        currentIndex += 1
        return value
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, elements[currentIndex].isNull else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try next { try $0.decode(type) } }

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
    static func of(_ type: Any.Type) -> [String]? {
        guard let enumeration = type as? any (CaseIterable & RawRepresentable).Type else { return nil }
        return names(enumeration)
    }

    private static func names<T: CaseIterable & RawRepresentable>(_ type: T.Type) -> [String] {
        T.allCases.map { "\($0.rawValue)" }
    }
}
