import TaskKit

// Backups, exports, restores and imports. They can access all users' records, whatever their options select. So they
// have their own permission, which no rule about `persistence.*` covers, and are not public.

/// The common part of these tasks.
protocol CopyTask: BridgeTask {
    var copies: StoreCopies { get }
}

extension CopyTask {
    /// The settings of these tasks: no deadline, because a store may be large.
    static var settings: TaskSettings {
        TaskSettings(permission: "store.copy", timeout: .unlimited)
    }
}

/// Options that reject unknown names: if a misspelt `namespace` were ignored, all users' records would be selected.
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

    /// Requests a keyed container without keys, so that every member of the object counts as unknown.
    init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: Keys.self) }
}

/// A copy that is sent to the caller.
struct SentCopy: Codable, Sendable {
    /// The stream with the bytes of the copy.
    var stream: ByteStream
    var bytes: Int64
    var sha256: String
    var records: Int64

    static let schema: JSON? = try? JSONSchema.derive(from: SentCopy.self)
}

extension CopyTask {
    /// Creates a stream from a copy, with the caller as its reader. The copy is removed when the stream ends.
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
    /// The progress of an import.
    struct Progress: Codable, Sendable {
        var records: Int64
        var of: Int64
    }
    let copies: StoreCopies

    func run(_ options: Strict<Request>, _ call: Call) async throws -> Import.Outcome {
        let request = options.request
        // First, so that the stream ends if other options are invalid.
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
    /// Returns the schema of options that reject unknown names; `nil` if it cannot be derived, which a test detects.
    fileprivate static func strict<Request: Decodable>(_ request: Request.Type) -> JSON? {
        guard var schema = (try? JSONSchema.derive(from: request))?.objectValue else { return nil }
        schema["additionalProperties"] = false
        return .object(schema)
    }
}

extension JSON {
    /// The schema with the member `stream` as the name of a stream; `nil` if it is not the schema of an object.
    fileprivate var withStream: JSON? {
        guard var schema = objectValue, var properties = schema["properties"]?.objectValue else { return nil }
        properties["stream"] = ["type": "string", "format": "trestle-stream"]
        schema["properties"] = .object(properties)
        return .object(schema)
    }
}
