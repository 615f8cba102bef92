import BridgeJSON

// Descriptions of a setting's values for documents.
extension SettingShape {
    /// The form of the values, in a few words.
    var described: String {
        switch self {
        case .text: "text"
        case .path: "absolute path"
        case .urlScheme: "scheme of a URL"
        case .fileMode: "octal digits as text"
        case .truth: "true or false"
        case .choice(let words): words.map(TOMLText.quoted).joined(separator: ", ")
        case .count(let range, ""): "number, \(range.lowerBound) to \(range.upperBound)"
        case .count(let range, let unit): "number of \(unit), \(range.lowerBound) to \(range.upperBound)"
        case .bytes(let range):
            "size, \(Quantity.text(bytes: range.lowerBound)) to \(Quantity.text(bytes: range.upperBound))"
        case .duration(let range): "duration, \(Quantity.text(range.lowerBound)) to \(Quantity.text(range.upperBound))"
        case .callQuotas: "a table for each name, with \(CallQuotaKey.listed)"
        case .list(let item): "\(item.described), or an array of such"
        }
    }

    /// Returns the JSON Schema of a setting. For quantities written as text, only the description contains the range.
    func schema(description: String) -> JSON {
        var schema: JSONObject = ["description": .string("\(description) (\(described))")]
        for (keyword, value) in keywords { schema[keyword] = value }
        return .object(schema)
    }

    private var keywords: JSONObject {
        switch self {
        case .text: return ["type": "string", "minLength": 1]
        case .path: return ["type": "string", "pattern": "^/"]
        case .urlScheme: return ["type": "string", "pattern": "^[a-z][a-z0-9+.-]*$"]
        case .truth: return ["type": "boolean"]
        case .fileMode: return ["type": "string", "pattern": "^0?[0-7]{3}$"]
        case .choice(let words): return ["enum": .array(words.map(JSON.string))]
        case .count(let range, _): return Self.integer(range)
        case .bytes(let range):
            let text: JSON = ["type": "string", "pattern": "^[0-9]+(B|KiB|MiB|GiB)$"]
            return ["anyOf": [.object(Self.integer(range)), text]]
        case .duration: return ["type": "string", "pattern": "^[0-9]+(ms|s|m|h)$"]
        case .callQuotas:
            let number = JSON.object(Self.integer(CallQuotaKey.range))
            let properties = CallQuotaKey.allCases.reduce(into: JSONObject()) { $0[$1.rawValue] = number }
            let quota: JSON = [
                "type": "object", "properties": .object(properties), "additionalProperties": false,
            ]
            return ["type": "object", "additionalProperties": quota]
        case .list(let item):
            let schema = JSON.object(item.keywords)
            return ["anyOf": [schema, ["type": "array", "items": schema]]]
        }
    }

    private static func integer(_ range: ClosedRange<Int>) -> JSONObject {
        [
            "type": "integer", "minimum": .number(JSONNumber(range.lowerBound)),
            "maximum": .number(JSONNumber(range.upperBound)),
        ]
    }
}
