/// The names that schemas of one document have, and the references that are still to be resolved.
struct SchemaReferences {
    struct Pending {
        /// The schema whose rule will name the one that is referred to, and the rule's index among the schema's.
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

    /// A part of the document with an `$id` of its own; the first is the document.
    private(set) var resources: [(uri: String, node: Int)] = []
    private var resourcesByURI: [ExactKey: UInt32] = [:]
    private var anchors: [Anchor: Int] = [:]
    /// The numbers of dynamic anchors' names, and how many there are of each.
    private var dynamicNames: [ExactKey: UInt32] = [:]
    private(set) var dynamicCounts: [Int] = []
    var pending: [Pending] = []
    /// Rules of dynamic references, by their index.
    var dynamicRules: [(rule: Int, name: UInt32, target: SchemaIndex)] = []

    /// - Returns: nil: there is one of this name.
    @discardableResult
    mutating func enter(resource uri: String, at node: Int) -> UInt32? {
        // The document's own `$id` is its name from then on.
        let number = node == JSONTape.root ? 0 : UInt32(resources.count)
        guard resourcesByURI.updateValue(number, forKey: ExactKey(text: uri)) == nil else { return nil }
        if number == resources.count { resources.append((uri, node)) } else { resources[Int(number)].uri = uri }
        return number
    }

    /// - Returns: false: there is one of this name.
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
    /// The only one whose keywords are checked.
    private static let dialect = "https://json-schema.org/draft/2020-12/schema"

    /// As much of a name as an error shows.
    static func shown(_ name: String) -> String {
        name.unicodeScalars.count > 128 ? String(name.unicodeScalars.prefix(128)) + "…" : name
    }

    /// Enters the names that a schema gives itself. Returns the resource that it is in.
    mutating func enterNames(_ schema: Waiting) throws(JSONSchemaError) -> UInt32 {
        var resource = schema.resource
        if let (node, path) = value(.dialect, schema) {
            let said = try text(node, path)
            guard said == Self.dialect || said == Self.dialect + "#" else {
                throw failure(
                    path,
                    "only the vocabulary of \(Self.dialect) is supported, not \(JSON.string(Self.shown(said)).text)")
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
            throw failure(path, "a letter or _ was expected, and then letters, digits, _, - and .")
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

    /// Enters the rule of a reference, which is resolved when all of the document has been read.
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
                        "only schemas of the same document can be referred to, and \(Self.shown(uri)) is no part of it")
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
        // Written out where one is missing: the path has the keys of the schemas around it.
        func missing() -> JSONSchemaError {
            failure(reference.path, "there is no \(Self.shown(reference.reference))")
        }
        var (node, resource) = (references.resources[Int(resource)].node, resource)
        if let pointer = JSONPointer(fragment) {
            for key in pointer.keys {
                guard let next = try step(from: node, to: key) else { throw missing() }
                node = next
                // On the way may be a schema with an `$id` of its own.
                if let index = schemaIndices[node] { resource = graph.schemas[Int(index)].resource }
            }
        } else {
            guard let anchored = references.anchor(fragment, in: resource) else { throw missing() }
            node = anchored
        }
        return try schemaIndex(of: node, in: resource, reference.path)
    }

    /// One step of a JSON pointer.
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

    /// A dynamic reference whose target is a dynamic anchor leads to the outermost one of that name, where there are
    /// several.
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
