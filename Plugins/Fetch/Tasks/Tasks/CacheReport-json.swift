import HTTPRules
import TaskKit

extension CacheReport {
    /// The member `cache` of a result.
    var json: JSON {
        var json: JSONObject = ["state": .string(state.rawValue)]
        json["age"] = age.map { .number(JSONNumber($0)) }
        json["steps"] = [
            "exists": Self.json(steps.exists), "expired": Self.json(steps.hasExpired),
            "changed": Self.json(steps.hasChanged),
        ]
        json["stored"] = .bool(isStored)
        return .object(json)
    }

    private static func json(_ answer: Bool?) -> JSON { answer.map { .bool($0) } ?? .null }

    static let schema: JSON = [
        "type": "object",
        "properties": [
            "state": ["enum": .array(State.allCases.map { .string($0.rawValue) })],
            "age": ["type": "integer", "description": "seconds"],
            "steps": [
                "type": "object",
                "properties": ["exists": answer, "expired": answer, "changed": answer],
            ],
            "stored": ["type": "boolean"],
        ],
        "required": ["state", "steps", "stored"],
    ]

    private static let answer: JSON = ["type": ["boolean", "null"]]
}
