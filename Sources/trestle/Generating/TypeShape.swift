import BridgeJSON

// The contents of a schema in terms that TypeScript and Python share.

/// The type of a value.
indirect enum TypeShape: Hashable, Sendable {
    case unknown, null, boolean, integer, number, string
    /// The name of a stream. A caller may pass the stream's bytes instead.
    case stream
    /// A specific string, boolean or integer.
    case literal(JSON)
    case array(TypeShape)
    /// An object with any keys.
    case map(TypeShape)
    /// A declared type.
    case named(String)
    case union([TypeShape])

    /// Returns the union of types: flat, without duplicates. `unknown` absorbs all others.
    static func any(of shapes: [TypeShape]) -> TypeShape {
        var seen = Set<TypeShape>()
        let flat = shapes.flatMap { if case .union(let parts) = $0 { parts } else { [$0] } }
            .filter { seen.insert($0).inserted }
        if flat.isEmpty || seen.contains(.unknown) { return .unknown }
        return flat.count == 1 ? flat[0] : .union(flat)
    }

    /// The same type for received values, in which a stream is represented by its name.
    var withStreamsAsStrings: TypeShape {
        switch self {
        case .stream: .string
        case .array(let items): .array(items.withStreamsAsStrings)
        case .map(let values): .map(values.withStreamsAsStrings)
        case .union(let parts): .any(of: parts.map(\.withStreamsAsStrings))
        default: self
        }
    }

    /// Whether the type accepts any value, or any object.
    var isOpen: Bool { self == .unknown || self == .map(.unknown) }
}

/// A member of an object.
struct TypeMember: Equatable, Sendable {
    var key: String
    var shape: TypeShape
    var isRequired: Bool
    /// The description; may be empty.
    var note: String
}

/// A named type of the generated code.
struct TypeDeclaration: Equatable, Sendable {
    enum Content: Equatable, Sendable {
        /// - isExtensible: Whether the schema allows other members.
        case object([TypeMember], isExtensible: Bool)
        case alias(TypeShape)
    }

    var name: String
    /// The description; may be empty.
    var note: String
    var content: Content

    /// See `TypeShape.withStreamsAsStrings`.
    var withStreamsAsStrings: TypeDeclaration {
        var declaration = self
        switch content {
        case .alias(let shape): declaration.content = .alias(shape.withStreamsAsStrings)
        case .object(var members, let isExtensible):
            for index in members.indices { members[index].shape = members[index].shape.withStreamsAsStrings }
            declaration.content = .object(members, isExtensible: isExtensible)
        }
        return declaration
    }
}
