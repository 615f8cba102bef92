/// Makes rules of a schema.
struct SchemaReader {
    private(set) var rules: [SchemaRule] = []
    /// Keywords that would refuse values, and are not checked.
    private(set) var unchecked: Set<String> = []

    private let document: JSON
    /// The rules of the schemas that were referred to, by the pointer.
    private var referred: [String: Int] = [:]

    /// - Throws: ``JSONSchemaError`` where it is no schema, refers to one that is not in it, or to itself without end.
    init(_ schema: JSON) throws(JSONSchemaError) {
        document = schema
        _ = try read(schema, .root)
        try refuseCircles()
    }

    /// Enters a schema.
    ///
    /// - Returns: its rule's place.
    private mutating func read(_ schema: JSON, _ path: CodingPath) throws(JSONSchemaError) -> Int {
        let place = rules.count
        rules.append(SchemaRule())
        switch schema {
        case .bool(let fits): rules[place].fitsNothing = !fits
        case .object(let keywords): rules[place] = try rule(keywords, path)
        default: throw JSONSchemaError(path: path.text, reason: "a schema is an object, true or false")
        }
        return place
    }

    private mutating func rule(_ keywords: JSONObject, _ path: CodingPath) throws(JSONSchemaError) -> SchemaRule {
        var rule = SchemaRule()
        for (keyword, value) in keywords {
            let here = CodingPath.key(keyword, of: path)
            switch keyword {
            case "type": rule.kinds = try kinds(value, here)
            case "enum": rule.values = try list(value, here)
            case "const": rule.values = [value]
            case "minimum": rule.minimum = .init(number: try number(value, here), isIncluded: true)
            case "exclusiveMinimum": rule.minimum = .init(number: try number(value, here), isIncluded: false)
            case "maximum": rule.maximum = .init(number: try number(value, here), isIncluded: true)
            case "exclusiveMaximum": rule.maximum = .init(number: try number(value, here), isIncluded: false)
            case "minLength": try bound(&rule.lengths, from: value, here)
            case "maxLength": try bound(&rule.lengths, to: value, here)
            case "minItems": try bound(&rule.elementCounts, from: value, here)
            case "maxItems": try bound(&rule.elementCounts, to: value, here)
            case "minProperties": try bound(&rule.memberCounts, from: value, here)
            case "maxProperties": try bound(&rule.memberCounts, to: value, here)
            case "prefixItems": rule.firstElements = try alternatives(value, here)
            case "items": rule.elements = try read(value, here)
            case "properties": try readMembers(value, of: &rule, here)
            case "required": try require(value, of: &rule, here)
            case "additionalProperties": rule.otherMembers = try read(value, here)
            case "allOf": rule.all += try alternatives(value, here)
            case "anyOf": rule.any.append(try alternatives(value, here))
            case "oneOf": rule.one.append(try alternatives(value, here))
            case "not": rule.none.append(try read(value, here))
            case "$ref": rule.all.append(try refer(to: value, here))
            case _ where Self.refusing.contains(keyword): unchecked.insert(keyword)
            // Says something about values, and refuses none.
            default: break
            }
        }
        return rule
    }

    /// What is not checked: regular expressions, whose cost their author decides; and what few schemas say.
    private static let refusing: Set<String> = [
        "pattern", "patternProperties", "propertyNames", "dependentRequired", "dependentSchemas", "if", "then", "else",
        "contains", "minContains", "maxContains", "uniqueItems", "multipleOf", "unevaluatedItems",
        "unevaluatedProperties", "$dynamicRef",
    ]

    // MARK: Keywords

    private func kinds(_ value: JSON, _ path: CodingPath) throws(JSONSchemaError) -> SchemaKinds {
        var kinds: SchemaKinds = []
        for name in value.arrayValue ?? [value] {
            guard let kind = name.stringValue.flatMap(SchemaKinds.init(name:)) else {
                throw JSONSchemaError(path: path.text, reason: "there is no type \(name.text)")
            }
            kinds.insert(kind)
        }
        return kinds
    }

    private func list(_ value: JSON, _ path: CodingPath) throws(JSONSchemaError) -> [JSON] {
        guard let list = value.arrayValue, !list.isEmpty else {
            throw JSONSchemaError(path: path.text, reason: "an array with at least one element was expected")
        }
        return list
    }

    private func number(_ value: JSON, _ path: CodingPath) throws(JSONSchemaError) -> JSONNumber {
        guard case .number(let number) = value else {
            throw JSONSchemaError(path: path.text, reason: "a number was expected")
        }
        return number
    }

    private func count(_ value: JSON, _ path: CodingPath) throws(JSONSchemaError) -> Int {
        guard let count = value.int64Value, count >= 0 else {
            throw JSONSchemaError(path: path.text, reason: "an integer of at least 0 was expected")
        }
        return Int(count)
    }

    private func bound(
        _ range: inout ClosedRange<Int>, from value: JSON, _ path: CodingPath
    ) throws(JSONSchemaError) {
        range = try range.lower(count(value, path), path)
    }

    private func bound(
        _ range: inout ClosedRange<Int>, to value: JSON, _ path: CodingPath
    ) throws(JSONSchemaError) {
        range = try range.upper(count(value, path), path)
    }

    private mutating func alternatives(_ value: JSON, _ path: CodingPath) throws(JSONSchemaError) -> [Int] {
        var places: [Int] = []
        for (index, schema) in try list(value, path).enumerated() {
            places.append(try read(schema, .index(index, of: path)))
        }
        return places
    }

    private mutating func readMembers(
        _ value: JSON, of rule: inout SchemaRule, _ path: CodingPath
    ) throws(JSONSchemaError) {
        guard let properties = value.objectValue else {
            throw JSONSchemaError(path: path.text, reason: "an object was expected")
        }
        for (key, schema) in properties {
            let place = try read(schema, .key(key, of: path))
            if let index = rule.members.firstIndex(where: { $0.key == key }) {
                rule.members[index].rule = place
            } else {
                rule.members.append(.init(key: key, rule: place, isRequired: false))
            }
        }
    }

    private func require(
        _ value: JSON, of rule: inout SchemaRule, _ path: CodingPath
    ) throws(JSONSchemaError) {
        for name in value.arrayValue ?? [value] {
            guard let key = name.stringValue else {
                throw JSONSchemaError(path: path.text, reason: "an array of names was expected")
            }
            if let index = rule.members.firstIndex(where: { $0.key == key }) {
                rule.members[index].isRequired = true
            } else {
                rule.members.append(.init(key: key, rule: nil, isRequired: true))
            }
        }
    }

    // MARK: References

    private mutating func refer(to value: JSON, _ path: CodingPath) throws(JSONSchemaError) -> Int {
        guard let pointer = value.stringValue, pointer == "#" || pointer.hasPrefix("#/") else {
            throw JSONSchemaError(path: path.text, reason: "only schemas of the same document can be referred to")
        }
        if pointer == "#" { return 0 }
        if let known = referred[pointer] { return known }
        var schema: JSON? = document
        for part in pointer.dropFirst(2).split(separator: "/", omittingEmptySubsequences: false) {
            let key = part.split(separator: "~1", omittingEmptySubsequences: false).joined(separator: "/")
                .split(separator: "~0", omittingEmptySubsequences: false).joined(separator: "~")
            schema = Int(key).flatMap { schema?[$0] } ?? schema?[key]
        }
        guard let schema else { throw JSONSchemaError(path: path.text, reason: "there is no \(pointer)") }
        // Entered before it is read, because it may refer to itself.
        let place = rules.count
        referred[pointer] = place
        let read = try read(schema, path)
        assert(read == place)
        return place
    }

    /// A schema that leads back to itself without a step into the value would be followed without end.
    private func refuseCircles() throws(JSONSchemaError) {
        enum Mark { case open, done }
        var marks: [Int: Mark] = [:]
        // A list in place of calls, because a schema may be long: a rule, and whether it is left.
        var work = rules.indices.map { (rule: $0, isLeft: false) }
        while let (rule, isLeft) = work.popLast() {
            if isLeft {
                marks[rule] = .done
            } else if marks[rule] == nil {
                marks[rule] = .open
                work.append((rule, true))
                for next in rules[rule].ofTheSameValue {
                    if marks[next] == .open {
                        throw JSONSchemaError(path: "$", reason: "a schema refers to itself without end")
                    }
                    work.append((next, false))
                }
            }
        }
    }
}

extension ClosedRange<Int> {
    fileprivate func lower(_ bound: Int, _ path: CodingPath) throws(JSONSchemaError) -> Self {
        guard bound <= upperBound else { throw JSONSchemaError(path: path.text, reason: "no count fits both bounds") }
        return bound...upperBound
    }

    fileprivate func upper(_ bound: Int, _ path: CodingPath) throws(JSONSchemaError) -> Self {
        guard bound >= lowerBound else { throw JSONSchemaError(path: path.text, reason: "no count fits both bounds") }
        return lowerBound...bound
    }
}
