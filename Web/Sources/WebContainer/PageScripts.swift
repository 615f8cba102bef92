internal import BridgeJSON
public import WebKitViews
public import WebProfiles

/// The scripts of the profile, the scripts and styles that clients add, and the script that gives pages the parameters.
/// They apply to future documents.
public struct PageScripts: Sendable {
    /// The kind of an addition.
    public enum Kind: String, Sendable {
        case script, style
    }

    /// A script or style.
    public struct Entry: Sendable {
        /// The kind.
        public var kind: Kind
        /// The script, or the text of the style.
        public var script: UserScript
        /// The origins of its documents; `nil` for all.
        public var origins: [PageOrigin]?
    }

    /// The maximum number of additions by clients.
    public static let maximum = 64
    /// The maximum number of bytes of all additions by clients.
    public static let maximumBytes = 1 << 20

    /// The isolated world of these scripts. It has no handler, so they cannot post to the container.
    public static let isolatedWorld = "trestle-scripts"

    /// The scripts of the profile, which are permanent.
    let own: [Entry]
    /// The additions by clients, by their numbers.
    public private(set) var entries: [Int: Entry] = [:]
    private var lastNumber = 0

    /// Creates the additions of a profile.
    ///
    /// - Parameter own: The profile's scripts.
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

    /// All additions, in the order in which documents get them.
    var all: [Entry] { own + entries.sorted { $0.key < $1.key }.map(\.value) }

    /// Adds a script or style.
    ///
    /// - Parameters:
    ///   - kind: The kind.
    ///   - script: The script, or the text of the style.
    ///   - origins: The origins of its documents; `nil` for all.
    /// - Returns: Its number; `nil` if there would be too many additions or too many bytes.
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

    /// Removes an addition; returns false if it does not exist.
    ///
    /// - Parameter number: Its number.
    public mutating func remove(_ number: Int) -> Bool { entries.removeValue(forKey: number) != nil }

    /// Removes all additions by clients.
    public mutating func removeAll() { entries = [:] }

    /// Returns a script that runs only for these origins. The engine's patterns have no ports, so the script checks the
    /// origin itself.
    static func guarded(_ source: String, _ origins: [PageOrigin]) -> String {
        let list = JSON.array(origins.map { .string($0.text) }).text
        return "if (\(list).includes(self.origin)) {\n\(source)\n}"
    }

    /// Returns the script that gives pages the parameters; `nil` if there are none for scripts.
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
