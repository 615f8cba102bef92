/// The index of a schema in its graph.
typealias SchemaIndex = UInt32

extension SchemaIndex {
    /// No schema, where one may be left out.
    static let none = SchemaIndex.max
}

/// Some elements of one of a graph's rows.
struct SchemaRange {
    var start: UInt32
    var count: UInt32

    static let none = SchemaRange(start: 0, count: 0)

    var indices: Range<Int> { Int(start)..<Int(start + count) }
}

/// A schema as values are checked against it: rows of small records that name each other by their indices, so that a
/// schema costs little more memory than its text, and one that refers to itself is no circle of references. What it
/// keeps
/// of the text (keys, numbers, constants, patterns) lies in one row of bytes.
struct SchemaGraph: Sendable {
    static let root: SchemaIndex = 0

    var schemas: [SchemaNode] = []
    var rules: [SchemaRule] = []
    /// Indices of schemas: of `allOf` and its like; the first elements'; three of each `if`; patterns and theirs in
    /// turn.
    var schemaIndices: [SchemaIndex] = []
    var objects: [SchemaObject] = []
    var members: [SchemaMember] = []
    /// The tables of large objects: a member's index among the members of its object, plus 1; 0: an empty slot.
    var slots: [UInt16] = []
    var dependents: [SchemaDependents] = []
    /// Names of dependents, in ranges.
    var names: [SchemaRange] = []
    /// What `enum` and `const` allow, each list in the order of the hashes.
    var constants: [SchemaConstant] = []
    var patterns: [SchemaPattern] = []
    var contained: [SchemaContained] = []
    /// Schemas with a `$dynamicAnchor`, by its name and the resource that they are in.
    var dynamicAnchors: [DynamicAnchor: SchemaIndex] = [:]
    var bytes: [UInt8] = []

    /// What it takes in memory.
    var byteCount: Int {
        func size<Element>(_ row: [Element]) -> Int { row.count * MemoryLayout<Element>.stride }
        return size(schemas) + size(rules) + size(schemaIndices) + size(objects) + size(members) + size(slots)
            + size(dependents) + size(names) + size(constants) + size(patterns) + size(contained)
            + dynamicAnchors.count * 2 * MemoryLayout<(DynamicAnchor, SchemaIndex)>.stride + size(bytes)
    }

    /// Gives back the room that the rows have for more.
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

    /// Calls `body` with the bytes of a range of the text.
    func withBytes<R>(_ range: SchemaRange, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[range.indices])) }
    }

    /// The member of a key among those that a schema knows.
    func member(_ key: UnsafeRawBufferPointer, of object: SchemaObject) -> Int? {
        func isAt(_ index: Int) -> Bool {
            let known = members[index].key
            guard Int(known.count) == key.count, let address = key.baseAddress else { return known.count == key.count }
            // `!`: as many bytes as the other's, which are some.
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

    /// Hashed with the process's own seed, so that no client can choose keys that collide.
    static func slot(of key: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: key)
        return hasher.finalize()
    }

    func string(_ range: SchemaRange) -> String { String(decoding: bytes[range.indices], as: UTF8.self) }
}

/// One schema.
struct SchemaNode {
    /// In the order in which they are asked.
    var rules: SchemaRange
    /// The part of the document that has an `$id` of its own.
    var resource: UInt32
    /// Whether it has to know which members or elements other keywords have looked at.
    var hasUnevaluated = false
}

/// A part of the document, and the name of an anchor in it.
struct DynamicAnchor: Hashable {
    var name: UInt32
    var resource: UInt32
}

/// What a schema knows of objects.
struct SchemaObject {
    var members = SchemaRange.none
    /// Of a power of two; none where the members are few.
    var slots = SchemaRange.none
    /// How many of the members must be there.
    var requiredCount: UInt32 = 0
    /// Pairs of a pattern's index and a schema's index.
    var patterns = SchemaRange.none
    /// Of all other members.
    var others = SchemaIndex.none
}

/// A member that a schema knows.
struct SchemaMember {
    var key: SchemaRange
    /// None: `properties` does not name it.
    var schema = SchemaIndex.none
    /// What is asked of the object where this member is there: an index, plus 1; 0: nothing.
    var dependents: UInt32 = 0
    var isRequired = false
}

/// What is asked of an object that has a member.
struct SchemaDependents {
    /// Names of members that must be there as well.
    var names = SchemaRange.none
    var schema = SchemaIndex.none
}

/// A value that `enum` or `const` allows.
struct SchemaConstant {
    var hash: UInt64
    /// Its JSON.
    var text: SchemaRange
}

/// A regular expression, in RE2's syntax.
struct SchemaPattern {
    var text: SchemaRange
    /// As it was written.
    var source: SchemaRange
    /// What a byte that is searched costs.
    var weight: UInt32
    /// What compiling it once more costs.
    var compileSteps: UInt32
}

/// How many elements have to fit a schema.
struct SchemaContained {
    var schema: SchemaIndex
    var counts: SchemaCounts
}

/// From one number to another.
struct SchemaCounts {
    var minimum: UInt32 = 0
    var maximum: UInt32 = .max

    var allowsAny: Bool { minimum == 0 && maximum == .max }
    func contains(_ count: Int) -> Bool { count >= minimum && (count <= maximum || maximum == .max) }
}
