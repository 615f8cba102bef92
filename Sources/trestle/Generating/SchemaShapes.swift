import BridgeJSON

/// Converts a JSON Schema to types: one for the whole, and one for each nested object with named members.
///
/// Every schema has a result. Parts that types cannot express, that are too deep or that are too many become `unknown`.
struct SchemaShapes {
    /// The maximum depth; a schema may refer to itself.
    private static let greatestDepth = 40
    /// The maximum number of visited subschemas: nested references can represent any number of them.
    private static let maximumSubschemas = 5_000
    /// The length in bytes beyond which the names of types do not grow with the depth.
    private static let maximumNameBytes = 80

    private let document: JSON
    private(set) var names: GeneratedNames
    private(set) var declarations: [TypeDeclaration] = []
    private var subschemasLeft = Self.maximumSubschemas
    /// The types of objects, by the references to them.
    private var nameOfPointer: [String: String] = [:]

    /// The state for the current subschema.
    private struct Context {
        /// The name of a type that is declared here.
        var name: String
        var depth = 0
        /// References that were followed without reaching a declared type; following one again would not end.
        var followed: [String] = []

        /// Returns the context of a nested subschema. A name that is long enough stays the same; a number then
        /// distinguishes the types.
        func inside(_ part: String) -> Context {
            let isLong = name.utf8.count + part.utf8.count > SchemaShapes.maximumNameBytes
            return Context(name: isLong ? name : name + part, depth: depth + 1, followed: followed)
        }

        func at(_ depth: Int) -> Context { Context(name: name, depth: depth, followed: followed) }
    }

    private let rootName: String

    private init(_ document: JSON, as name: String, _ names: GeneratedNames) {
        (self.document, rootName, self.names) = (document, name, names)
    }

    /// Declares the types of a schema, beginning with its own.
    ///
    /// - Parameters:
    ///   - name: The name of its type, which is already reserved.
    ///   - names: The used names; new ones are added.
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
        if isPlainObject(schema) { return object(schema, Context(name: rootName), pointer: "#", isWhole: true) }
        return shape(document, Context(name: rootName))
    }

    private mutating func shape(_ schema: JSON, _ context: Context) -> TypeShape {
        subschemasLeft -= 1
        guard subschemasLeft > 0, context.depth < Self.greatestDepth, let schema = schema.objectValue else {
            return .unknown
        }
        if let pointer = schema["$ref"]?.stringValue { return reference(pointer, context) }
        if let values = schema["enum"]?.arrayValue { return .any(of: values.map(Self.literal)) }
        if let value = schema["const"] { return Self.literal(value) }
        if let parts = schema["allOf"]?.arrayValue { return together(schema, parts, context) }
        for key in ["anyOf", "oneOf"] {
            guard let choices = schema[key]?.arrayValue, !choices.isEmpty else { continue }
            var base = schema
            base[key] = nil
            return choice(choices, base, context)
        }
        return plain(schema, context)
    }

    /// Converts a schema without combinations.
    private mutating func plain(_ schema: JSONObject, _ context: Context) -> TypeShape {
        .any(
            of: Self.types(schema).map { type in
                switch type {
                case "null": .null
                case "boolean": .boolean
                case "integer": .integer
                case "number": .number
                case "string": StreamSchema.isStream(schema) ? .stream : .string
                case "array": .array(items(schema, context))
                case "object": object(schema, context)
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

    private mutating func items(_ schema: JSONObject, _ context: Context) -> TypeShape {
        let first = schema["prefixItems"]?.arrayValue ?? []
        var parts: [TypeShape] = []
        for item in first { parts.append(shape(item, context.inside("Item"))) }
        if schema["items"] != false || parts.isEmpty {
            parts.append(shape(schema["items"] ?? true, context.inside("Item")))
        }
        return .any(of: parts)
    }

    private static func literal(_ value: JSON) -> TypeShape {
        switch value {
        case .null: .null
        case .bool, .string: .literal(value)
        // Written as an integer that every reader can represent exactly.
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

    /// Declares the type of an object.
    ///
    /// - Parameters:
    ///   - pointer: The reference to it.
    ///   - isWhole: Whether it is the whole schema, whose name is already reserved.
    private mutating func object(
        _ schema: JSONObject, _ context: Context, pointer: String? = nil, isWhole: Bool = false
    ) -> TypeShape {
        let rest = schema["additionalProperties"]
        guard let properties = schema["properties"]?.objectValue, !properties.isEmpty else {
            return .map(rest?.objectValue == nil ? .unknown : shape(rest ?? true, context.inside("Value")))
        }
        let name = isWhole ? context.name : names.take(context.name)
        if let pointer { nameOfPointer[pointer] = name }
        // The index of this type, which precedes the types of its members.
        let index = declarations.count
        declarations.append(TypeDeclaration(name: name, note: Self.note(schema), content: .alias(.unknown)))
        // Appended numbers must not make long names longer, either.
        let inside = Context(name: name.utf8.count > Self.maximumNameBytes ? context.name : name, depth: context.depth)
        let members = members(properties, schema["required"]?.arrayValue ?? [], inside)
        let isExtensible = rest == true || rest?.objectValue != nil
        declarations[index].content = .object(members, isExtensible: isExtensible)
        return .named(name)
    }

    private mutating func members(_ properties: JSONObject, _ required: [JSON], _ context: Context) -> [TypeMember] {
        let required = Set(required)
        var members: [TypeMember] = []
        for (key, schema) in properties {
            members.append(
                TypeMember(
                    key: key, shape: shape(schema, context.inside(NameWords.suffix(key))),
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

    private mutating func reference(_ pointer: String, _ context: Context) -> TypeShape {
        if let name = nameOfPointer[pointer] { return .named(name) }
        guard !context.followed.contains(pointer), let target = SchemaMerge.target(of: pointer, in: document) else {
            return .unknown
        }
        if let schema = target.objectValue, isPlainObject(schema) {
            // Named after itself and not after the path on which it was reached first.
            let own = JSONPointer(reference: pointer)?.keys.last.map(NameWords.suffix) ?? ""
            return object(schema, Context(name: rootName).inside(own).at(context.depth + 1), pointer: pointer)
        }
        var next = context
        next.followed.append(pointer)
        next.depth += 1
        return shape(target, next)
    }

    /// Converts several schemas that must all be fulfilled, by merging them.
    private mutating func together(_ schema: JSONObject, _ parts: [JSON], _ context: Context) -> TypeShape {
        var base = schema
        base["allOf"] = nil
        var next = context
        next.depth += 1
        for part in parts { base = SchemaMerge.merged(base, resolved(part, &next) ?? [:]) }
        return shape(.object(base), next)
    }

    private mutating func choice(_ choices: [JSON], _ base: JSONObject, _ context: Context) -> TypeShape {
        var shapes: [TypeShape] = []
        for (index, choice) in choices.enumerated() {
            var next = context.inside(choices.count > 1 ? "\(index + 1)" : "")
            if !SchemaMerge.hasForm(base) {
                shapes.append(shape(choice, next))
            } else if let alternative = resolved(choice, &next) {
                shapes.append(shape(.object(SchemaMerge.merged(base, alternative)), next))
            }
        }
        return .any(of: shapes)
    }

    /// Returns the schema itself or the one to which it refers, so that it can be merged; `nil` if there is none.
    private mutating func resolved(_ schema: JSON, _ context: inout Context) -> JSONObject? {
        var schema = schema.objectValue
        while let pointer = schema?["$ref"]?.stringValue {
            guard !context.followed.contains(pointer) else { return nil }
            context.followed.append(pointer)
            schema = SchemaMerge.target(of: pointer, in: document)?.objectValue
        }
        return schema
    }
}
