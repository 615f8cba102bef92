/// The index of a schema in its graph.
typealias SchemaIndex = UInt32

extension SchemaIndex {
    /// Represents an omitted schema.
    static let none = SchemaIndex.max
}

/// A range of elements in one of a graph's arrays.
struct SchemaRange {
    var start: UInt32
    var count: UInt32

    static let none = SchemaRange(start: 0, count: 0)

    var indices: Range<Int> { Int(start)..<Int(start + count) }
}

/// A schema in the form for checking values: arrays of small records that refer to each other by index. A schema
/// therefore uses little more memory than its text, and a recursive schema creates no reference cycle. One array of
/// bytes contains the parts of the text that are kept (keys, numbers, constants, patterns).
struct SchemaGraph: Sendable {
    static let root: SchemaIndex = 0

    var schemas: [SchemaNode] = []
    var rules: [SchemaRule] = []
    /// Indices of schemas: of `allOf` and similar keywords; of the first elements; three for each `if`; patterns and
    /// their schemas alternately.
    var schemaIndices: [SchemaIndex] = []
    var objects: [SchemaObject] = []
    var members: [SchemaMember] = []
    /// The hash tables of large objects: a member's index among the members of its object, plus 1; 0 is an empty slot.
    var slots: [UInt16] = []
    var dependents: [SchemaDependents] = []
    /// The names of dependent members, as ranges of `bytes`.
    var names: [SchemaRange] = []
    /// The values that `enum` and `const` allow, each list in the order of the hashes.
    var constants: [SchemaConstant] = []
    var patterns: [SchemaPattern] = []
    var contained: [SchemaContained] = []
    /// The schemas with a `$dynamicAnchor`, by its name and the resource that contains them.
    var dynamicAnchors: [DynamicAnchor: SchemaIndex] = [:]
    var bytes: [UInt8] = []

    /// The memory that the graph uses, in bytes.
    var byteCount: Int {
        func size<Element>(_ row: [Element]) -> Int { row.count * MemoryLayout<Element>.stride }
        return size(schemas) + size(rules) + size(schemaIndices) + size(objects) + size(members) + size(slots)
            + size(dependents) + size(names) + size(constants) + size(patterns) + size(contained)
            + dynamicAnchors.count * 2 * MemoryLayout<(DynamicAnchor, SchemaIndex)>.stride + size(bytes)
    }

    /// Releases the spare capacity of the arrays.
    mutating func trim() {
        func trim<Element>(_ row: inout [Element]) { row = row.map(\.self) }
        trim(&schemas)
        trim(&rules)
        trim(&schemaIndices)
        trim(&objects)
        trim(&members)
        trim(&slots)
        trim(&dependents)
        trim(&names)
        trim(&constants)
        trim(&patterns)
        trim(&contained)
        trim(&bytes)
    }

    func rules(of schemaIndex: SchemaIndex) -> ArraySlice<SchemaRule> { rules[schemas[Int(schemaIndex)].rules.indices] }

    func schemas(_ range: SchemaRange) -> ArraySlice<SchemaIndex> { schemaIndices[range.indices] }

    /// Calls `body` with a range of the bytes.
    func withBytes<R>(_ range: SchemaRange, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[range.indices])) }
    }

    /// Returns the index of the member with a key, among those that a schema knows; nil if there is none.
    func member(_ key: UnsafeRawBufferPointer, of object: SchemaObject) -> Int? {
        func isAt(_ index: Int) -> Bool {
            let known = members[index].key
            guard Int(known.count) == key.count, let address = key.baseAddress else { return known.count == key.count }
            // `!`: the other has the same number of bytes, which is not 0.
            return withBytes(known) { areEqual($0.baseAddress!, address, key.count) }
        }
        if object.slots.count == 0 { return object.members.indices.first(where: isAt) }
        var slot = SchemaGraph.slot(of: key) & Int(object.slots.count - 1)
        while case let entry = slots[Int(object.slots.start) + slot], entry != 0 {
            let index = Int(object.members.start) + Int(entry) - 1
            if isAt(index) { return index }
            slot = (slot + 1) & Int(object.slots.count - 1)
        }
        return nil
    }

    /// Hashes with the process's own seed, so that no client can choose keys that collide.
    static func slot(of key: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: key)
        return hasher.finalize()
    }

    func string(_ range: SchemaRange) -> String { String(decoding: bytes[range.indices], as: UTF8.self) }
}

/// One schema.
struct SchemaNode {
    /// The rules in the order in which they are checked.
    var rules: SchemaRange
    /// The part of the document with an `$id` of its own that contains the schema.
    var resource: UInt32
    /// Whether it must know which members or elements other keywords have evaluated.
    var hasUnevaluated = false
}

/// The name of an anchor, and the part of the document that contains it.
struct DynamicAnchor: Hashable {
    var name: UInt32
    var resource: UInt32
}

/// The rules of a schema about objects.
struct SchemaObject {
    var members = SchemaRange.none
    /// The hash table, with a power of two of slots; none for few members.
    var slots = SchemaRange.none
    /// The number of required members.
    var requiredCount: UInt32 = 0
    /// Pairs of a pattern's index and a schema's index.
    var patterns = SchemaRange.none
    /// The schema of all other members.
    var others = SchemaIndex.none
}

/// A member that a schema knows.
struct SchemaMember {
    var key: SchemaRange
    /// None if `properties` does not name the member.
    var schema = SchemaIndex.none
    /// The index of the rules for objects with this member, plus 1; 0 for none.
    var dependents: UInt32 = 0
    var isRequired = false
}

/// The rules for an object that has a certain member.
struct SchemaDependents {
    /// The names of members that are then required.
    var names = SchemaRange.none
    var schema = SchemaIndex.none
}

/// A value that `enum` or `const` allows.
struct SchemaConstant {
    var hash: UInt64
    /// The value as JSON.
    var text: SchemaRange
}

/// A regular expression, in RE2's syntax.
struct SchemaPattern {
    var text: SchemaRange
    /// The pattern as it was written.
    var source: SchemaRange
    /// The cost of a byte that is searched.
    var weight: UInt32
    /// The cost of compiling it again.
    var compileSteps: UInt32
}

/// The number of elements that must fit a schema.
struct SchemaContained {
    var schema: SchemaIndex
    var counts: SchemaCounts
}

/// The range of a count.
struct SchemaCounts {
    var minimum: UInt32 = 0
    var maximum: UInt32 = .max

    var allowsAny: Bool { minimum == 0 && maximum == .max }
    func contains(_ count: Int) -> Bool { count >= minimum && (count <= maximum || maximum == .max) }
}
