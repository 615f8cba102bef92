internal import BridgeJSON
public import WebKitViews
public import WebProfiles

/// Scripts of the profile, scripts and styles that clients add, and the script that gives pages the parameters: for
/// documents to come.
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

    /// The isolated world of these scripts. It has no handler: they cannot post to the container.
    public static let isolatedWorld = "trestle-scripts"

    /// Those of the profile, which nobody removes.
    let own: [Entry]
    /// Those that clients have added, by their numbers.
    public private(set) var entries: [Int: Entry] = [:]
    private var lastNumber = 0

    /// Those of a profile.
    ///
    /// - Parameter own: The profile's.
    public init(_ own: [PageScript] = []) {
        self.own = own.map { script in
            Self.entry(
                .script,
                UserScript(
                    script.source, at: script.moment == .end ? .end : .start,
                    isForAllFrames: script.frames == .all,
                    world: script.world == .isolated ? Self.isolatedWorld : nil),
                script.origins)
        }
    }

    /// All, in the order in which they are given to documents.
    var all: [Entry] { own + entries.sorted { $0.key < $1.key }.map(\.value) }

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
        entries[lastNumber] = Self.entry(kind, script, origins)
        return lastNumber
    }

    private static func entry(_ kind: Kind, _ script: UserScript, _ origins: [PageOrigin]?) -> Entry {
        var script = script
        script.patterns = origins?.map(\.pattern)
        if kind == .script, let origins { script.source = guarded(script.source, origins) }
        return Entry(kind: kind, script: script, origins: origins)
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

    /// The script that gives pages the parameters; nil: there are none for them.
    static func giving(_ parameters: Parameters) -> UserScript? {
        guard parameters.places.contains(.js), !parameters.values.isEmpty, !parameters.origins.isEmpty else {
            return nil
        }
        var values = JSONObject()
        for (name, value) in parameters.values { values[name] = .string(value) }
        let source = """
            Object.defineProperty(
                globalThis, "TrestleParameters", { value: Object.freeze(\(JSON.object(values).text)) });
            """
        let origins = parameters.origins.sorted { $0.text < $1.text }
        return UserScript(guarded(source, origins), patterns: origins.map(\.pattern))
    }
}
