import TaskKit

// Backups, exports, restores and imports: of all users' records, whatever their options choose of these. So they have a
// permission of their own, which no rule about `persistence.*` covers, and are not open.

/// What these tasks share.
protocol CopyTask: BridgeTask {
    var copies: StoreCopies { get }
}

extension CopyTask {
    /// No deadline: a store may be large.
    static var settings: TaskSettings {
        TaskSettings(permission: "store.copy", timeout: .unlimited)
    }
}

/// Options of which an unknown one is refused: a misspelt `namespace` that was passed over would mean all users'
/// records.
struct Strict<Request: Decodable & Sendable>: Decodable, Sendable {
    let request: Request

    init(from decoder: any Decoder) throws {
        request = try JSONCoding.decode(Request.self, from: JSON(from: decoder), unknownKeys: .refuse)
    }
}

/// An object without members.
struct NoOptions: Codable, Sendable {
    private enum Keys: CodingKey {}

    init() {}

    /// Looks for members, though it wants none: what is looked for in an object shows which others are unknown.
    init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: Keys.self) }
}

struct BackupTask: CopyTask {
    static let name = "persistence.backup"
    static let summary = "Makes a copy of the whole store, to be downloaded in parts."
    static let optionsSchema: JSON? = Schemas.strict(NoOptions.self)
    let copies: StoreCopies

    func run(_ options: Strict<NoOptions>, _ call: Call) async throws -> StoreCopies.Download {
        try await copies.backUp(for: call.caller.session)
    }
}

struct ExportTask: CopyTask {
    static let name = "persistence.export"
    static let summary = "Writes records as lines of JSON, to be downloaded in parts."
    static let optionsSchema: JSON? = Schemas.strict(Request.self)
    struct Request: Codable, Sendable {
        var namespace: String?
        var table: String?
    }
    let copies: StoreCopies

    func run(_ options: Strict<Request>, _ call: Call) async throws -> StoreCopies.Download {
        let selection = try Selection(namespace: options.request.namespace, table: options.request.table)
        return try await copies.export(selection, for: call.caller.session)
    }
}

struct RestoreTask: CopyTask {
    static let name = "persistence.restore"
    static let summary = "Puts an uploaded backup in the place of the store."
    static let optionsSchema: JSON? = Schemas.strict(Request.self)
    struct Request: Codable, Sendable {
        var upload: UInt64
        var bytes: Int64
        var sha256: String?
    }
    let copies: StoreCopies

    func run(_ options: Strict<Request>, _ call: Call) async throws -> StoreCopies.Restored {
        let request = options.request
        let restored = try await copies.restore(
            upload: request.upload, .init(bytes: request.bytes, sha256: request.sha256), of: call.caller.session)
        call.log.notice(
            "the store was replaced by a backup of \(restored.records) records; the old one is \(restored.kept)")
        return restored
    }
}

struct ImportTask: CopyTask {
    static let name = "persistence.import"
    static let summary = "Stores the records of an uploaded export."
    static let optionsSchema: JSON? = Schemas.strict(Request.self)
    struct Request: Codable, Sendable {
        var upload: UInt64
        var bytes: Int64
        var sha256: String?
        var namespace: String?
        var table: String?
        var ifExists: Import.IfExists?
        var dryRun: Bool?
    }
    /// Where an import is.
    struct Progress: Codable, Sendable {
        var records: Int64
        var of: Int64
    }
    let copies: StoreCopies

    func run(_ options: Strict<Request>, _ call: Call) async throws -> Import.Outcome {
        let request = options.request
        return try await copies.importRecords(
            upload: request.upload, .init(bytes: request.bytes, sha256: request.sha256),
            Selection(namespace: request.namespace, table: request.table), request.ifExists ?? .fail,
            isDryRun: request.dryRun ?? false, of: call.caller.session, user: call.caller.uid
        ) { done, all in
            call.reportProgress(Progress(records: done.records, of: all))
        }
    }
}

extension Schemas {
    /// The schema of options of which an unknown one is refused; nil where it cannot be derived, which a test finds.
    fileprivate static func strict<Request: Decodable>(_ request: Request.Type) -> JSON? {
        guard var schema = (try? JSONSchema.derive(from: request))?.objectValue else { return nil }
        schema["additionalProperties"] = false
        return .object(schema)
    }
}
