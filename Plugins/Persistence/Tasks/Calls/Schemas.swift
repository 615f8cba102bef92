import TaskKit

// The schemas that `bridge.describe` returns for the tasks. Written by hand, because the schemas of a raw task are not
// derived. A test compares them with the decoded types.

extension CreateTask {
    static var optionsSchema: JSON? {
        Schemas.object(["table": Schemas.table, "key": Schemas.key, "record": Schemas.record], optional: ["key"])
    }
    static var resultSchema: JSON? { Schemas.changed }
}

extension ReadTask {
    static var optionsSchema: JSON? { Schemas.object(["table": Schemas.table, "key": Schemas.key]) }
    static var resultSchema: JSON? { Schemas.shownRecord }
}

extension UpdateTask {
    static var optionsSchema: JSON? {
        Schemas.object(
            [
                "table": Schemas.table, "key": Schemas.key, "record": Schemas.record, "patch": Schemas.record,
                "ifVersion": Schemas.version,
            ], optional: ["record", "patch", "ifVersion"])
    }
    static var resultSchema: JSON? { Schemas.changed }
}

extension DeleteTask {
    static var optionsSchema: JSON? {
        Schemas.object(
            ["table": Schemas.table, "key": Schemas.key, "ifVersion": Schemas.version], optional: ["ifVersion"])
    }
    static var resultSchema: JSON? { Schemas.changed }
}

extension QueryTask {
    static var optionsSchema: JSON? {
        Schemas.object(
            [
                "table": Schemas.table, "where": Schemas.record,
                "order": ["anyOf": [Schemas.text, ["type": "array", "items": Schemas.text]]],
                "limit": ["type": "integer", "minimum": 1, "maximum": .number(JSONNumber(Limits.maximumPageRecords))],
                "cursor": Schemas.text,
            ], optional: ["where", "order", "limit", "cursor"])
    }
    static var resultSchema: JSON? {
        Schemas.result(
            ["records": ["type": "array", "items": Schemas.shownRecord], "cursor": Schemas.text], optional: ["cursor"])
    }
}

extension WatchTask {
    static var optionsSchema: JSON? {
        Schemas.object(
            ["table": Schemas.table, "since": Schemas.version, "stop": ["type": "boolean"]],
            optional: ["since", "stop"])
    }
    static var resultSchema: JSON? { Schemas.result(["version": Schemas.version]) }
}

extension TransactionTask {
    static var optionsSchema: JSON? {
        let operation: JSON = [
            "type": "object",
            "properties": [
                "create": CreateTask.optionsSchema ?? true, "update": UpdateTask.optionsSchema ?? true,
                "delete": DeleteTask.optionsSchema ?? true,
            ],
            "minProperties": 1, "maxProperties": 1, "additionalProperties": false,
        ]
        return Schemas.object([
            "operations": [
                "type": "array", "maxItems": .number(JSONNumber(Limits.operations)), "items": operation,
            ]
        ])
    }
    static var resultSchema: JSON? { Schemas.result(["results": ["type": "array", "items": Schemas.changed]]) }
}

/// The parts that the schemas share.
enum Schemas {
    static let text: JSON = ["type": "string"]
    static let table: JSON = ["type": "string", "minLength": 1]
    static let key: JSON = ["type": "string", "minLength": 1]
    static let record: JSON = ["type": "object"]
    static let version: JSON = ["type": "integer"]
    static let changed = result(["key": text, "version": version])
    static let shownRecord = result(["key": text, "version": version, "record": record])

    private static let namespaceDescription =
        "whose records, as UID:ORIGIN, such as 1000:local; the caller's own by default, another's by the verb store of "
        + "the policy"

    /// Returns the schema of options. Every task also has `namespace`, as the last one.
    static func object(_ properties: JSONObject, optional: Set<String> = []) -> JSON {
        var properties = properties
        properties["namespace"] = ["type": "string", "description": .string(namespaceDescription)]
        var schema = result(properties, optional: optional.union(["namespace"])).objectValue ?? JSONObject()
        schema["additionalProperties"] = false
        return .object(schema)
    }

    static func result(_ properties: JSONObject, optional: Set<String> = []) -> JSON {
        let required = properties.filter { !optional.contains($0.key) }.map { JSON.string($0.key) }
        return ["type": "object", "properties": .object(properties), "required": .array(required)]
    }
}
