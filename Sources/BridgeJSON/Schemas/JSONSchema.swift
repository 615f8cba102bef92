/// The reason why a type has no schema, or why a schema cannot be used.
public struct JSONSchemaError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The path in the type, such as `$.where[0]`.
    public let path: String
    /// The reason, as the end of a sentence.
    public let reason: String

    /// The path and the reason.
    public var description: String { "\(path): \(reason)" }
}

/// Derives the JSON Schema (2020-12) of Codable types.
///
/// The type decodes itself from a recorder. The members that it requests, and their types, are the schema; a member
/// requested with `decodeIfPresent` is optional and may be null. Enumerations must list their cases (`CaseIterable`).
public enum JSONSchema {
    /// Returns the schema of a type.
    ///
    /// - Throws: ``JSONSchemaError`` if the type refers to itself or nests types without an end, if an enumeration does
    ///   not list its cases, or if the type's own decoding requests more than a recorder provides. Write such a schema
    ///   by hand.
    public static func derive<T: Decodable>(from type: T.Type) throws(JSONSchemaError) -> JSON {
        do {
            return try SchemaRecorder.record(type, at: .root, within: []).schema
        } catch let error as JSONSchemaError {
            throw error
        } catch {
            throw JSONSchemaError(
                path: "$", reason: "\(type) could not be decoded from a recorder; write its schema by hand (\(error))")
        }
    }
}

/// A type that provides its schema itself, because its own decoding needs more than a recorder provides.
package protocol TypeWithSchema: Decodable {
    static var jsonSchema: JSON { get }
    /// A value, for the type that contains it.
    static var plainest: Self { get }
}

/// A type of the standard library that is an array or an object with arbitrary keys in JSON, or may be null.
private protocol JSONContainerType {
    /// Returns the schema and a value; nil if its parts are not decodable.
    static func record(at path: CodingPath, within types: [any Any.Type]) throws -> (schema: JSON, value: Any)?
}

extension Array: JSONContainerType where Element: Decodable {
    fileprivate static func record(at path: CodingPath, within types: [any Any.Type]) throws -> (
        schema: JSON, value: Any
    )? {
        let items = try SchemaRecorder.schema(of: Element.self, at: .index(0, of: path), within: types)
        return (["type": "array", "items": items], [Element]())
    }
}

extension Set: JSONContainerType where Element: Decodable {
    fileprivate static func record(at path: CodingPath, within types: [any Any.Type]) throws -> (
        schema: JSON, value: Any
    )? {
        let items = try SchemaRecorder.schema(of: Element.self, at: .index(0, of: path), within: types)
        return (["type": "array", "items": items], Set<Element>())
    }
}

extension Dictionary: JSONContainerType where Key == String, Value: Decodable {
    fileprivate static func record(at path: CodingPath, within types: [any Any.Type]) throws -> (
        schema: JSON, value: Any
    )? {
        let values = try SchemaRecorder.schema(of: Value.self, at: .key("*", of: path), within: types)
        return (["type": "object", "additionalProperties": values], [String: Value]())
    }
}

extension Optional: JSONContainerType {
    fileprivate static func record(at path: CodingPath, within types: [any Any.Type]) throws -> (
        schema: JSON, value: Any
    )? {
        guard let wrapped = Wrapped.self as? any Decodable.Type else { return nil }
        let some = try SchemaRecorder.schema(of: wrapped, at: path, within: types)
        return (PlainSchema.orNull(some), Wrapped?.none as Any)
    }
}

/// A decoder that records the requests of a type and answers each with the plainest value.
final class SchemaRecorder: Decoder {
    let path: CodingPath
    /// The types that are being recorded around this path. A type that occurs again would never end.
    let types: [any Any.Type]
    /// The maximum number of nested types: a generic type may refer to itself with another parameter each time.
    private static let maximumTypes = 64
    /// Whether the type may request members only; see ``record(_:at:within:)``.
    private let takesMembersOnly: Bool
    /// Whether the type requested something other than members although only members were available.
    private var asksForMore = false
    var schema: JSON = true
    var properties = JSONObject()
    var required: [JSON] = []

    var codingPath: [any CodingKey] { path.codingKeys }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    private init(path: CodingPath, types: [any Any.Type], takesMembersOnly: Bool) {
        self.path = path
        self.types = types
        self.takesMembersOnly = takesMembersOnly
    }

    /// Returns the schema of a type, and a value of it for the caller.
    ///
    /// Most types are objects with members, so this is tried before any other kind. For each conformance that a type
    /// does not have, the runtime searches every library of the process, which was most of the work.
    static func record<T: Decodable>(
        _ type: T.Type, at path: CodingPath, within types: [any Any.Type]
    ) throws -> (schema: JSON, value: T) {
        // Each cast is from a type to itself.
        if let plain = PlainSchema.values.first(where: { $0.type == ObjectIdentifier(type) }) {
            return (plain.schema, plain.value as! T)  // `!`: the type is `T`
        }
        guard !types.contains(where: { $0 == type }) else {
            throw JSONSchemaError(path: path.text, reason: "\(type) refers to itself; write its schema by hand")
        }
        guard types.count < maximumTypes else {
            throw JSONSchemaError(
                path: path.text,
                reason: "\(types[0]) nests types without end; write its schema by hand")
        }
        let members = SchemaRecorder(path: path, types: types + [type], takesMembersOnly: true)
        let outcome = Result { try T(from: members) }
        // No member at all: dictionaries decode in this way.
        let isObject = !members.asksForMore && !((try? outcome.get()) != nil && members.properties.isEmpty)
        if isObject { return (members.schema, try members.value(outcome)) }

        if let container = type as? any JSONContainerType.Type,
            let (schema, value) = try container.record(at: path, within: types)
        {
            return (schema, value as! T)  // `!`: `container` is `T`
        }
        if let type = type as? any TypeWithSchema.Type {
            return (type.jsonSchema, type.plainest as! T)  // `!`: the type is `T`
        }
        if let (schema, value) = cases(of: type) { return (schema, value as! T) }  // `!`: a case of `T`
        let recorder = SchemaRecorder(path: path, types: types + [type], takesMembersOnly: false)
        let whole = try recorder.value(Result { try T(from: recorder) })
        return (recorder.schema, whole)
    }

    /// Returns the result of a type's own decoding, with errors that explain what to do.
    private func value<T>(_ result: Result<T, any Error>) throws(JSONSchemaError) -> T {
        do {
            return try result.get()
        } catch let error as JSONSchemaError {
            throw error
        } catch {
            throw JSONSchemaError(
                path: path.text,
                reason: "\(T.self) could not be decoded from a recorder; list an enumeration's cases (CaseIterable), "
                    + "or write the schema by hand")
        }
    }

    static func schema(
        of type: any Decodable.Type, at path: CodingPath, within types: [any Any.Type]
    ) throws -> JSON {
        func open<T: Decodable>(_ type: T.Type) throws -> JSON { try record(type, at: path, within: types).schema }
        return try open(type)
    }

    private static func cases(of type: any Any.Type) -> (JSON, Any)? {
        guard let enumeration = type as? any (CaseIterable & RawRepresentable).Type else { return nil }
        func list<T: CaseIterable & RawRepresentable>(_ type: T.Type) -> (JSON, Any)? {
            guard let first = T.allCases.first else { return nil }
            let values = T.allCases.map { element -> JSON in
                switch element.rawValue {
                case let text as String: .string(text)
                case let number as any BinaryInteger: .number(JSONNumber(number))
                default: .string("\(element.rawValue)")
                }
            }
            return (["enum": .array(values)], first)
        }
        return list(enumeration)
    }

    // MARK: Decoder

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        updateObject()
        return KeyedDecodingContainer(RecordedMembers<Key>(recorder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        asksForMore = true
        throw JSONSchemaError(
            path: path.text, reason: "it reads an array piece by piece; write its schema by hand")
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        asksForMore = true
        guard !takesMembersOnly else {
            throw JSONSchemaError(path: path.text, reason: "it is not an object with members")
        }
        return RecordedValue(recorder: self)
    }

    func note(_ key: String, _ property: JSON, isRequired: Bool) {
        properties[key] = property
        if isRequired, !required.contains(.string(key)) { required.append(.string(key)) }
        updateObject()
    }

    private func updateObject() {
        var object: JSONObject = ["type": "object", "properties": .object(properties)]
        if !required.isEmpty { object["required"] = .array(required) }
        schema = .object(object)
    }
}
