import TaskKit

/// The plugin's section of the configuration.
struct PersistenceConfiguration: Codable, Sendable, Equatable {
    /// The database's name in the directory for the files of plugins; `nil` for "records.sqlite". Must not be the name
    /// of another plugin's file.
    var file: String?
    /// The number of deletions that are stored for each namespace, for watches from an older version; `nil` for
    /// 100,000. A client that has missed more must read its tables again (`cursor.expired`).
    var tombstones: Int64?
    /// The maximum number of records of one user in one origin; 0 for no limit, `nil` for the default.
    var namespaceRecords: Int64?
    /// The maximum number of bytes of their keys and texts; 0 for no limit, `nil` for the default.
    var namespaceBytes: Int64?

    enum CodingKeys: String, CodingKey {
        case file, tombstones
        case namespaceRecords = "namespace_records"
        case namespaceBytes = "namespace_bytes"
    }

    /// The quota of a namespace.
    var quota: StoreQuota {
        StoreQuota(
            records: namespaceRecords ?? StoreQuota.standard.records, bytes: namespaceBytes ?? StoreQuota.standard.bytes
        )
    }

    static let defaultFile = "records.sqlite"
    static let defaultTombstones: Int64 = 100_000
    private static let maximumTombstones: Int64 = 1_000_000_000
    private static let maximumRecords: Int64 = 1_000_000_000_000
    private static let maximumBytes: Int64 = 1 << 50

    /// The description of the settings for operators.
    static let settings: [String: JSON] = [
        "file": [
            "description": "The name of the database's file in the state directory.", "default": .string(defaultFile),
        ],
        "tombstones": [
            "description": """
            The number of deletions that each namespace keeps for watches from an older version. A watch that has \
            missed more gets cursor.expired, and its client reads the tables again.
            """,
            "default": .number(JSONNumber(defaultTombstones)), "minimum": 0,
            "maximum": .number(JSONNumber(maximumTombstones)),
        ],
        "namespace_records": [
            "description": """
            The maximum number of records of one user in one origin. 0: unlimited. One more fails with quota.exceeded.
            """,
            "default": .number(JSONNumber(StoreQuota.standard.records)), "minimum": 0,
            "maximum": .number(JSONNumber(maximumRecords)),
        ],
        "namespace_bytes": [
            "description": """
            The maximum number of bytes of the keys and JSON texts of one user's records in one origin. 0: unlimited. \
            More fail with quota.exceeded.
            """,
            "default": .number(JSONNumber(StoreQuota.standard.bytes)), "minimum": 0,
            "maximum": .number(JSONNumber(maximumBytes)),
        ],
    ]

    /// - Throws: `configuration.invalid` with the path of the setting.
    func check() throws(BridgeError) {
        if let file,
            file.isEmpty || file.utf8.contains(UInt8(ascii: "/")) || file.utf8.contains(0) || file == "."
                || file == ".." || file.utf8.count > 200
        {
            throw Self.unfit("$.file", expected: "a file name without a directory", got: "\"\(file)\"")
        }
        try Self.check(tombstones, upTo: Self.maximumTombstones, "$.tombstones")
        try Self.check(namespaceRecords, upTo: Self.maximumRecords, "$.namespace_records")
        try Self.check(namespaceBytes, upTo: Self.maximumBytes, "$.namespace_bytes")
    }

    private static func check(_ number: Int64?, upTo maximum: Int64, _ path: String) throws(BridgeError) {
        guard let number, !(0...maximum).contains(number) else { return }
        throw unfit(path, expected: "integer from 0 to \(maximum)", got: "number \(number)")
    }

    private static func unfit(_ path: String, expected: String, got: String) -> BridgeError {
        BridgeError(
            .configurationInvalid, "\(path): expected \(expected); got \(got)",
            data: ["path": .string(path), "expected": .string(expected), "got": .string(got)])
    }
}
