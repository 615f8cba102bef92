/// The schemas of plain types, and a value of each.
enum PlainSchema {
    static let boolean: JSON = ["type": "boolean"]
    static let string: JSON = ["type": "string"]
    static let number: JSON = ["type": "number"]

    /// The schemas of the plain types, with a value of each; the most common types first.
    static let values = [
        plain("", string), plain(0, integer(Int.self)), plain(false, boolean), plain(0.0, number),
        plain(JSON.null, true), plain(JSONNumber(0), number), plain(Float(0), number),
        plain(Int8(0), integer(Int8.self)), plain(Int16(0), integer(Int16.self)), plain(Int32(0), integer(Int32.self)),
        plain(Int64(0), integer(Int64.self)), plain(UInt(0), integer(UInt.self)), plain(UInt8(0), integer(UInt8.self)),
        plain(UInt16(0), integer(UInt16.self)), plain(UInt32(0), integer(UInt32.self)),
        plain(UInt64(0), integer(UInt64.self)),
    ]

    private static func plain<T: Sendable>(
        _ value: T, _ schema: JSON
    ) -> (type: ObjectIdentifier, schema: JSON, value: any Sendable) { (ObjectIdentifier(T.self), schema, value) }

    /// Returns a schema that allows the same as one made here, or null.
    static func orNull(_ schema: JSON) -> JSON {
        guard case .object(var object) = schema else { return schema }
        if let type = object["type"]?.stringValue { object["type"] = [.string(type), "null"] }
        if let values = object["enum"]?.arrayValue, !values.contains(.null) {
            object["enum"] = .array(values + [.null])
        }
        return .object(object)
    }

    /// Returns the schema of an integer type, with its bounds unless they are those of a 64-bit integer.
    static func integer<T: FixedWidthInteger>(_ type: T.Type) -> JSON {
        var schema: JSONObject = ["type": "integer"]
        if !T.isSigned || T.bitWidth < 64 { schema["minimum"] = .number(JSONNumber(T.min)) }
        if T.bitWidth < 64 { schema["maximum"] = .number(JSONNumber(T.max)) }
        return .object(schema)
    }
}
