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

/// A copy on its way to the caller.
struct SentCopy: Codable, Sendable {
    /// Its bytes.
    var stream: ByteStream
    var bytes: Int64
    var sha256: String
    var records: Int64

    static let schema: JSON? = try? JSONSchema.derive(from: SentCopy.self)
}

extension CopyTask {
    /// Makes a stream of a copy, whose reader is the caller. The copy is removed when the stream ends.
    fileprivate func send(_ copy: StoreCopies.Copy, as type: String, _ call: Call) async throws -> SentCopy {
        do {
            let stream = try await call.makeStream(type: type, totalBytes: Int(copy.bytes)) { [copies] out in
                try await copies.send(copy) { try await out.write($0) }
            }
            return SentCopy(stream: stream, bytes: copy.bytes, sha256: copy.sha256, records: copy.records)
        } catch {
            copies.discard(copy)
            throw error
        }
    }
}

struct BackupTask: CopyTask {
    static let name = "persistence.backup"
    static let summary = "Returns a stream with a copy of the whole store."
    static let optionsSchema: JSON? = Schemas.strict(NoOptions.self)
    static let resultSchema: JSON? = SentCopy.schema
    let copies: StoreCopies

    func run(_ options: Strict<NoOptions>, _ call: Call) async throws -> SentCopy {
        try await send(copies.backUp(for: call.caller.session), as: "application/vnd.sqlite3", call)
    }
}

struct ExportTask: CopyTask {
    static let name = "persistence.export"
    static let summary = "Returns a stream with records as lines of JSON."
    static let optionsSchema: JSON? = Schemas.strict(Request.self)
    static let resultSchema: JSON? = SentCopy.schema
    struct Request: Codable, Sendable {
        var namespace: String?
        var table: String?
    }
    let copies: StoreCopies

    func run(_ options: Strict<Request>, _ call: Call) async throws -> SentCopy {
        let selection = try Selection(namespace: options.request.namespace, table: options.request.table)
        return try await send(copies.export(selection, for: call.caller.session), as: "application/jsonl", call)
    }
}

struct RestoreTask: CopyTask {
    static let name = "persistence.restore"
    static let summary = "Replaces the store by a backup, which is read from a stream."
    static let optionsSchema: JSON? = Schemas.strict(Request.self)?.withStream
    struct Request: Codable, Sendable {
        var stream: String
        var bytes: Int64?
        var sha256: String?
    }
    let copies: StoreCopies

    func run(_ options: Strict<Request>, _ call: Call) async throws -> StoreCopies.Restored {
        let request = options.request
        let restored = try await copies.restore(
            call.readStream(request.stream), .init(bytes: request.bytes, sha256: request.sha256),
            of: call.caller.session)
        call.log.notice(
            "the store was replaced by a backup of \(restored.records) records; the old one is \(restored.kept)")
        return restored
    }
}

struct ImportTask: CopyTask {
    static let name = "persistence.import"
    static let summary = "Stores the records of an export, which is read from a stream."
    static let optionsSchema: JSON? = Schemas.strict(Request.self)?.withStream
    struct Request: Codable, Sendable {
        var stream: String
        var bytes: Int64?
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
        // First, so that the stream ends where other options do not fit.
        let bytes = call.readStream(request.stream)
        return try await copies.importRecords(
            bytes, .init(bytes: request.bytes, sha256: request.sha256),
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

extension JSON {
    /// A schema of an object whose member `stream` is the name of a stream.
    fileprivate var withStream: JSON? {
        guard var schema = objectValue, var properties = schema["properties"]?.objectValue else { return nil }
        properties["stream"] = ["type": "string", "format": "trestle-stream"]
        schema["properties"] = .object(properties)
        return .object(schema)
    }
}
