import BridgeJSON

/// Where the schema of options or a result says that a value is the name of a stream.
struct StreamSchema {
    /// Such values, by the names of the members that lead to them; empty: the whole value.
    let paths: [[String]]

    private static let format: JSON = "trestle-stream"

    /// - Parameter schema: Nil: there is none.
    init(_ schema: JSON?) { paths = schema.map { Self.paths(in: $0) } ?? [] }

    /// Whether a schema says so of the whole value.
    static func isStream(_ schema: JSONObject) -> Bool { schema["format"] == format }

    private static func paths(in schema: JSON) -> [[String]] {
        if let members = schema.objectValue, isStream(members) { return [[]] }
        guard let properties = schema["properties"]?.objectValue else { return [] }
        return properties.flatMap { name, member in paths(in: member).map { [name] + $0 } }
    }
}

extension JSON {
    /// The value that these members lead to; nil: there is none.
    func value(at path: some Collection<String>) -> JSON? {
        path.reduce(Optional(self)) { $0?[$1] }
    }

    /// The same JSON with another value there.
    func replacing(_ path: ArraySlice<String>, by value: JSON) -> JSON {
        guard let name = path.first, var members = objectValue else { return path.isEmpty ? value : self }
        members[name] = members[name]?.replacing(path.dropFirst(), by: value)
        return .object(members)
    }

    /// Whether a string in it begins so.
    func hasString(beginningWith text: String) -> Bool {
        switch self {
        case .string(let string): string.hasPrefix(text)
        case .array(let elements): elements.contains { $0.hasString(beginningWith: text) }
        case .object(let members): members.contains { $0.value.hasString(beginningWith: text) }
        default: false
        }
    }
}
