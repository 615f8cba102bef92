import TaskKit

/// The section of the configuration.
struct PersistenceConfiguration: Codable, Sendable, Equatable {
    /// The database's name in the plugin's state directory; "records.sqlite" by default.
    var file: String?
    /// Deletions that each namespace remembers for those who watch from an older version; 100,000 by default. Whoever
    /// has missed more must read its tables anew (`cursor.expired`).
    var tombstones: Int64?

    static let defaultFile = "records.sqlite"
    static let defaultTombstones: Int64 = 100_000
    private static let mostTombstones: Int64 = 1_000_000_000

    /// What operators are told of the settings.
    static let settings: [String: JSON] = [
        "file": ["description": "The database's name in the state directory.", "default": .string(defaultFile)],
        "tombstones": [
            "description": """
            Deletions that each namespace remembers for those who watch from an older version. Whoever has missed \
            more must read its tables anew (cursor.expired).
            """,
            "default": .number(JSONNumber(defaultTombstones)), "minimum": 0,
            "maximum": .number(JSONNumber(mostTombstones)),
        ],
    ]

    /// - Throws: `configuration.invalid` with the place.
    func check() throws(BridgeError) {
        if let file,
            file.isEmpty || file.utf8.contains(UInt8(ascii: "/")) || file.utf8.contains(0) || file == "."
                || file == ".." || file.utf8.count > 200
        {
            throw Self.unfit("$.file", expected: "a file name without a directory", got: "\"\(file)\"")
        }
        if let tombstones, !(0...Self.mostTombstones).contains(tombstones) {
            throw Self.unfit(
                "$.tombstones", expected: "integer from 0 to \(Self.mostTombstones)", got: "number \(tombstones)")
        }
    }

    private static func unfit(_ path: String, expected: String, got: String) -> BridgeError {
        BridgeError(
            .configurationInvalid, "\(path): expected \(expected), got \(got).",
            data: ["path": .string(path), "expected": .string(expected), "got": .string(got)])
    }
}
