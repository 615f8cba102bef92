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
    /// - Parameter bytes: borrowed for the duration of the call; the type must not keep its decoder beyond its own
    ///   `init(from:)`.
    /// - Throws: ``JSONMismatch`` where the text is no JSON (path `$`) or does not fit the type.
    public static func decode<T: Decodable>(
        _ type: T.Type, from bytes: UnsafeRawBufferPointer, unknownKeys: UnknownKeys = .ignore
    ) throws(JSONMismatch) -> T {
        try decode(type, from: bytes, maximumDepth: JSON.maximumDepth, unknownKeys: unknownKeys)
    }

    /// Reads a type from a value.
    ///
    /// - Throws: ``JSONMismatch`` where it does not fit the type.
    public static func decode<T: Decodable>(
        _ type: T.Type, from json: JSON, unknownKeys: UnknownKeys = .ignore
    ) throws(JSONMismatch) -> T {
        try json.bytes.span.bytes.withUnsafeBytes { bytes throws(JSONMismatch) in
            try decode(type, from: bytes, maximumDepth: .max, unknownKeys: unknownKeys)
        }
    }

    private static func decode<T: Decodable>(
        _ type: T.Type, from bytes: UnsafeRawBufferPointer, maximumDepth: Int, unknownKeys: UnknownKeys
    ) throws(JSONMismatch) -> T {
        let source: DecodingSource
        do throws(JSONSyntaxError) {
            source = try DecodingSource(bytes, maximumDepth: maximumDepth, unknownKeys: unknownKeys)
        } catch {
            throw JSONMismatch(path: "$", expected: "JSON", got: error.description)
        }
        defer { source.close() }
        let value: T
        do {
            value = try source.decode(type, at: 0)
        } catch let misfit as Misfit {
            throw JSONMismatch(misfit, in: source)
        } catch let mismatch as JSONMismatch {
            throw mismatch
        } catch {
            throw JSONMismatch(source.misfit(0, .fit(error)), in: source)
        }
        if let unknown = source.unknownKey { throw unknown }
        return value
    }

    /// Writes a value as one line.
    ///
    /// - Throws: ``JSONEncodingError`` where the value has no JSON, such as a number that is not finite.
    public static func encode<T: Encodable>(_ value: T) throws(JSONEncodingError) -> [UInt8] {
        var output: [UInt8] = []
        try encode(value, to: &output)
        return output
    }

    /// Appends a value as one line. Members stand in the order in which they were encoded; of equal keys the last one
    /// counts.
    ///
    /// - Throws: ``JSONEncodingError`` where the value has no JSON; nothing has been appended then.
    public static func encode<T: Encodable>(_ value: T, to output: inout [UInt8]) throws(JSONEncodingError) {
        let outcome = EncodingOutcome()
        let start = output.count
        let buffer = EncodingBuffer(output, outcome: outcome)
        // Two owners of the bytes would copy them.
        output = []
        do {
            let encoder = buffer.open()
            try buffer.writeSingle(at: encoder) { try buffer.append(value, within: encoder) }
            if let failure = outcome.failure { throw failure }
            output = buffer.finish()
            if outcome.hasRepeatedKeys { removeRepeatedKeys(from: &output, behind: start) }
        } catch {
            output = buffer.bytes
            output.removeLast(output.count - start)
            throw error as? JSONEncodingError ?? JSONEncodingError(path: "$", reason: "\(error)")
        }
    }

    private static func removeRepeatedKeys(from output: inout [UInt8], behind start: Int) {
        let written = Array(output[start...])
        output.removeLast(output.count - start)
        JSON(checked: written).write(to: &output)
    }

    /// A value as JSON.
    ///
    /// - Throws: ``JSONEncodingError`` where the value has no JSON.
    public static func json<T: Encodable>(_ value: T) throws(JSONEncodingError) -> JSON {
        JSON(checked: try encode(value))
    }
}

extension JSON {
    /// The value of a text that this module has written, of any depth.
    fileprivate init(checked bytes: [UInt8]) {
        self = bytes.withUnsafeBytes { bytes in
            guard let tape = try? Tape(bytes, maximumDepth: .max) else {
                preconditionFailure("the writer of JSON wrote something else")
            }
            return tape.json(at: 0, in: bytes)
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
