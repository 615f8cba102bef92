/// Compiles a schema's text to a graph.
///
/// A work list instead of recursion reads each schema of the document once, so the time is linear in the text. Only
/// references require a search, which the budget limits.
struct SchemaCompiler {
    /// A schema that has not been read yet.
    struct Waiting {
        var index: SchemaIndex
        var node: Int
        /// The part of the document that contains it.
        var resource: UInt32
        var path: CodingPath
    }

    let tape: JSONTape
    var graph = SchemaGraph()
    var references = SchemaReferences()
    var patterns: [ExactKey: UInt32] = [:]
    /// The instructions of all patterns together.
    var instructionCount = 0
    private var budget = SchemaBudget(steps: SchemaBudget.readingSteps)
    private var waiting: [Waiting] = []
    /// The indices of the document's schemas, by their nodes.
    private(set) var schemaIndices: [Int: SchemaIndex] = [:]
    /// The indices of `true` and `false`, which all schemas of that kind share.
    private var shared: [Bool: SchemaIndex] = [:]
    /// The rules of the schema that is being read.
    var rules: [SchemaRule] = []
    private var keywords: [(keyword: SchemaKeyword, node: Int)] = []

    /// The maximum size of a graph: far more than the graph of a text of 64 KiB.
    private static let maximumBytes = 1 << 20

    private init(_ tape: JSONTape) { self.tape = tape }

    /// - Throws: ``JSONSchemaError`` if it is not a schema, or cannot be checked completely.
    static func compile(_ tape: JSONTape) throws(JSONSchemaError) -> SchemaGraph {
        var compiler = SchemaCompiler(tape)
        try compiler.readAll()
        return compiler.graph
    }

    private mutating func readAll() throws(JSONSchemaError) {
        references.enter(resource: "", at: JSONTape.root)
        _ = try schemaIndex(of: JSONTape.root, in: 0, .root)
        repeat {
            while let next = waiting.popLast() { try read(next) }
            // References may lead to parts that are read only now.
            try resolveReferences()
        } while !waiting.isEmpty
        settleDynamicReferences()
        try graph.refuseCircles()
        graph.trim()
    }

    func failure(_ path: CodingPath, _ reason: String) -> JSONSchemaError {
        JSONSchemaError(path: path.text, reason: reason)
    }

    /// Takes steps before the corresponding work begins.
    mutating func spend(_ steps: Int) throws(JSONSchemaError) {
        do { try budget.spend(steps) } catch { throw failure(.root, Self.tooMuchWork) }
    }

    /// Does work that takes steps itself.
    mutating func spending<R>(
        _ path: CodingPath, _ work: (inout SchemaBudget) throws(SchemaExcess) -> R
    ) throws(JSONSchemaError) -> R {
        do throws(SchemaExcess) { return try work(&budget) } catch {
            throw failure(path, error == .steps ? Self.tooMuchWork : error.reason)
        }
    }

    private static let tooMuchWork = "it takes too many steps to read"

    // MARK: Schemas

    /// Adds a schema, which is read later.
    mutating func schemaIndex(
        of node: Int, in resource: UInt32, _ path: CodingPath
    ) throws(JSONSchemaError) -> SchemaIndex {
        switch tape.kind(node) {
        case .true, .false: return sharedIndex(tape.kind(node) == .true, resource)
        case .object where tape.nodes[node].count == 0: return sharedIndex(true, resource)
        case .object: break
        default: throw failure(path, "a schema is an object, true or false")
        }
        if let known = schemaIndices[node] { return known }
        let index = SchemaIndex(graph.schemas.count)
        graph.schemas.append(SchemaNode(rules: .none, resource: resource))
        schemaIndices[node] = index
        waiting.append(Waiting(index: index, node: node, resource: resource, path: path))
        return index
    }

    private mutating func sharedIndex(_ fits: Bool, _ resource: UInt32) -> SchemaIndex {
        if let known = shared[fits] { return known }
        let index = SchemaIndex(graph.schemas.count)
        let start = UInt32(graph.rules.count)
        if !fits { graph.rules.append(.nothing) }
        graph.schemas.append(SchemaNode(rules: SchemaRange(start: start, count: fits ? 0 : 1), resource: resource))
        shared[fits] = index
        return index
    }

    private mutating func read(_ schema: Waiting) throws(JSONSchemaError) {
        try collectKeywords(schema)
        var schema = schema
        schema.resource = try enterNames(schema)
        graph.schemas[Int(schema.index)].resource = schema.resource
        rules.removeAll(keepingCapacity: true)
        try readValues(schema)
        try readNumbersAndStrings(schema)
        try readArrays(schema)
        try readObjects(schema)
        try readCombinations(schema)
        try readUnevaluated(schema)
        try readDefinitions(schema)
        graph.schemas[Int(schema.index)].rules = SchemaRange(
            start: UInt32(graph.rules.count), count: UInt32(rules.count))
        graph.rules += rules
        guard graph.byteCount <= Self.maximumBytes else {
            throw failure(schema.path, "the compiled schema takes more than \(Self.maximumBytes) bytes of memory")
        }
    }

    private mutating func collectKeywords(_ schema: Waiting) throws(JSONSchemaError) {
        keywords.removeAll(keepingCapacity: true)
        try spend(8 + 8 * Int(tape.nodes[schema.node].count))
        var key = schema.node + 1
        for _ in 0..<tape.nodes[schema.node].count {
            let keyNode = tape.nodes[key]
            if keyNode.count <= Self.maximumKeywordBytes, let keyword = SchemaKeyword(rawValue: tape.string(key)) {
                if let successor = keyword.successor {
                    throw failure(
                        .key(keyword.rawValue, of: schema.path),
                        "JSON Schema 2020-12 has no such keyword; it has \(successor)")
                }
                keywords.append((keyword, keyNode.value))
            }
            key = Int(keyNode.next)
        }
    }

    /// In bytes.
    private static let maximumKeywordBytes = 24

    /// The value of a keyword of the schema that is being read; nil if it is absent.
    func value(_ keyword: SchemaKeyword) -> Int? { keywords.first { $0.keyword == keyword }?.node }

    /// The value with its path.
    func value(_ keyword: SchemaKeyword, _ schema: Waiting) -> (node: Int, path: CodingPath)? {
        value(keyword).map { ($0, .key(keyword.rawValue, of: schema.path)) }
    }

    /// Returns the schema under a keyword; nil if it is absent.
    mutating func subschema(_ keyword: SchemaKeyword, _ schema: Waiting) throws(JSONSchemaError) -> SchemaIndex? {
        guard let (node, path) = value(keyword, schema) else { return nil }
        return try schemaIndex(of: node, in: schema.resource, path)
    }

    /// Returns the schemas under a keyword, which must be a non-empty array; nil if it is absent.
    mutating func subschemas(_ keyword: SchemaKeyword, _ schema: Waiting) throws(JSONSchemaError) -> SchemaRange? {
        guard let (node, path) = value(keyword, schema) else { return nil }
        let elements = try elements(node, path)
        guard !elements.isEmpty else { throw failure(path, "expected an array with at least one element") }
        var indices: [SchemaIndex] = []
        for (index, element) in elements.enumerated() {
            indices.append(try schemaIndex(of: element, in: schema.resource, .index(index, of: path)))
        }
        return append(indices)
    }

    mutating func append(_ indices: [SchemaIndex]) -> SchemaRange {
        defer { graph.schemaIndices += indices }
        return SchemaRange(start: UInt32(graph.schemaIndices.count), count: UInt32(indices.count))
    }

    // MARK: Parts of the text

    func elements(_ node: Int, _ path: CodingPath) throws(JSONSchemaError) -> [Int] {
        guard tape.kind(node) == .array else {
            throw failure(path, "expected an array")
        }
        var element = node + 1
        return (0..<tape.nodes[node].count).map { _ in
            defer { element = Int(tape.nodes[element].next) }
            return element
        }
    }

    /// Returns the key nodes of an object; each refers to its value.
    func keys(_ node: Int, _ path: CodingPath) throws(JSONSchemaError) -> [Int] {
        guard tape.kind(node) == .object else { throw failure(path, "expected an object") }
        var key = node + 1
        return (0..<tape.nodes[node].count).map { _ in
            defer { key = Int(tape.nodes[key].next) }
            return key
        }
    }

    func text(_ node: Int, _ path: CodingPath) throws(JSONSchemaError) -> String {
        guard tape.kind(node) == .string else { throw failure(path, "expected a string") }
        return tape.string(node)
    }

    /// Copies bytes into the graph.
    mutating func keep(_ bytes: UnsafeRawBufferPointer) -> SchemaRange {
        defer { graph.bytes.append(contentsOf: bytes) }
        return SchemaRange(start: UInt32(graph.bytes.count), count: UInt32(bytes.count))
    }

    mutating func keep(_ text: String) -> SchemaRange {
        var text = text
        return text.withUTF8 { keep(UnsafeRawBufferPointer($0)) }
    }
}
