/// The names of the schemas of one document, and the references that are not resolved yet.
struct SchemaReferences {
    struct Pending {
        /// The schema whose rule will refer to the target, and the index of the rule among the schema's.
        var schemaIndex: SchemaIndex
        var rule: Int
        var reference: String
        var isDynamic: Bool
        var resource: UInt32
        var path: CodingPath
    }

    private struct Anchor: Hashable {
        var name: ExactKey
        var resource: UInt32
    }

    /// The parts of the document with an `$id` of their own; the first is the document.
    private(set) var resources: [(uri: String, node: Int)] = []
    private var resourcesByURI: [ExactKey: UInt32] = [:]
    private var anchors: [Anchor: Int] = [:]
    /// The numbers of the names of dynamic anchors, and the number of anchors with each name.
    private var dynamicNames: [ExactKey: UInt32] = [:]
    private(set) var dynamicCounts: [Int] = []
    var pending: [Pending] = []
    /// The rules of dynamic references, by their index.
    var dynamicRules: [(rule: Int, name: UInt32, target: SchemaIndex)] = []

    /// - Returns: The number of the resource; nil if the name already exists.
    @discardableResult
    mutating func enter(resource uri: String, at node: Int) -> UInt32? {
        // The document's own `$id` becomes its name.
        let number = node == JSONTape.root ? 0 : UInt32(resources.count)
        guard resourcesByURI.updateValue(number, forKey: ExactKey(text: uri)) == nil else { return nil }
        if number == resources.count { resources.append((uri, node)) } else { resources[Int(number)].uri = uri }
        return number
    }

    /// - Returns: False if the name already exists.
    mutating func enter(anchor name: String, in resource: UInt32, at node: Int) -> Bool {
        anchors.updateValue(node, forKey: Anchor(name: ExactKey(text: name), resource: resource)) == nil
    }

    mutating func enter(dynamicAnchor name: String) -> UInt32 {
        let number = dynamicName(name) ?? UInt32(dynamicCounts.count)
        if number == dynamicCounts.count {
            dynamicNames[ExactKey(text: name)] = number
            dynamicCounts.append(0)
        }
        dynamicCounts[Int(number)] += 1
        return number
    }

    func resource(_ uri: String) -> UInt32? { resourcesByURI[ExactKey(text: uri)] }

    func anchor(_ name: String, in resource: UInt32) -> Int? {
        anchors[Anchor(name: ExactKey(text: name), resource: resource)]
    }

    func dynamicName(_ name: String) -> UInt32? { dynamicNames[ExactKey(text: name)] }
}

extension SchemaCompiler {
    /// The only dialect whose keywords are checked.
    private static let dialect = "https://json-schema.org/draft/2020-12/schema"

    /// Returns the part of a name that an error shows.
    static func shown(_ name: String) -> String {
        name.unicodeScalars.count > 128 ? String(name.unicodeScalars.prefix(128)) + "…" : name
    }

    /// Adds the names that a schema declares. Returns the resource that contains it.
    mutating func enterNames(_ schema: Waiting) throws(JSONSchemaError) -> UInt32 {
        var resource = schema.resource
        if let (node, path) = value(.dialect, schema) {
            let named = try text(node, path)
            guard named == Self.dialect || named == Self.dialect + "#" else {
                throw failure(
                    path,
                    "only the vocabulary of \(Self.dialect) is supported, not \(JSON.string(Self.shown(named)).text)")
            }
        }
        if let (node, path) = value(.identifier, schema) {
            let (document, fragment) = SchemaURI.split(try text(node, path))
            guard fragment ?? "" == "" else { throw failure(path, "an $id has no fragment; $anchor names a part") }
            let uri = try resolve(document, in: resource)
            guard let entered = references.enter(resource: uri, at: schema.node) else {
                throw failure(path, "two schemas have the $id \(Self.shown(uri))")
            }
            resource = entered
        }
        if let (node, path) = value(.anchor, schema) { _ = try enterAnchor(node, schema, resource, path) }
        if let (node, path) = value(.dynamicAnchor, schema) {
            let name = try enterAnchor(node, schema, resource, path)
            let number = references.enter(dynamicAnchor: name)
            graph.dynamicAnchors[DynamicAnchor(name: number, resource: resource)] = schema.index
        }
        return resource
    }

    private mutating func enterAnchor(
        _ node: Int, _ schema: Waiting, _ resource: UInt32, _ path: CodingPath
    ) throws(JSONSchemaError) -> String {
        let name = try text(node, path)
        guard Self.isAnchor(name) else {
            throw failure(path, "expected a letter or _, followed by letters, digits, _, - and .")
        }
        guard references.enter(anchor: name, in: resource, at: schema.node) else {
            throw failure(path, "two schemas have the anchor \(Self.shown(name))")
        }
        return name
    }

    private static func isAnchor(_ name: String) -> Bool {
        func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte == UInt8(ascii: "_") }
        guard let first = name.utf8.first, isLetter(first) else { return false }
        return name.utf8.allSatisfy {
            isLetter($0) || $0 &- UInt8(ascii: "0") < 10 || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
        }
    }

    private mutating func resolve(_ document: Substring, in resource: UInt32) throws(JSONSchemaError) -> String {
        let base = references.resources[Int(resource)].uri
        try spend(64 + (base.utf8.count + document.utf8.count) / 2)
        return SchemaURI.resolve(document, against: base)
    }

    // MARK: References

    /// Adds the rule of a reference, which is resolved after the whole document has been read.
    mutating func readReference(_ keyword: SchemaKeyword, _ schema: Waiting) throws(JSONSchemaError) {
        guard let (node, path) = value(keyword, schema) else { return }
        references.pending.append(
            .init(
                schemaIndex: schema.index, rule: rules.count, reference: try text(node, path),
                isDynamic: keyword == .dynamicReference, resource: schema.resource, path: path))
        rules.append(.apply(.none))
    }

    mutating func resolveReferences() throws(JSONSchemaError) {
        let pending = references.pending
        references.pending = []
        for reference in pending {
            let (document, fragment) = SchemaURI.split(reference.reference)
            var resource = reference.resource
            if !document.isEmpty {
                let uri = try resolve(document, in: resource)
                guard let known = references.resource(uri) else {
                    throw failure(
                        reference.path,
                        "only schemas of the same document can be referred to, and \(Self.shown(uri)) is not part of it"
                    )
                }
                resource = known
            }
            let target = try target(fragment ?? "", in: resource, reference)
            let rule = Int(graph.schemas[Int(reference.schemaIndex)].rules.start) + reference.rule
            graph.rules[rule] = .apply(target)
            if reference.isDynamic, let fragment, let name = references.dynamicName(fragment) {
                references.dynamicRules.append((rule, name, target))
            }
        }
    }

    private mutating func target(
        _ fragment: String, in resource: UInt32, _ reference: SchemaReferences.Pending
    ) throws(JSONSchemaError) -> SchemaIndex {
        // Created only if the target is missing: the path contains the keys of the enclosing schemas.
        func missing() -> JSONSchemaError {
            failure(reference.path, "there is no \(Self.shown(reference.reference))")
        }
        var (node, resource) = (references.resources[Int(resource)].node, resource)
        if let pointer = JSONPointer(fragment) {
            for key in pointer.keys {
                guard let next = try step(from: node, to: key) else { throw missing() }
                node = next
                // The path may lead through a schema with an `$id` of its own.
                if let index = schemaIndices[node] { resource = graph.schemas[Int(index)].resource }
            }
        } else {
            guard let anchored = references.anchor(fragment, in: resource) else { throw missing() }
            node = anchored
        }
        return try schemaIndex(of: node, in: resource, reference.path)
    }

    /// Follows one step of a JSON pointer; nil if there is no such part.
    private mutating func step(from node: Int, to key: String) throws(JSONSchemaError) -> Int? {
        try spend(SchemaValues.memberSteps + key.utf8.count)
        switch tape.kind(node) {
        case .object: return tape.member(key, of: node, isTaken: false)
        case .array:
            guard let index = JSONPointer.index(key), index < tape.nodes[node].count else { return nil }
            try spend(index)
            return (0..<index).reduce(node + 1) { element, _ in Int(tape.nodes[element].next) }
        default: return nil
        }
    }

    /// Completes dynamic references whose target is a dynamic anchor: if several anchors have that name, the outermost
    /// one counts.
    mutating func settleDynamicReferences() {
        var isDynamic = false
        for (rule, name, target) in references.dynamicRules where references.dynamicCounts[Int(name)] > 1 {
            let anchor = DynamicAnchor(name: name, resource: graph.schemas[Int(target)].resource)
            guard graph.dynamicAnchors[anchor] == target else { continue }
            graph.rules[rule] = .dynamic(name, otherwise: target)
            isDynamic = true
        }
        if !isDynamic { graph.dynamicAnchors = [:] }
    }
}
