import BridgeJSON

/// Reads a JSON Schema as types: one for the whole, and one for each object in it whose members are named.
///
/// Whatever the schema is, there is an answer: what it says that types cannot, and what is too deep or too much, is
/// unknown.
struct SchemaShapes {
    /// Deeper than any reader looks; a schema may refer to itself.
    private static let greatestDepth = 40
    /// Places that are looked at in one schema: references to references can stand for any number of them.
    private static let maximumPlaces = 5_000
    /// Beyond, names of types do not grow with each level.
    private static let maximumNameBytes = 80

    private let document: JSON
    private(set) var names: GeneratedNames
    private(set) var declarations: [TypeDeclaration] = []
    private var placesLeft = Self.maximumPlaces
    /// The types of objects that are referred to.
    private var nameOfPointer: [String: String] = [:]

    /// The place that is being read.
    private struct Place {
        /// What a type that is declared here would be called.
        var name: String
        var depth = 0
        /// References that were followed without passing a declared type; following one again would not end.
        var followed: [String] = []

        /// A place in this one. A name that is long enough stays as it is; a number distinguishes the types.
        func inside(_ part: String) -> Place {
            let isLong = name.utf8.count + part.utf8.count > SchemaShapes.maximumNameBytes
            return Place(name: isLong ? name : name + part, depth: depth + 1, followed: followed)
        }

        func at(_ depth: Int) -> Place { Place(name: name, depth: depth, followed: followed) }
    }

    private let rootName: String

    private init(_ document: JSON, as name: String, _ names: GeneratedNames) {
        (self.document, rootName, self.names) = (document, name, names)
    }

    /// Declares the types of a schema, its own first.
    ///
    /// - Parameters:
    ///   - name: its name, which has been taken.
    ///   - names: those that are taken; others join them.
    static func declare(_ schema: JSON, as name: String, note: String, _ names: inout GeneratedNames)
        -> [TypeDeclaration]
    {
        var shapes = SchemaShapes(schema, as: name, names)
        let shape = shapes.whole()
        names = shapes.names
        var declarations = shapes.declarations
        let own = declarations.firstIndex { $0.name == name }
        if let own {
            let rest = declarations[own].note
            declarations[own].note = rest.isEmpty ? note : "\(note)\n\(rest)"
        } else {
            let rest = schema["description"]?.stringValue ?? ""
            let alias = TypeDeclaration(
                name: name, note: rest.isEmpty ? note : "\(note)\n\(rest)", content: .alias(shape))
            declarations.insert(alias, at: 0)
        }
        return declarations
    }

    // MARK: Schemas

    private mutating func whole() -> TypeShape {
        guard let schema = document.objectValue else { return .unknown }
        if isPlainObject(schema) { return object(schema, Place(name: rootName), pointer: "#", isWhole: true) }
        return shape(document, Place(name: rootName))
    }

    private mutating func shape(_ schema: JSON, _ place: Place) -> TypeShape {
        placesLeft -= 1
        guard placesLeft > 0, place.depth < Self.greatestDepth, let schema = schema.objectValue else { return .unknown }
        if let pointer = schema["$ref"]?.stringValue { return reference(pointer, place) }
        if let values = schema["enum"]?.arrayValue { return .any(of: values.map(Self.literal)) }
        if let value = schema["const"] { return Self.literal(value) }
        if let parts = schema["allOf"]?.arrayValue { return together(schema, parts, place) }
        for key in ["anyOf", "oneOf"] {
            guard let choices = schema[key]?.arrayValue, !choices.isEmpty else { continue }
            var base = schema
            base[key] = nil
            return choice(choices, base, place)
        }
        return plain(schema, place)
    }

    /// Of a schema whose members are looked at one by one.
    private mutating func plain(_ schema: JSONObject, _ place: Place) -> TypeShape {
        .any(
            of: Self.types(schema).map { type in
                switch type {
                case "null": .null
                case "boolean": .boolean
                case "integer": .integer
                case "number": .number
                case "string": .string
                case "array": .array(items(schema, place))
                case "object": object(schema, place)
                default: .unknown
                }
            })
    }

    private static func types(_ schema: JSONObject) -> [String] {
        switch schema["type"] {
        case .string(let type): return [type]
        case .array(let types): return types.map { $0.stringValue ?? "" }
        default:
            if schema["properties"] != nil { return ["object"] }
            return schema["items"] != nil || schema["prefixItems"] != nil ? ["array"] : []
        }
    }

    private mutating func items(_ schema: JSONObject, _ place: Place) -> TypeShape {
        let first = schema["prefixItems"]?.arrayValue ?? []
        var parts: [TypeShape] = []
        for item in first { parts.append(shape(item, place.inside("Item"))) }
        if schema["items"] != false || parts.isEmpty {
            parts.append(shape(schema["items"] ?? true, place.inside("Item")))
        }
        return .any(of: parts)
    }

    private static func literal(_ value: JSON) -> TypeShape {
        switch value {
        case .null: .null
        case .bool, .string: .literal(value)
        // Spelled as an integer, and one that every reader knows exactly.
        case .number(let number) where number.int64.map { $0.magnitude < 1 << 53 && String($0) == number.text } == true:
            .literal(value)
        case .number: .number
        case .array, .object: .unknown
        }
    }

    // MARK: Objects

    private func isPlainObject(_ schema: JSONObject) -> Bool {
        let isCombined = ["$ref", "enum", "const", "allOf", "anyOf", "oneOf"].contains { schema[$0] != nil }
        return !isCombined && Self.types(schema) == ["object"] && schema["properties"]?.objectValue?.isEmpty == false
    }

    /// - Parameters:
    ///   - pointer: by which others refer to it.
    ///   - isWhole: its name has been taken already.
    private mutating func object(
        _ schema: JSONObject, _ place: Place, pointer: String? = nil, isWhole: Bool = false
    ) -> TypeShape {
        let rest = schema["additionalProperties"]
        guard let properties = schema["properties"]?.objectValue, !properties.isEmpty else {
            return .map(rest?.objectValue == nil ? .unknown : shape(rest ?? true, place.inside("Value")))
        }
        let name = isWhole ? place.name : names.take(place.name)
        if let pointer { nameOfPointer[pointer] = name }
        // Its place in front of those that are declared for its members.
        let index = declarations.count
        declarations.append(TypeDeclaration(name: name, note: Self.note(schema), content: .alias(.unknown)))
        // Long names do not grow by their numbers either.
        let inside = Place(name: name.utf8.count > Self.maximumNameBytes ? place.name : name, depth: place.depth)
        let members = members(properties, schema["required"]?.arrayValue ?? [], inside)
        let isExtensible = rest == true || rest?.objectValue != nil
        declarations[index].content = .object(members, isExtensible: isExtensible)
        return .named(name)
    }

    private mutating func members(_ properties: JSONObject, _ required: [JSON], _ place: Place) -> [TypeMember] {
        let required = Set(required)
        var members: [TypeMember] = []
        for (key, schema) in properties {
            members.append(
                TypeMember(
                    key: key, shape: shape(schema, place.inside(NameWords.suffix(key))),
                    isRequired: required.contains(.string(key)), note: Self.note(schema.objectValue ?? [:])))
        }
        return members
    }

    private static func note(_ schema: JSONObject) -> String {
        var parts = [schema["description"]?.stringValue ?? schema["title"]?.stringValue].compactMap(\.self)
        if let value = schema["default"] { parts.append("Default: \(value.text)") }
        return parts.joined(separator: "\n")
    }

    // MARK: Combinations

    private mutating func reference(_ pointer: String, _ place: Place) -> TypeShape {
        if let name = nameOfPointer[pointer] { return .named(name) }
        guard !place.followed.contains(pointer), let target = SchemaMerge.target(of: pointer, in: document) else {
            return .unknown
        }
        if let schema = target.objectValue, isPlainObject(schema) {
            // Called after itself, not after the one place from which it happened to be reached first.
            let own = JSONPointer(reference: pointer)?.keys.last.map(NameWords.suffix) ?? ""
            return object(schema, Place(name: rootName).inside(own).at(place.depth + 1), pointer: pointer)
        }
        var next = place
        next.followed.append(pointer)
        next.depth += 1
        return shape(target, next)
    }

    /// All of several schemas at once: their members together.
    private mutating func together(_ schema: JSONObject, _ parts: [JSON], _ place: Place) -> TypeShape {
        var base = schema
        base["allOf"] = nil
        var next = place
        next.depth += 1
        for part in parts { base = SchemaMerge.merged(base, resolved(part, &next) ?? [:]) }
        return shape(.object(base), next)
    }

    private mutating func choice(_ choices: [JSON], _ base: JSONObject, _ place: Place) -> TypeShape {
        var shapes: [TypeShape] = []
        for (index, choice) in choices.enumerated() {
            var next = place.inside(choices.count > 1 ? "\(index + 1)" : "")
            if !SchemaMerge.hasForm(base) {
                shapes.append(shape(choice, next))
            } else if let alternative = resolved(choice, &next) {
                shapes.append(shape(.object(SchemaMerge.merged(base, alternative)), next))
            }
        }
        return .any(of: shapes)
    }

    /// The schema itself, or the one that it refers to, so that it can be merged with others.
    private mutating func resolved(_ schema: JSON, _ place: inout Place) -> JSONObject? {
        var schema = schema.objectValue
        while let pointer = schema?["$ref"]?.stringValue {
            guard !place.followed.contains(pointer) else { return nil }
            place.followed.append(pointer)
            schema = SchemaMerge.target(of: pointer, in: document)?.objectValue
        }
        return schema
    }
}
