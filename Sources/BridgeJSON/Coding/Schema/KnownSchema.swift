/// A type that is an array in JSON.
protocol JSONArrayType {
    static var elementType: any Decodable.Type { get }
    static var noElements: Self { get }
}

extension Array: JSONArrayType where Element: Decodable {
    static var elementType: any Decodable.Type { Element.self }
    static var noElements: [Element] { [] }
}

extension Set: JSONArrayType where Element: Decodable {
    static var elementType: any Decodable.Type { Element.self }
    static var noElements: Set<Element> { [] }
}

/// A type that is an object of any keys in JSON.
protocol JSONDictionaryType {
    static var valueType: any Decodable.Type { get }
    static var noMembers: Self { get }
}

extension Dictionary: JSONDictionaryType where Key == String, Value: Decodable {
    static var valueType: any Decodable.Type { Value.self }
    static var noMembers: [String: Value] { [:] }
}

/// A type that may be null.
protocol JSONOptionalType {
    static var wrappedType: any Decodable.Type { get }
    static var null: Self { get }
}

extension Optional: JSONOptionalType where Wrapped: Decodable {
    static var wrappedType: any Decodable.Type { Wrapped.self }
    static var null: Wrapped? { nil }
}

/// The schemas of types that need not be asked, each with a value of the type.
enum KnownSchema {
    static func of(
        _ type: any Any.Type, at path: [PathStep], within types: [any Any.Type]
    ) throws -> (schema: JSON, value: Any)? {
        switch type {
        case is JSON.Type: return (true, JSON.null)
        case is JSONNumber.Type: return (["type": "number"], JSONNumber(0))
        case is JSONObject.Type: return (["type": "object"], JSONObject())
        case is Bool.Type: return (["type": "boolean"], false)
        case is String.Type: return (["type": "string"], "")
        case is Double.Type: return (["type": "number"], 0.0)
        case is Float.Type: return (["type": "number"], Float(0))
        case let integer as any FixedWidthInteger.Type: return self.integer(integer)
        case let enumeration as any (CaseIterable & RawRepresentable).Type: return cases(of: enumeration)
        case let array as any JSONArrayType.Type:
            let items = try schema(of: array.elementType, at: path + [.index(0)], within: types)
            return (["type": "array", "items": items], array.noElements)
        case let dictionary as any JSONDictionaryType.Type:
            let values = try schema(of: dictionary.valueType, at: path + [.key("*")], within: types)
            return (["type": "object", "additionalProperties": values], dictionary.noMembers)
        case let optional as any JSONOptionalType.Type:
            let some = try schema(of: optional.wrappedType, at: path, within: types)
            return (["anyOf": [some, ["type": "null"]]], optional.null)
        default: return nil
        }
    }

    private static func schema(
        of type: any Decodable.Type, at path: [PathStep], within types: [any Any.Type]
    ) throws -> JSON {
        func opened<T: Decodable>(_ type: T.Type) throws -> JSON {
            try SchemaRecorder.record(type, at: path, within: types).schema
        }
        return try opened(type)
    }

    /// The bounds stand in the schema where they say more than that the number is a machine's.
    private static func integer<T: FixedWidthInteger>(_ type: T.Type) -> (JSON, Any) {
        var schema: JSONObject = ["type": "integer"]
        if !T.isSigned || T.bitWidth < 64 { schema["minimum"] = .number(JSONNumber(T.min)) }
        if T.bitWidth < 64 { schema["maximum"] = .number(JSONNumber(T.max)) }
        return (.object(schema), T.zero)
    }

    /// The cases of an enumeration that lists them; nil where it has none.
    private static func cases<T: CaseIterable & RawRepresentable>(of type: T.Type) -> (JSON, Any)? {
        guard let first = T.allCases.first else { return nil }
        let values = T.allCases.map { element -> JSON in
            switch element.rawValue {
            case let number as any BinaryInteger: .number(JSONNumber(number))
            case let number as Double: JSONNumber(number).map(JSON.number) ?? .null
            default: .string("\(element.rawValue)")
            }
        }
        return (["enum": .array(values)], first)
    }
}
