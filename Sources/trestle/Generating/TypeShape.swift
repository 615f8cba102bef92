import BridgeJSON

// What a schema says, in terms that TypeScript and Python share.

/// What a value may be.
indirect enum TypeShape: Hashable, Sendable {
    case unknown, null, boolean, integer, number, string
    /// The name of a stream, in whose place a caller gives its bytes.
    case stream
    /// A string, a boolean or an integer, and no other.
    case literal(JSON)
    case array(TypeShape)
    /// An object of any keys.
    case map(TypeShape)
    /// A type that is declared.
    case named(String)
    case union([TypeShape])

    /// One of several: flat, each once. Unknown takes in all others.
    static func any(of shapes: [TypeShape]) -> TypeShape {
        var seen = Set<TypeShape>()
        let flat = shapes.flatMap { if case .union(let parts) = $0 { parts } else { [$0] } }
            .filter { seen.insert($0).inserted }
        if flat.isEmpty || seen.contains(.unknown) { return .unknown }
        return flat.count == 1 ? flat[0] : .union(flat)
    }

    /// The same, where the names of streams are given to programs, which read them by these.
    var withStreamsAsStrings: TypeShape {
        switch self {
        case .stream: .string
        case .array(let items): .array(items.withStreamsAsStrings)
        case .map(let values): .map(values.withStreamsAsStrings)
        case .union(let parts): .any(of: parts.map(\.withStreamsAsStrings))
        default: self
        }
    }

    /// What has no bounds of its own that a type could express.
    var isOpen: Bool { self == .unknown || self == .map(.unknown) }
}

/// A member of an object.
struct TypeMember: Equatable, Sendable {
    var key: String
    var shape: TypeShape
    var isRequired: Bool
    /// What it means; may be empty.
    var note: String
}

/// A type that has a name in the generated code.
struct TypeDeclaration: Equatable, Sendable {
    enum Content: Equatable, Sendable {
        /// - isExtensible: whether the schema says that there may be other members.
        case object([TypeMember], isExtensible: Bool)
        case alias(TypeShape)
    }

    var name: String
    /// What it is; may be empty.
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
