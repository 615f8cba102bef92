/// Reads a type from one place of a text, and single values there.
struct TapeDecoder: Decoder, SingleValueDecodingContainer {
    let source: DecodingSource
    let place: Int

    var codingPath: [any CodingKey] { source.path(to: place).codingKeys }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try source.openObject(place)
        return KeyedDecodingContainer(TapeMembers<Key>(source: source, object: place))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard source.entry(place).kind == .array else { throw source.misfit(place, .text("an array")) }
        return TapeElements(source: source, array: place)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { source.isNull(place) }

    func decode<T: Decodable>(_ type: T.Type) throws -> T { try source.decode(type, at: place) }

    // The standard library answers for these two itself, unless they are named.
    func decode(_ type: Int128.Type) throws -> Int128 { try source.integer(place) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try source.integer(place) }
}

extension DecodingSource {
    /// Reads any type. The casts are from a type to itself.
    @inline(__always)
    func decode<T: Decodable>(_ type: T.Type, at place: Int) throws -> T {
        if type == String.self { return try string(place) as! T }
        if type == Bool.self { return try bool(place) as! T }
        if type == Double.self { return try double(place) as! T }
        if type == Float.self { return try float(place) as! T }
        if type == Int.self { return try integer(place, as: Int.self) as! T }
        if type == Int8.self { return try integer(place, as: Int8.self) as! T }
        if type == Int16.self { return try integer(place, as: Int16.self) as! T }
        if type == Int32.self { return try integer(place, as: Int32.self) as! T }
        if type == Int64.self { return try integer(place, as: Int64.self) as! T }
        if type == Int128.self { return try integer(place, as: Int128.self) as! T }
        if type == UInt.self { return try integer(place, as: UInt.self) as! T }
        if type == UInt8.self { return try integer(place, as: UInt8.self) as! T }
        if type == UInt16.self { return try integer(place, as: UInt16.self) as! T }
        if type == UInt32.self { return try integer(place, as: UInt32.self) as! T }
        if type == UInt64.self { return try integer(place, as: UInt64.self) as! T }
        if type == UInt128.self { return try integer(place, as: UInt128.self) as! T }
        return try decodeStructure(type, at: place)
    }

    private func decodeStructure<T: Decodable>(_ type: T.Type, at place: Int) throws -> T {
        if type == JSON.self { return json(place) as! T }
        do {
            return try T(from: TapeDecoder(source: self, place: place))
        } catch let misfit as Misfit {
            throw misfit
        } catch let mismatch as JSONMismatch {
            throw mismatch
        } catch {
            throw misfit(place, CaseNames.of(type) == nil ? .fit(error) : .valueOf(type))
        }
    }
}
