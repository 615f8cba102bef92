// Keywords for elements and members.
extension SchemaCompiler {
    mutating func readArrays(_ schema: Waiting) throws(JSONSchemaError) {
        if let counts = try counts(.minItems, .maxItems, schema) { rules.append(.elementCounts(counts)) }
        let first = try subschemas(.prefixItems, schema)
        if let first { rules.append(.firstElements(first)) }
        if let rest = try subschema(.items, schema) { rules.append(.elements(rest, from: first?.count ?? 0)) }
        let counts = SchemaCounts(
            minimum: try count(.minContains, schema) ?? 1, maximum: try count(.maxContains, schema) ?? .max)
        if let contained = try subschema(.contains, schema) {
            rules.append(.contains(UInt32(graph.contained.count)))
            graph.contained.append(SchemaContained(schema: contained, counts: counts))
        }
        if let (node, path) = value(.uniqueItems, schema) {
            switch tape.kind(node) {
            case .true: rules.append(.unique)
            case .false: break
            default: throw failure(path, "expected true or false")
            }
        }
    }

    mutating func readObjects(_ schema: Waiting) throws(JSONSchemaError) {
        if let counts = try counts(.minProperties, .maxProperties, schema) { rules.append(.memberCounts(counts)) }
        if let names = try subschema(.propertyNames, schema) { rules.append(.memberNames(names)) }
        var object = SchemaObject()
        var members = MemberList()
        try readProperties(schema, &members)
        try readRequired(schema, &members)
        try readDependents(schema, &members)
        try enter(members, schema, &object)
        object.patterns = try patternProperties(schema)
        object.others = try subschema(.additionalProperties, schema) ?? .none
        if members.members.isEmpty && object.patterns.count == 0 && object.others == .none { return }
        rules.append(.members(UInt32(graph.objects.count)))
        graph.objects.append(object)
    }

    /// The members that a schema knows, found by their keys.
    private struct MemberList {
        var members: [(node: Int, member: SchemaMember)] = []
        private var indices: [ExactKey: Int] = [:]

        /// Returns the index of a member, which is added if it does not exist yet.
        mutating func index(_ key: String, at node: Int) -> Int {
            if let known = indices[ExactKey(text: key)] { return known }
            indices[ExactKey(text: key)] = members.count
            members.append((node, SchemaMember(key: .none)))
            return members.count - 1
        }
    }

    private mutating func readProperties(_ schema: Waiting, _ list: inout MemberList) throws(JSONSchemaError) {
        guard let (node, path) = value(.properties, schema) else { return }
        for key in try keys(node, path) {
            let name = tape.string(key)
            let subschema = try schemaIndex(of: tape.nodes[key].value, in: schema.resource, .key(name, of: path))
            list.members[list.index(name, at: key)].member.schema = subschema
        }
    }

    private func readRequired(_ schema: Waiting, _ list: inout MemberList) throws(JSONSchemaError) {
        guard let (node, path) = value(.required, schema) else { return }
        for name in try names(node, path) {
            list.members[list.index(tape.string(name), at: name)].member.isRequired = true
        }
    }

    private func names(_ node: Int, _ path: CodingPath) throws(JSONSchemaError) -> [Int] {
        guard tape.kind(node) == .array else { throw failure(path, "expected an array of names") }
        let names = try elements(node, path)
        guard names.allSatisfy({ tape.kind($0) == .string }) else {
            throw failure(path, "expected an array of names")
        }
        return names
    }

    /// Returns names that a check looks up one by one. Duplicates would only cost time and are refused.
    private func differentNames(_ node: Int, _ path: CodingPath) throws(JSONSchemaError) -> [String] {
        let names = try names(node, path).map { tape.string($0) }
        var known: Set<ExactKey> = []
        for name in names where !known.insert(ExactKey(text: name)).inserted {
            throw failure(path, "the name \(JSON.string(Self.shown(name)).text) occurs twice")
        }
        return names
    }

    private mutating func readDependents(_ schema: Waiting, _ list: inout MemberList) throws(JSONSchemaError) {
        func dependents(_ key: Int, _ compiler: inout SchemaCompiler, _ list: inout MemberList) -> Int {
            let index = list.index(compiler.tape.string(key), at: key)
            if list.members[index].member.dependents == 0 {
                compiler.graph.dependents.append(SchemaDependents())
                list.members[index].member.dependents = UInt32(compiler.graph.dependents.count)
            }
            return Int(list.members[index].member.dependents) - 1
        }
        if let (node, path) = value(.dependentRequired, schema) {
            for key in try keys(node, path) {
                let path = CodingPath.key(tape.string(key), of: path)
                let names = try differentNames(tape.nodes[key].value, path)
                let range = SchemaRange(start: UInt32(graph.names.count), count: UInt32(names.count))
                for name in names { graph.names.append(keep(name)) }
                graph.dependents[dependents(key, &self, &list)].names = range
            }
        }
        if let (node, path) = value(.dependentSchemas, schema) {
            for key in try keys(node, path) {
                let subschema = try schemaIndex(
                    of: tape.nodes[key].value, in: schema.resource, .key(tape.string(key), of: path))
                graph.dependents[dependents(key, &self, &list)].schema = subschema
            }
        }
    }

    /// Adds the members, and a hash table if there are many.
    private mutating func enter(
        _ list: MemberList, _ schema: Waiting, _ object: inout SchemaObject
    ) throws(JSONSchemaError) {
        guard list.members.count <= Self.maximumMembers else {
            throw failure(schema.path, "more than \(Self.maximumMembers) known members")
        }
        object.members = SchemaRange(start: UInt32(graph.members.count), count: UInt32(list.members.count))
        for (node, member) in list.members {
            var member = member
            member.key = keep(tape.string(node))
            if member.isRequired { object.requiredCount += 1 }
            graph.members.append(member)
        }
        guard list.members.count > Self.fewMembers else { return }
        var count = 2 * Self.fewMembers
        while count * 3 < list.members.count * 4 { count *= 2 }
        var slots = [UInt16](repeating: 0, count: count)
        for index in list.members.indices {
            let key = graph.members[Int(object.members.start) + index].key
            var slot = graph.withBytes(key) { SchemaGraph.slot(of: $0) } & (count - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (count - 1) }
            slots[slot] = UInt16(index + 1)
        }
        object.slots = SchemaRange(start: UInt32(graph.slots.count), count: UInt32(count))
        graph.slots += slots
    }

    /// The maximum number that a slot of the table can hold.
    private static var maximumMembers: Int { 65_000 }
    /// The maximum number of members that are compared one by one.
    private static var fewMembers: Int { 8 }

    private mutating func patternProperties(_ schema: Waiting) throws(JSONSchemaError) -> SchemaRange {
        guard let (node, path) = value(.patternProperties, schema) else { return .none }
        var pairs: [UInt32] = []
        for key in try keys(node, path) {
            let here = CodingPath.key(tape.string(key), of: path)
            pairs.append(try pattern(tape.string(key), here))
            pairs.append(try schemaIndex(of: tape.nodes[key].value, in: schema.resource, here))
        }
        return append(pairs)
    }
}
