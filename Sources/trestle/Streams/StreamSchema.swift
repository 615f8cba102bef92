import BridgeJSON

/// The places at which the schema of options or a result declares the name of a stream.
struct StreamSchema {
    /// The paths of these values, as names of members; an empty path is the whole value.
    let paths: [[String]]

    private static let format: JSON = "trestle-stream"

    /// - Parameter schema: The schema; `nil` if there is none.
    init(_ schema: JSON?) { paths = schema.map { Self.paths(in: $0) } ?? [] }

    /// Returns whether a schema declares the whole value as a stream.
    static func isStream(_ schema: JSONObject) -> Bool { schema["format"] == format }

    private static func paths(in schema: JSON) -> [[String]] {
        if let members = schema.objectValue, isStream(members) { return [[]] }
        guard let properties = schema["properties"]?.objectValue else { return [] }
        return properties.flatMap { name, member in paths(in: member).map { [name] + $0 } }
    }
}

extension JSON {
    /// Returns the value at a path of members; `nil` if there is none.
    func value(at path: some Collection<String>) -> JSON? {
        path.reduce(Optional(self)) { $0?[$1] }
    }

    /// Returns the same JSON with another value at the path.
    func replacing(_ path: ArraySlice<String>, by value: JSON) -> JSON {
        guard let name = path.first, var members = objectValue else { return path.isEmpty ? value : self }
        members[name] = members[name]?.replacing(path.dropFirst(), by: value)
        return .object(members)
    }

    /// Returns whether any string in it has the prefix.
    func hasString(beginningWith text: String) -> Bool {
        switch self {
        case .string(let string): string.hasPrefix(text)
        case .array(let elements): elements.contains { $0.hasString(beginningWith: text) }
        case .object(let members): members.contains { $0.value.hasString(beginningWith: text) }
        default: false
        }
    }
}
