/// The treatment of members of an object that the type does not request.
public enum UnknownKeys: Sendable {
    /// They are ignored.
    case ignore
    /// They are a mismatch, which lists the keys that the type knows.
    case refuse
}

/// Reads Codable types from JSON and writes them to JSON.
///
/// ``JSON`` and ``JSONNumber`` themselves pass through unchanged. An optional is nil if its member is `null` or
/// missing. A whole number is an integer in any notation (`1.0`, `1e2`), if the type holds it exactly.
public enum JSONCoding {
    /// Reads a type from a text.
    ///
    /// - Parameter userInfo: The `userInfo` of the decoder that the type's own decoding uses.
    /// - Throws: ``JSONMismatch`` if the text is not JSON (path `$`) or does not fit the type.
    public static func decode<T: Decodable>(
        _ type: T.Type, from bytes: UnsafeRawBufferPointer, unknownKeys: UnknownKeys = .ignore,
        userInfo: [CodingUserInfoKey: Any] = [:]
    ) throws(JSONMismatch) -> T {
        var tape = JSONTape()
        tape.userInfo = userInfo
        try tape.read(bytes)
        return try decode(type, from: &tape, unknownKeys)
    }

    /// Reads a type from bytes that the caller owns.
    ///
    /// - Throws: ``JSONMismatch`` as above.
    public static func decode<T: Decodable>(
        _ type: T.Type, text bytes: [UInt8], unknownKeys: UnknownKeys = .ignore
    ) throws(JSONMismatch) -> T {
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(JSONMismatch) in try decode(type, from: bytes, unknownKeys: unknownKeys) }
        }
        return try result.get()
    }

    /// Reads a type from a value.
    ///
    /// - Parameter userInfo: The `userInfo` of the decoder that the type's own decoding uses.
    /// - Throws: ``JSONMismatch`` if it does not fit the type.
    public static func decode<T: Decodable>(
        _ type: T.Type, from json: JSON, unknownKeys: UnknownKeys = .ignore, userInfo: [CodingUserInfoKey: Any] = [:]
    ) throws(JSONMismatch) -> T {
        // Through its text, so that there is only one way to read a type.
        let result = json.bytes.withUnsafeBytes { bytes in
            Result { () throws(JSONMismatch) in
                var tape = tape(ofWritten: bytes)
                tape.userInfo = userInfo
                return try decode(type, from: &tape, unknownKeys)
            }
        }
        return try result.get()
    }

    private static func decode<T: Decodable>(
        _ type: T.Type, from tape: inout JSONTape, _ unknownKeys: UnknownKeys
    ) throws(JSONMismatch) -> T {
        // A type may keep its decoder, which needs the text.
        defer { if !isKnownUniquelyReferenced(&tape) { tape.keepText() } }
        if unknownKeys == .refuse { tape.visits = KeyVisits() }
        let value = try TapeDecoder(tape: tape, node: JSONTape.root, path: .root).decodeRoot(type)
        if let unknown = tape.visits?.unknownKey(in: tape) { throw unknown }
        return value
    }

    /// Reads the tape of a text that this module wrote.
    private static func tape(ofWritten bytes: UnsafeRawBufferPointer) -> JSONTape {
        do throws(JSONSyntaxError) {
            return try JSONTape(bytes, maximumDepth: .max)
        } catch {
            preconditionFailure("what was written is not valid JSON: \(error)")
        }
    }

    /// Reads the value of a text that this module wrote.
    static func json(ofWritten bytes: UnsafeRawBufferPointer) -> JSON {
        tape(ofWritten: bytes).json(JSONTape.root)
    }

    /// Writes a value as one line.
    ///
    /// - Throws: ``JSONEncodingError`` if the value has no JSON form, such as a number that is not finite.
    public static func encode<T: Encodable>(_ value: T) throws(JSONEncodingError) -> [UInt8] {
        try withText(of: value) { Array($0) }
    }

    /// Appends a value as one line.
    ///
    /// - Throws: ``JSONEncodingError`` if the value has no JSON form; nothing has been appended then.
    public static func encode<T: Encodable>(_ value: T, to output: inout [UInt8]) throws(JSONEncodingError) {
        try withText(of: value) { output.append(contentsOf: $0) }
    }

    /// Converts a value to JSON.
    ///
    /// - Throws: ``JSONEncodingError`` if the value has no JSON form.
    public static func json<T: Encodable>(_ value: T) throws(JSONEncodingError) -> JSON {
        try withText(of: value) { json(ofWritten: $0) }
    }

    /// Writes a value as one line and passes it to `body`, borrowed: for callers that only forward it.
    ///
    /// - Throws: ``JSONEncodingError`` if the value has no JSON form; `body` is not called then.
    public static func withText<T: Encodable, R>(
        of value: T, _ body: (UnsafeRawBufferPointer) -> R
    ) throws(JSONEncodingError) -> R {
        let text = EncodingText()
        try text.encodeRoot(value)
        return body(UnsafeRawBufferPointer(text.bytes.elements))
    }
}

extension JSONTape {
    /// Reads a text of JSON into an empty tape.
    func read(_ bytes: UnsafeRawBufferPointer) throws(JSONMismatch) {
        do throws(JSONSyntaxError) {
            try read(bytes, maximumDepth: JSON.maximumDepth)
        } catch {
            throw JSONMismatch(path: "$", expected: "JSON", got: error.description)
        }
    }
}

/// The reason why a value has no JSON form.
public struct JSONEncodingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The path in the value, such as `$.where[2].name`.
    public let path: String
    /// The reason, as the end of a sentence.
    public let reason: String

    /// The path and the reason.
    public var description: String { "\(path): \(reason)" }
}
