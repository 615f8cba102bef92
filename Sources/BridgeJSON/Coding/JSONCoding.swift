/// What is done with members of an object that the type does not ask for.
public enum UnknownKeys: Sendable {
    /// They are passed over.
    case ignore
    /// They are a mismatch, told with the keys that the type knows.
    case refuse
}

/// Codable types from and to JSON.
///
/// ``JSON`` and ``JSONNumber`` themselves pass through unchanged. An optional is nil where its member is `null` or
/// missing. A whole number is an integer however it is written (`1.0`, `1e2`), as long as the type holds it exactly.
public enum JSONCoding {
    /// Reads a type from a text.
    ///
    /// - Throws: ``JSONMismatch`` where the text is no JSON (path `$`) or does not fit the type.
    public static func decode<T: Decodable>(
        _ type: T.Type, from bytes: UnsafeRawBufferPointer, unknownKeys: UnknownKeys = .ignore
    ) throws(JSONMismatch) -> T {
        let json: JSON
        do throws(JSONSyntaxError) {
            json = try JSON(parsing: bytes)
        } catch {
            throw JSONMismatch(path: "$", expected: "JSON", got: error.description)
        }
        return try decode(type, from: json, unknownKeys: unknownKeys)
    }

    /// Reads a type from a value.
    ///
    /// - Throws: ``JSONMismatch`` where it does not fit the type.
    public static func decode<T: Decodable>(
        _ type: T.Type, from json: JSON, unknownKeys: UnknownKeys = .ignore
    ) throws(JSONMismatch) -> T {
        let visits = unknownKeys == .refuse ? KeyVisits() : nil
        let decoder = ValueDecoder(value: json, path: .root, visits: visits)
        do {
            let value = try decoder.decode(type)
            if let unknown = visits?.unknownKey { throw unknown }
            return value
        } catch let mismatch as JSONMismatch {
            throw mismatch
        } catch {
            throw JSONMismatch(error, at: .root, value: json)
        }
    }

    /// Writes a value as one line.
    ///
    /// - Throws: ``JSONEncodingError`` where the value has no JSON, such as a number that is not finite.
    public static func encode<T: Encodable>(_ value: T) throws(JSONEncodingError) -> [UInt8] {
        var output: [UInt8] = []
        try encode(value, to: &output)
        return output
    }

    /// Appends a value as one line.
    ///
    /// - Throws: ``JSONEncodingError`` where the value has no JSON; nothing has been appended then.
    public static func encode<T: Encodable>(_ value: T, to output: inout [UInt8]) throws(JSONEncodingError) {
        try json(value).write(to: &output)
    }

    /// A value as JSON.
    ///
    /// - Throws: ``JSONEncodingError`` where the value has no JSON.
    public static func json<T: Encodable>(_ value: T) throws(JSONEncodingError) -> JSON {
        do {
            return try ValueEncoder.encode(value, at: .root).json
        } catch let error as JSONEncodingError {
            throw error
        } catch {
            throw JSONEncodingError(path: "$", reason: "\(error)")
        }
    }
}

/// Why a value has no JSON.
public struct JSONEncodingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where in the value, such as `$.where[2].name`.
    public let path: String
    /// Why, as the end of a sentence.
    public let reason: String

    /// Place and reason.
    public var description: String { "\(path): \(reason)" }
}
