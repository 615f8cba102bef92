import Foundation
import GRDB
import TaskKit
import Testing

@testable import PersistenceTasks

extension TestStore {
    /// The files in the directory, except the database and its log.
    var otherFiles: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: directory).sorted().filter {
                !["records.sqlite", "records.sqlite-wal", "records.sqlite-shm"].contains($0)
            }
        }
    }

    /// Waits until the copies lane has removed the files that it was asked to remove.
    func finishCopies(session: SessionID = 99) async throws {
        copies.discard(try await copies.export(Selection(namespace: "9:none", table: nil), for: session))
    }

    /// Returns all bytes of a copy. The copy is removed.
    func take(_ copy: StoreCopies.Copy) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        try await copies.send(copy) { bytes += $0 }
        #expect(bytes.count == Int(copy.bytes))
        return bytes
    }

    func backup() async throws -> [UInt8] { try await take(await copies.backUp(for: 1)) }

    func export(namespace: String? = nil, table: String? = nil) async throws -> String {
        let bytes = try await take(await copies.export(Selection(namespace: namespace, table: table), for: 1))
        return String(decoding: bytes, as: UTF8.self)
    }

    @discardableResult
    func restore(_ bytes: [UInt8], _ expected: StoreCopies.Expected = .init()) async throws -> StoreCopies.Restored {
        try await copies.restore(Parts(bytes), expected, of: 1)
    }

    @discardableResult
    func importLines(
        _ text: String, _ ifExists: Import.IfExists = .fail, namespace: String? = nil, table: String? = nil,
        isDryRun: Bool = false, progress: @escaping @Sendable (Import.Outcome) -> Void = { _ in }
    ) async throws -> Import.Outcome {
        try await importBytes(
            Array(text.utf8), ifExists, Selection(namespace: namespace, table: table), isDryRun: isDryRun,
            progress: progress)
    }

    @discardableResult
    func importBytes(
        _ bytes: [UInt8], _ ifExists: Import.IfExists, _ selection: Selection? = nil, isDryRun: Bool = false,
        progress: @escaping @Sendable (Import.Outcome) -> Void = { _ in }
    ) async throws -> Import.Outcome {
        try await copies.importRecords(
            Parts(bytes), .init(bytes: Int64(bytes.count)),
            selection ?? Selection(namespace: nil, table: nil), ifExists, isDryRun: isDryRun, of: 1, user: 1000
        ) { done, _ in progress(done) }
    }

    /// Returns the error that `body` throws.
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

    /// Returns the keys of a table.
    func keys(table: String = "t") async throws -> [String] {
        try await call("query", ["table": .string(table), "limit": 1000]).keys
    }
}

/// Bytes that arrive in parts, as those of a stream.
struct Parts: AsyncSequence, Sendable {
    private let bytes: [UInt8]
    private let failure: BridgeError?
    private let isReached: @Sendable () async -> Void

    /// - Parameters:
    ///   - failure: The error after the last part; `nil` for a normal end.
    ///   - isReached: Awaited after the last part, before the end or the error.
    init(_ bytes: [UInt8], failure: BridgeError? = nil, isReached: @escaping @Sendable () async -> Void = {}) {
        (self.bytes, self.failure, self.isReached) = (bytes, failure, isReached)
    }

    func makeAsyncIterator() -> Iterator { Iterator(parts: self, rest: bytes[...]) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let parts: Parts
        fileprivate var rest: ArraySlice<UInt8>

        mutating func next(isolation actor: isolated (any Actor)?) async throws(BridgeError) -> [UInt8]? {
            guard rest.isEmpty else {
                defer { rest = rest.dropFirst(10_000) }
                return Array(rest.prefix(10_000))
            }
            await parts.isReached()
            if let failure = parts.failure { throw failure }
            return nil
        }
    }
}

/// Opens a SQLite file without the store.
func withDatabase<T>(_ path: String, _ body: (Database) throws -> T) throws -> T {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try queue.inDatabase(body)
}

/// Runs SQL on a SQLite file without the store. Returns the new bytes of the file.
func changed(_ bytes: [UInt8], _ sql: String) throws -> [UInt8] {
    let path = try TestStore.makeDirectory() + "/changed.sqlite"
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    try withDatabase(path) { try $0.execute(sql: sql) }
    return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
}
