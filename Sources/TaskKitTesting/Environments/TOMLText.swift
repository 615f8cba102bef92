import BridgeJSON

/// Conversion of JSON to TOML, for a plugin's section of a configuration.
enum TOMLText {
    /// Returns the section of a plugin. Members that are null are omitted: TOML has no null.
    static func section(_ plugin: String, _ section: JSON) -> String {
        let lines = members(section).map { "\(key($0.key)) = \(value($0.value))\n" }
        return "[plugins.\(key(plugin))]\n" + lines.joined()
    }

    private static func members(_ json: JSON) -> [(key: String, value: JSON)] {
        (json.objectValue ?? [:]).filter { $0.value != .null }.map { ($0.key, $0.value) }
    }

    private static func key(_ text: String) -> String { JSON.string(text).text }

    private static func value(_ json: JSON) -> String {
        switch json {
        case .array(let elements): "[" + elements.map(value).joined(separator: ", ") + "]"
        case .object: "{ " + members(json).map { "\(key($0.key)) = \(value($0.value))" }.joined(separator: ", ") + " }"
        // TOML and JSON write numbers, Booleans and strings in the same way.
        case .null, .bool, .number, .string: json.text
        }
    }
}
