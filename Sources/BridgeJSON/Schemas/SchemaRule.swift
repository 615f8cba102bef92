/// What one schema, or a schema within another, asks of a value. Others are named by their place in the list of all: so
/// schemas that refer to themselves are no circle of references.
struct SchemaRule {
    /// A member that the schema knows.
    struct Member {
        var key: String
        /// Nil: anything.
        var rule: Int?
        var isRequired: Bool
    }

    /// A number and whether it is itself allowed.
    struct Bound {
        var number: JSONNumber
        var isIncluded: Bool
    }

    /// The schema `false`.
    var fitsNothing = false
    var kinds: SchemaKinds?
    /// One of these; nil: anything.
    var values: [JSON]?
    var minimum: Bound?
    var maximum: Bound?
    /// Of a string, in Unicode scalars.
    var lengths = 0...Int.max
    var elementCounts = 0...Int.max
    var memberCounts = 0...Int.max
    /// The first elements' rules, one each.
    var firstElements: [Int] = []
    /// The other elements' rule; nil: anything.
    var elements: Int?
    /// In the order of the schema.
    var members: [Member] = []
    /// The other members' rule; nil: anything.
    var otherMembers: Int?
    /// All of them, one or more of each list, just one of each list, none of them.
    var all: [Int] = []
    var any: [[Int]] = []
    var one: [[Int]] = []
    var none: [Int] = []

    /// The rules that look at the same value as this one.
    var ofTheSameValue: [Int] { all + any.flatMap { $0 } + one.flatMap { $0 } + none }
}

/// Kinds of values, as a schema's `type` names them.
struct SchemaKinds: OptionSet {
    let rawValue: UInt8

    static let null = SchemaKinds(rawValue: 1)
    static let boolean = SchemaKinds(rawValue: 2)
    /// A number without a fraction, however it is written.
    static let integer = SchemaKinds(rawValue: 4)
    static let number = SchemaKinds(rawValue: 8)
    static let string = SchemaKinds(rawValue: 16)
    static let array = SchemaKinds(rawValue: 32)
    static let object = SchemaKinds(rawValue: 64)

    /// Nil: no such type.
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

    /// What is expected, in words. Null is named only where nothing else is: an optional member may be null as well.
    var words: String {
        let named = Self.all.filter { contains($0.kind) && ($0.kind != .null || self == .null) }
        return named.map(\.words).joined(separator: " or ")
    }
}
