/// What is done with members of an object that the type does not ask for.
public enum UnknownKeys: Sendable {
    /// They are passed over.
    case ignore
    /// They are a mismatch, reported with the keys that the type knows.
    case refuse
}

/// Codable types from and to JSON.
///
/// ``JSON`` and ``JSONNumber`` themselves pass through unchanged. An optional is nil where its member is `null` or
/// missing. A whole number is an integer however it is written (`1.0`, `1e2`), as long as the type holds it exactly.
public enum JSONCoding {
    /// Reads a type from a text.
    ///
    /// - Parameter userInfo: What the type's own decoding finds in its decoder.
    /// - Throws: ``JSONMismatch`` where the text is no JSON (path `$`) or does not fit the type.
    public static func decode<T: Decodable>(
        _ type: T.Type, from bytes: UnsafeRawBufferPointer, unknownKeys: UnknownKeys = .ignore,
        userInfo: [CodingUserInfoKey: Any] = [:]
    ) throws(JSONMismatch) -> T {
        var tape = JSONTape()
        tape.userInfo = userInfo
        try tape.read(bytes)
        return try decode(type, from: &tape, unknownKeys)
    }

    /// The same from bytes that the caller owns.
    ///
    /// - Throws: what does not fit, and where.
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
    /// - Parameter userInfo: What the type's own decoding finds in its decoder.
    /// - Throws: ``JSONMismatch`` where it does not fit the type.
    public static func decode<T: Decodable>(
        _ type: T.Type, from json: JSON, unknownKeys: UnknownKeys = .ignore, userInfo: [CodingUserInfoKey: Any] = [:]
    ) throws(JSONMismatch) -> T {
        // By way of its text, so that there is one way to read a type.
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
        // A type that keeps its decoder must not find the text gone.
        defer { if !isKnownUniquelyReferenced(&tape) { tape.keepText() } }
        if unknownKeys == .refuse { tape.visits = KeyVisits() }
        let value = try TapeDecoder(tape: tape, node: JSONTape.root, path: .root).decodeRoot(type)
        if let unknown = tape.visits?.unknownKey(in: tape) { throw unknown }
        return value
    }

    /// The tape of a text that this module wrote.
    private static func tape(ofWritten bytes: UnsafeRawBufferPointer) -> JSONTape {
        do throws(JSONSyntaxError) {
            return try JSONTape(bytes, maximumDepth: .max)
        } catch {
            preconditionFailure("what was written is no JSON: \(error)")
        }
    }

    /// The value of a text that this module wrote.
    static func json(ofWritten bytes: UnsafeRawBufferPointer) -> JSON {
        tape(ofWritten: bytes).json(JSONTape.root)
    }

    /// Writes a value as one line.
    ///
    /// - Throws: ``JSONEncodingError`` where the value has no JSON, such as a number that is not finite.
    public static func encode<T: Encodable>(_ value: T) throws(JSONEncodingError) -> [UInt8] {
        try withText(of: value) { Array($0) }
    }

    /// Appends a value as one line.
    ///
    /// - Throws: ``JSONEncodingError`` where the value has no JSON; nothing has been appended then.
    public static func encode<T: Encodable>(_ value: T, to output: inout [UInt8]) throws(JSONEncodingError) {
        try withText(of: value) { output.append(contentsOf: $0) }
    }

    /// A value as JSON.
    ///
    /// - Throws: ``JSONEncodingError`` where the value has no JSON.
    public static func json<T: Encodable>(_ value: T) throws(JSONEncodingError) -> JSON {
        try withText(of: value) { json(ofWritten: $0) }
    }

    /// Writes a value as one line and passes it to `body`, borrowed: for callers that only pass it on.
    ///
    /// - Throws: ``JSONEncodingError`` where the value has no JSON; `body` is not called then.
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

/// Why a value has no JSON.
public struct JSONEncodingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where in the value, such as `$.where[2].name`.
    public let path: String
    /// Why, as the end of a sentence.
    public let reason: String

    /// Path and reason.
    public var description: String { "\(path): \(reason)" }
}
