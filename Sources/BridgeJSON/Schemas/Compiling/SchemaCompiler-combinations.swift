// Keywords that apply other schemas to the same value, and keywords that only contain schemas.
extension SchemaCompiler {
    mutating func readCombinations(_ schema: Waiting) throws(JSONSchemaError) {
        try readReference(.reference, schema)
        try readReference(.dynamicReference, schema)
        if let all = try subschemas(.allOf, schema) { rules.append(.all(all)) }
        if let any = try subschemas(.anyOf, schema) { rules.append(.any(any)) }
        if let one = try subschemas(.oneOf, schema) { rules.append(.one(one)) }
        if let none = try subschema(.not, schema) { rules.append(.not(none)) }
        let condition = try subschema(.if, schema)
        let consequences = [try subschema(.then, schema) ?? .none, try subschema(.else, schema) ?? .none]
        if let condition { rules.append(.condition(append([condition] + consequences).start)) }
    }

    mutating func readUnevaluated(_ schema: Waiting) throws(JSONSchemaError) {
        if let elements = try subschema(.unevaluatedItems, schema) { rules.append(.unevaluatedElements(elements)) }
        if let members = try subschema(.unevaluatedProperties, schema) { rules.append(.unevaluatedMembers(members)) }
        graph.schemas[Int(schema.index)].hasUnevaluated =
            value(.unevaluatedItems) != nil || value(.unevaluatedProperties) != nil
    }

    /// Reads also schemas that apply to no value by themselves: references may lead to them, and their errors are
    /// found.
    mutating func readDefinitions(_ schema: Waiting) throws(JSONSchemaError) {
        _ = try subschema(.contentSchema, schema)
        for keyword in [SchemaKeyword.definitionsByName, .definitions] {
            guard let (node, path) = value(keyword, schema) else { continue }
            for key in try keys(node, path) {
                _ = try schemaIndex(of: tape.nodes[key].value, in: schema.resource, .key(tape.string(key), of: path))
            }
        }
    }
}

extension SchemaGraph {
    /// Refuses a schema that refers to itself without a step into the value: a check would follow it without end.
    func refuseCircles() throws(JSONSchemaError) {
        enum Mark { case unseen, open, done }
        var marks = [Mark](repeating: .unseen, count: schemas.count)
        // A work list instead of recursion, because a schema may be long: a schema's index, and whether its successors
        // are done.
        var work = schemas.indices.map { (index: $0, isLeft: false) }
        while let (index, isLeft) = work.popLast() {
            if isLeft {
                marks[index] = .done
            } else if marks[index] == .unseen {
                marks[index] = .open
                work.append((index, true))
                for next in schemasOfTheSameValue(SchemaIndex(index)) {
                    if marks[Int(next)] == .open {
                        throw JSONSchemaError(path: "$", reason: "a schema refers to itself without end")
                    }
                    work.append((Int(next), false))
                }
            }
        }
    }
}
