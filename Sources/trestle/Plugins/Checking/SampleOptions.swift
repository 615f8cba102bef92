import BridgeJSON

/// Values that a JSON Schema allows or forbids, made from the schema itself.
struct SampleOptions {
    private let root: JSON
    private let check: SchemaCheck

    /// The maximum depth of nested references and schemas.
    private static let deepest = 16
    /// The maximum length of generated strings and arrays.
    private static let longest = 10_000
    /// The maximum number of forbidden values.
    private static let maximumForbidden = 200

    /// - Throws: ``JSONSchemaError`` if it is not a valid schema.
    init(_ schema: JSON) throws(JSONSchemaError) {
        root = schema
        check = try SchemaCheck(schema)
    }

    /// Returns the reason why a value is forbidden; `nil` if it is allowed.
    func misfit(_ value: JSON) -> SchemaMisfit? {
        // The check may read some bytes past the end.
        let bytes = value.bytes
        return (bytes + [UInt8](repeating: 0, count: 64)).withUnsafeBytes { buffer in
            do throws(SchemaMisfit) {
                try check.check(UnsafeRawBufferPointer(rebasing: buffer[..<bytes.count]))
                return nil
            } catch {
                return error
            }
        }
    }

    /// An allowed value; `nil` if none was found, for example because of a pattern.
    var allowed: JSON? {
        guard let value = sample(root, Self.deepest), misfit(value) == nil else {
            return nil
        }
        return value
    }

    /// Returns forbidden values with their faults; empty if all values are allowed.
    ///
    /// - Parameter isSubtle: Whether to include values that a lenient task may accept: an unknown member, a number or a
    ///   length just outside its range. Otherwise only values of the wrong type and missing members.
    func forbidden(isSubtle: Bool) -> [(value: JSON, misfit: SchemaMisfit)] {
        var seen: Set<String> = []
        var found: [(value: JSON, misfit: SchemaMisfit)] = []
        let candidates =
            Self.kinds(isSubtle) + (sample(root, Self.deepest).map { variations(of: $0, root, isSubtle) } ?? [])
        for value in candidates where seen.insert(value.text).inserted && found.count < Self.maximumForbidden {
            if let misfit = misfit(value) { found.append((value, misfit)) }
        }
        return found
    }

    // MARK: Allowed values

    private func sample(_ schema: JSON, _ depth: Int) -> JSON? {
        guard depth > 0, schema != false else { return nil }
        if let value = schema["const"] ?? schema["default"] ?? schema["examples"]?[0] ?? schema["enum"]?[0] {
            return value
        }
        if let reference = schema["$ref"]?.stringValue {
            return JSONPointer(reference: reference).flatMap { root[$0] }.flatMap { sample($0, depth - 1) }
        }
        for keyword in ["anyOf", "oneOf", "allOf"] {
            for choice in schema[keyword]?.arrayValue ?? [] {
                if schema["type"] == nil, let value = sample(choice, depth - 1) { return value }
            }
        }
        switch kind(of: schema) {
        case "object": return object(schema, depth)
        case "array": return array(schema, depth)
        case "string": return text(schema)
        case "integer", "number": return number(schema)
        case "boolean": return false
        case "null": return .null
        default: return [:]
        }
    }

    /// Returns the first of its types; without any, the one that its other keywords imply.
    private func kind(of schema: JSON) -> String? {
        if let type = schema["type"]?.stringValue { return type }
        if let types = schema["type"]?.arrayValue { return types.compactMap(\.stringValue).first }
        let keys = Set(schema.objectValue?.keys ?? [])
        let hints = [
            "object": ["properties", "required"], "array": ["items", "minItems", "prefixItems"],
            "string": ["minLength", "maxLength"], "number": ["minimum", "maximum"],
        ]
        return hints.first { !keys.isDisjoint(with: $0.value) }?.key
    }

    private func object(_ schema: JSON, _ depth: Int) -> JSON? {
        var members: JSONObject = [:]
        for key in (schema["required"]?.arrayValue ?? []).compactMap(\.stringValue) {
            guard let value = sample(schema["properties"]?[key] ?? schema["additionalProperties"] ?? true, depth - 1)
            else { return nil }
            members[key] = value
        }
        return .object(members)
    }

    private func array(_ schema: JSON, _ depth: Int) -> JSON? {
        let count = min(Int(clamping: schema["minItems"]?.int64Value ?? 0), Self.longest)
        let first = schema["prefixItems"]?.arrayValue ?? []
        var elements: [JSON] = []
        for index in 0..<count {
            guard let value = sample(index < first.count ? first[index] : schema["items"] ?? true, depth - 1) else {
                return nil
            }
            elements.append(value)
        }
        return .array(elements)
    }

    private func text(_ schema: JSON) -> JSON {
        let minimum = min(Int(clamping: schema["minLength"]?.int64Value ?? 0), Self.longest)
        let maximum = Int(clamping: schema["maxLength"]?.int64Value ?? .max)
        return .string(String("sample".prefix(max(0, maximum))) + String(repeating: "x", count: max(0, minimum - 6)))
    }

    private func number(_ schema: JSON) -> JSON {
        func bound(_ keyword: String) -> Double? { schema[keyword]?.doubleValue }
        var value = max(bound("minimum") ?? -.infinity, (bound("exclusiveMinimum") ?? -.infinity) + 1)
        if value == -.infinity {
            value = min(0, bound("maximum") ?? .infinity, (bound("exclusiveMaximum") ?? .infinity) - 1)
        }
        value.round(.up)
        return Int64(exactly: value).map { .number(JSONNumber($0)) } ?? 0
    }

    // MARK: Forbidden values

    /// Returns a value of each type.
    private static func kinds(_ isSubtle: Bool) -> [JSON] {
        [nil] + kindsBesidesNull + (isSubtle ? [["unexpected": 1]] : [])
    }

    /// For optional members, for which null is equivalent to absence everywhere on the bridge.
    private static let kindsBesidesNull: [JSON] = [true, 12, 1.5, "text", [], [:], [1]]

    /// Returns copies of the value, each with one change.
    private func variations(of value: JSON, _ schema: JSON, _ isSubtle: Bool) -> [JSON] {
        switch value {
        case .object(let members): return objects(members, schema, isSubtle)
        case .array(let elements):
            let other: [JSON] = [.array(elements + [true]), .array(elements + ["text"])]
            return other + (isSubtle ? longArrays(elements, schema["maxItems"]?.int64Value) : [])
        case .string: return isSubtle ? [.string("")] + longText(schema["maxLength"]?.int64Value) : []
        case .number: return isSubtle ? numbers(schema) : []
        case .bool, .null: return []
        }
    }

    private func objects(_ members: JSONObject, _ schema: JSON, _ isSubtle: Bool) -> [JSON] {
        var result: [JSON] = []
        for (key, value) in members {
            var without = members
            without[key] = nil
            result.append(.object(without))
            let inner = schema["properties"]?[key] ?? true
            result += (Self.kinds(isSubtle) + variations(of: value, inner, isSubtle)).map { set(members, key, to: $0) }
        }
        for (key, inner) in schema["properties"]?.objectValue ?? [:] where members[key] == nil {
            let sampled = sample(inner, Self.deepest).map { variations(of: $0, inner, isSubtle) } ?? []
            result += (Self.kindsBesidesNull + sampled).map { set(members, key, to: $0) }
        }
        return isSubtle ? result + [set(members, "unexpected", to: 1)] : result
    }

    private func set(_ members: JSONObject, _ key: String, to value: JSON) -> JSON {
        var changed = members
        changed[key] = value
        return .object(changed)
    }

    private func longText(_ maximum: Int64?) -> [JSON] {
        guard let maximum, maximum < Self.longest else { return [] }
        return [.string(String(repeating: "x", count: Int(clamping: maximum) + 1))]
    }

    private func longArrays(_ elements: [JSON], _ maximum: Int64?) -> [JSON] {
        guard let maximum, maximum < Self.longest, let first = elements.first else { return [] }
        return [.array(Array(repeating: first, count: Int(clamping: maximum) + 1))]
    }

    private func numbers(_ schema: JSON) -> [JSON] {
        let outside = [
            schema["minimum"]?.doubleValue.map { $0 - 1 }, schema["maximum"]?.doubleValue.map { $0 + 1 },
            schema["exclusiveMinimum"]?.doubleValue, schema["exclusiveMaximum"]?.doubleValue,
        ]
        return outside.compactMap { $0 }.compactMap { Int64(exactly: $0) }.map { .number(JSONNumber($0)) }
    }
}
