import Foundation
import GRDB
import TaskKit
import Testing

@testable import PersistenceTasks

extension TestStore {
    /// What lies in the directory beside the database and its log.
    var otherFiles: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: directory).sorted().filter {
                !["records.sqlite", "records.sqlite-wal", "records.sqlite-shm"].contains($0)
            }
        }
    }

    /// Waits until the lane of copies has removed what it was told to remove.
    func finishCopies(session: SessionID = 99) async throws {
        let copy = try await copies.export(Selection(namespace: "9:none", table: nil), for: session)
        try copies.endDownload(copy.download, of: session)
    }

    /// All bytes of a download, which is ended.
    func take(_ copy: StoreCopies.Download, session: SessionID = 1) throws -> [UInt8] {
        let file = try copies.download(copy.download, of: session)
        var bytes: [UInt8] = []
        while case let part = try file.read(at: Int64(bytes.count), count: 1000), !part.isEmpty { bytes += part }
        #expect(bytes.count == Int(copy.bytes))
        try copies.endDownload(copy.download, of: session)
        return bytes
    }

    func backup() async throws -> [UInt8] { try take(await copies.backUp(for: 1)) }

    func export(namespace: String? = nil, table: String? = nil) async throws -> String {
        let bytes = try take(await copies.export(Selection(namespace: namespace, table: table), for: 1))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Uploads bytes: the last first, because their order is free.
    func upload(_ bytes: [UInt8], session: SessionID = 1) throws -> UInt64 {
        let file = try copies.beginUpload(for: session)
        try file.create()
        for offset in stride(from: 0, to: bytes.count, by: 10_000).reversed() {
            try file.write(Array(bytes[offset..<min(bytes.count, offset + 10_000)]), at: Int64(offset))
        }
        return file.id
    }

    @discardableResult
    func restore(_ bytes: [UInt8]) async throws -> StoreCopies.Restored {
        try await copies.restore(upload: upload(bytes), .init(bytes: Int64(bytes.count)), of: 1)
    }

    @discardableResult
    func importLines(
        _ text: String, _ ifExists: Import.IfExists = .fail, namespace: String? = nil, table: String? = nil,
        isDryRun: Bool = false, progress: @escaping @Sendable (Import.Outcome) -> Void = { _ in }
    ) async throws -> Import.Outcome {
        let bytes = Array(text.utf8)
        return try await copies.importRecords(
            upload: upload(bytes), .init(bytes: Int64(bytes.count)), Selection(namespace: namespace, table: table),
            ifExists, isDryRun: isDryRun, of: 1, user: 1000
        ) { done, _ in progress(done) }
    }

    /// The error that something of this store throws.
    func failure(
        sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
    ) async throws -> BridgeError {
        try await #require(
            throws: BridgeError.self, sourceLocation: sourceLocation,
            performing: {
                try await body()
            })
    }

    func create(_ key: String, table: String = "t", _ record: JSON = [:], uid: UInt32 = 1000) async throws {
        try await call("create", ["table": .string(table), "key": .string(key), "record": record], uid: uid)
    }

    /// The keys of a table.
    func keys(table: String = "t") async throws -> [String] {
        try await call("query", ["table": .string(table), "limit": 1000]).keys
    }
}

/// Opens a file of SQLite's as anybody could.
func withDatabase<T>(_ path: String, _ body: (Database) throws -> T) throws -> T {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try queue.inDatabase(body)
}

/// Changes a file of SQLite's as somebody could who has it; returns its bytes.
func changed(_ bytes: [UInt8], _ sql: String) throws -> [UInt8] {
    let path = try TestStore.makeDirectory() + "/changed.sqlite"
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    try withDatabase(path) { try $0.execute(sql: sql) }
    return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
}
