/// Why a type has no schema.
public struct JSONSchemaError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where in the type, such as `$.where[0]`.
    public let path: String
    /// Why, as the end of a sentence.
    public let reason: String

    /// Place and reason.
    public var description: String { "\(path): \(reason)" }
}

/// The JSON Schema (2020-12) of Codable types.
///
/// It is found by asking the type to decode itself from a recorder: what it asks for, and in which form, is the schema;
/// what it asks for with `decodeIfPresent` is optional. Enumerations must list their cases (`CaseIterable`). A type
/// that decodes itself in one of several forms is recorded in the first that it asks for: write its schema by hand.
public enum JSONSchema {
    /// The schema of a type.
    ///
    /// - Throws: ``JSONSchemaError`` where the type refers to itself, where an enumeration does not list its cases, or
    ///   where the type's own decoding asks for more than a recorder can give. Such a schema is to be written by hand.
    public static func derive<T: Decodable>(from type: T.Type) throws(JSONSchemaError) -> JSON {
        do {
            return try SchemaRecorder.record(type, at: [], within: []).schema
        } catch let error as JSONSchemaError {
            throw error
        } catch {
            throw JSONSchemaError(path: "$", reason: "\(error)")
        }
    }
}
