/// One requirement of a schema for a value.
enum SchemaRule {
    /// The schema `false`.
    case nothing
    case kinds(SchemaKinds)
    /// One of the graph's constants.
    case constants(SchemaRange)

    case minimum(SchemaRange)
    case exclusiveMinimum(SchemaRange)
    case maximum(SchemaRange)
    case exclusiveMaximum(SchemaRange)
    case multipleOf(SchemaRange)

    /// The length of a string, in Unicode scalars.
    case lengths(SchemaCounts)
    /// The pattern's index.
    case pattern(UInt32)

    case elementCounts(SchemaCounts)
    /// The schemas of the first elements.
    case firstElements(SchemaRange)
    /// The schema of the elements from an index on.
    case elements(SchemaIndex, from: UInt32)
    case contains(UInt32)
    case unique

    case memberCounts(SchemaCounts)
    /// The object's index.
    case members(UInt32)
    case memberNames(SchemaIndex)

    /// Another schema for the same value.
    case apply(SchemaIndex)
    /// A `$dynamicRef`: the anchor's name, and its target if no other part of the document has that anchor.
    case dynamic(UInt32, otherwise: SchemaIndex)
    case all(SchemaRange)
    case any(SchemaRange)
    case one(SchemaRange)
    case not(SchemaIndex)
    /// The start of three of the graph's `schemaIndices`: `if`, `then`, `else`.
    case condition(UInt32)

    /// The schema of elements or members that no other keyword has evaluated; always the last rule of a schema.
    case unevaluatedElements(SchemaIndex)
    case unevaluatedMembers(SchemaIndex)
}

extension SchemaGraph {
    /// Returns the schemas that this schema applies to the same value.
    func schemasOfTheSameValue(_ schemaIndex: SchemaIndex) -> [SchemaIndex] {
        rules(of: schemaIndex).flatMap { rule -> [SchemaIndex] in
            switch rule {
            case .apply(let other), .dynamic(_, let other), .not(let other): [other]
            case .all(let range), .any(let range), .one(let range): Array(schemas(range))
            case .condition(let index): schemaIndices[Int(index)..<Int(index) + 3].filter { $0 != .none }
            case .members(let index):
                members[objects[Int(index)].members.indices].compactMap { member in
                    member.dependents == 0 ? nil : dependents[Int(member.dependents) - 1].schema
                }.filter { $0 != .none }
            default: []
            }
        }
    }
}

/// The kinds of values, as named in a schema's `type`.
struct SchemaKinds: OptionSet {
    let rawValue: UInt8

    static let null = SchemaKinds(rawValue: 1)
    static let boolean = SchemaKinds(rawValue: 2)
    /// A number without a fraction, in any notation.
    static let integer = SchemaKinds(rawValue: 4)
    static let number = SchemaKinds(rawValue: 8)
    static let string = SchemaKinds(rawValue: 16)
    static let array = SchemaKinds(rawValue: 32)
    static let object = SchemaKinds(rawValue: 64)

    /// Creates a kind from its name; nil if there is no such type.
    init?(name: String) {
        guard let kind = Self.all.first(where: { $0.name == name })?.kind else { return nil }
        self = kind
    }

    init(rawValue: UInt8) { self.rawValue = rawValue }

    private static let all: [(name: String, words: String, kind: SchemaKinds)] = [
        ("boolean", "true or false", .boolean), ("integer", "an integer", .integer), ("number", "a number", .number),
        ("string", "a string", .string), ("array", "an array", .array), ("object", "an object", .object),
        ("null", "null", .null),
    ]

    /// The expected kinds in words. Null is named only if it is the only one: an optional member may be null as well.
    var words: String {
        let named = Self.all.filter { contains($0.kind) && ($0.kind != .null || self == .null) }
        return named.map(\.words).joined(separator: " or ")
    }
}
