internal import BridgeJSON
public import WebKitViews
public import WebProfiles

/// Scripts and styles that clients add to documents to come, and what is told to pages by a script.
public struct PageScripts: Sendable {
    /// What is added.
    public enum Kind: String, Sendable {
        case script, style
    }

    /// One of them.
    public struct Entry: Sendable {
        /// What it is.
        public var kind: Kind
        /// The script, or the text of the style.
        public var script: UserScript
        /// The origins of its documents; nil: all.
        public var origins: [PageOrigin]?
    }

    /// How many there may be.
    public static let maximum = 64
    /// The bytes of all.
    public static let maximumBytes = 1 << 20

    /// All of them, by their numbers.
    public private(set) var entries: [Int: Entry] = [:]
    private var lastNumber = 0

    /// None.
    public init() {}

    /// Adds one; nil: there would be too many, or they would be too long.
    ///
    /// - Parameters:
    ///   - kind: What it is.
    ///   - script: The script, or the text of the style.
    ///   - origins: The origins of its documents; nil: all.
    /// - Returns: Its number.
    public mutating func add(_ kind: Kind, _ script: UserScript, origins: [PageOrigin]? = nil) -> Int? {
        let bytes = entries.values.reduce(script.source.utf8.count) { $0 + $1.script.source.utf8.count }
        guard entries.count < Self.maximum, bytes <= Self.maximumBytes else { return nil }
        lastNumber += 1
        var script = script
        script.patterns = origins?.map(\.pattern)
        if kind == .script, let origins { script.source = Self.guarded(script.source, origins) }
        entries[lastNumber] = Entry(kind: kind, script: script, origins: origins)
        return lastNumber
    }

    /// Removes one; false where there is none.
    ///
    /// - Parameter number: Its number.
    public mutating func remove(_ number: Int) -> Bool { entries.removeValue(forKey: number) != nil }

    /// Removes all.
    public mutating func removeAll() { entries = [:] }

    /// The engine's patterns have no ports, so the script looks at the origin itself.
    static func guarded(_ source: String, _ origins: [PageOrigin]) -> String {
        let list = JSON.array(origins.map { .string($0.text) }).text
        return "if (\(list).includes(self.origin)) {\n\(source)\n}"
    }

    /// The script that tells pages the parameters; nil: they are told none.
    static func telling(_ parameters: Parameters) -> UserScript? {
        guard parameters.places.contains(.js), !parameters.values.isEmpty, !parameters.origins.isEmpty else {
            return nil
        }
        var values = JSONObject()
        for (name, value) in parameters.values { values[name] = .string(value) }
        let source = """
            Object.defineProperty(globalThis, "TrestleParameters", { value: Object.freeze(\(JSON.object(values).text)) });
            """
        let origins = parameters.origins.sorted { $0.text < $1.text }
        return UserScript(guarded(source, origins), patterns: origins.map(\.pattern))
    }
}
