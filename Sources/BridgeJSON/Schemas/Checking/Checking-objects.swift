// The rules for objects.
extension Checking {
    mutating func objectFits(
        _ node: Int, _ rule: SchemaRule, _ known: EvaluatedParts.Set
    ) throws(SchemaExcess) -> Bool {
        switch rule {
        case .memberCounts(let counts): fits(Int(tape.nodes[node].count), counts, "an object", "members")
        case .memberNames(let wanted): try namesFit(node, wanted)
        case .members(let index): try membersFit(node, graph.objects[Int(index)], known)
        case .unevaluatedMembers(let wanted): try unevaluatedMembersFit(node, wanted, known)
        default: true
        }
    }

    /// Looks up the members of the value among those of the schema, not the reverse: the schema may have thousands of
    /// members, and the value none.
    private mutating func membersFit(
        _ node: Int, _ object: SchemaObject, _ known: EvaluatedParts.Set
    ) throws(SchemaExcess) -> Bool {
        let count = tape.nodes[node].count
        if count < object.requiredCount { return failMissing(node, object) }
        var requiredCount: UInt32 = 0
        var key = node + 1
        for index in 0..<Int(count) {
            try budget.spend(content: tape.nodes[key])
            try budget.spend(SchemaValues.memberSteps)
            let found = tape.nodes[key].withContent(text: tape.text) { graph.member($0, of: object) }
            let member = found.map { graph.members[$0] }
            if member?.isRequired == true { requiredCount += 1 }
            guard try memberFits(key, index, member, object, known) else { return false }
            if let member, member.dependents > 0 {
                guard try dependentsFit(node, key, graph.dependents[Int(member.dependents) - 1], known) else {
                    return false
                }
            }
            key = Int(tape.nodes[key].next)
        }
        return requiredCount == object.requiredCount || failMissing(node, object)
    }

    private mutating func memberFits(
        _ key: Int, _ index: Int, _ member: SchemaMember?, _ object: SchemaObject, _ known: EvaluatedParts.Set
    ) throws(SchemaExcess) -> Bool {
        let value = tape.nodes[key].value
        var isKnown = false
        if let member, member.schema != .none {
            isKnown = true
            guard try fits(value, member.schema, .none) else { return failed(within: .key(tape.string(key))) }
        }
        for pair in stride(from: object.patterns.indices.lowerBound, to: object.patterns.indices.upperBound, by: 2)
        where try matches(key, graph.schemaIndices[pair]) {
            isKnown = true
            guard try fits(value, graph.schemaIndices[pair + 1], .none) else {
                return failed(within: .key(tape.string(key)))
            }
        }
        if !isKnown, object.others != .none {
            isKnown = true
            if isNothing(object.others) { return failUnknown(key, object) }
            guard try fits(value, object.others, .none) else { return failed(within: .key(tape.string(key))) }
        }
        if isKnown { marks.insert(index, into: known) }
        return true
    }

    private func isNothing(_ schemaIndex: SchemaIndex) -> Bool {
        if case .nothing? = graph.rules(of: schemaIndex).first { true } else { false }
    }

    private mutating func dependentsFit(
        _ node: Int, _ key: Int, _ dependents: SchemaDependents, _ known: EvaluatedParts.Set
    ) throws(SchemaExcess) -> Bool {
        for index in dependents.names.indices {
            let name = graph.names[index]
            try budget.spend(SchemaValues.memberSteps + Int(name.count))
            if has(node, name) { continue }
            return fail(
                "a value, because of the member "
                    + JSON.string(String(tape.string(key).unicodeScalars.prefix(64))).text,
                "none", at: .key(graph.string(name)))
        }
        return dependents.schema == .none ? true : try fits(node, dependents.schema, known)
    }

    private func has(_ node: Int, _ name: SchemaRange) -> Bool {
        graph.withBytes(name) { tape.member($0, of: node, isTaken: false) } != nil
    }

    private mutating func unevaluatedMembersFit(
        _ node: Int, _ wanted: SchemaIndex, _ known: EvaluatedParts.Set
    ) throws(SchemaExcess) -> Bool {
        var key = node + 1
        for index in 0..<Int(tape.nodes[node].count) {
            try budget.spend(1)
            if !marks.contains(index, in: known) {
                if isNothing(wanted) { return fail("no other member", "an unknown key", at: .key(tape.string(key))) }
                guard try fits(tape.nodes[key].value, wanted, .none) else {
                    return failed(within: .key(tape.string(key)))
                }
                marks.insert(index, into: known)
            }
            key = Int(tape.nodes[key].next)
        }
        return true
    }

    /// Checks keys as strings: each key becomes a string node for the duration of its check.
    private mutating func namesFit(_ node: Int, _ wanted: SchemaIndex) throws(SchemaExcess) -> Bool {
        var key = node + 1
        for _ in 0..<tape.nodes[node].count {
            let keyNode = tape.nodes[key]
            let end = tape.nodes.count
            tape.nodes.append(
                TapeNode(
                    .string, start: keyNode.start, count: keyNode.count, next: UInt32(end + 1),
                    hasEscapes: keyNode.hasEscapes))
            defer { tape.nodes.cut(to: end) }
            // The next key has the same index, but is another value.
            hashed = nil
            guard try isFitting(end, wanted, .none) else {
                return fail("a name that is \(words(wanted))", tape.describe(end), at: .key(tape.string(key)))
            }
            key = Int(keyNode.next)
        }
        hashed = nil
        return true
    }

    // MARK: Words

    /// The maximum number of keys that are reported.
    private static let maximumShown = 64

    /// Reports the first missing member, in the order of the schema.
    private func failMissing(_ node: Int, _ object: SchemaObject) -> Bool {
        if trialDepth > 0 { return false }
        for member in graph.members[object.members.indices] where member.isRequired && !has(node, member.key) {
            let key = graph.string(member.key)
            let similar = Suggestion.nearest(to: key, among: unknownKeys(node, object))
            return fail(
                member.schema == .none ? "a value" : words(member.schema), JSONMismatch.nothing, at: .key(key),
                similarKey: similar)
        }
        return false
    }

    /// Returns the first keys of a value that a schema does not name.
    private func unknownKeys(_ node: Int, _ object: SchemaObject) -> [String] {
        tape.firstKeys(of: node).filter { key in
            var key = key
            return key.withUTF8 { graph.member(UnsafeRawBufferPointer($0), of: object) } == nil
        }
    }

    private func failUnknown(_ key: Int, _ object: SchemaObject) -> Bool {
        if trialDepth > 0 { return false }
        let keys = graph.members[object.members.indices].lazy.filter { $0.schema != .none }
        var named = NamedValues()
        for key in keys.prefix(Self.maximumShown) where !named.isFull {
            named.add(SchemaWords(graph).shown(key.key))
        }
        var known = named.texts
        let more = keys.count > known.count ? ", …" : ""
        var expected = known.isEmpty ? "no member at all" : "one of the keys \(known.joined(separator: ", "))\(more)"
        if object.patterns.count > 0 {
            var sources = NamedValues()
            let patterns = object.patterns.indices
            for index in stride(from: patterns.lowerBound, to: patterns.upperBound, by: 2) where !sources.isFull {
                sources.add(source(graph.schemaIndices[index]))
            }
            let words = "with the pattern \(sources.texts.joined(separator: " or "))"
            expected = known.isEmpty ? "a key \(words)" : "\(expected), or one \(words)"
            known = []
        }
        return fail(expected, "an unknown key", at: .key(tape.string(key)), knownKeys: known)
    }
}
