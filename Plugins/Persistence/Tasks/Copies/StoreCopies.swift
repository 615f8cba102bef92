import GRDB
import Synchronization
import TaskKit

/// Backups, exports, restores and imports of an open store. Each uses a file beside the database, which is sent or
/// received as a stream.
///
/// Any thread. Long work runs on its own lane, one piece after the other, and so does the removal of files: a file is
/// not removed while other work uses its path.
final class StoreCopies: Sendable {
    private let store: StoreQueue
    private let transfers = TransferRegistry()
    private let lane = BlockingThreads(batch: "records-copies")
    /// The thread for work that takes no longer than a part of a file.
    private let parts = BlockingThreads(batch: "records-parts")
    private let storeFile = Mutex<StoreFile?>(nil)

    init(store: StoreQueue) { self.store = store }

    // MARK: Beginning and end

    /// Sets the database of which copies are made; the store has opened it.
    func open(_ file: StoreFile) { storeFile.withLock { $0 = file } }

    /// Ends all transfers. Must be called before the store is closed.
    func close() async {
        storeFile.withLock { $0 = nil }
        transfers.takeAll().forEach(remove)
        // Waits for the running work.
        try? await parts.run {}
        try? await lane.run {}
    }

    /// Ends the transfers of a closed session.
    func sessionClosed(_ session: SessionID) { transfers.takeAll(of: session).forEach(remove) }

    private func database() throws(BridgeError) -> StoreFile {
        guard let file = storeFile.withLock({ $0 }) else { throw .storeNotOpen }
        return file
    }

    private func remove(_ file: TransferFile) {
        transfers.remove(file)
        file.end()
        lane.submit { file.unlink() }
    }

    /// Does long work on the lane. Its statements are interrupted if the Swift task is cancelled.
    private func long<T: Sendable>(_ body: @escaping @Sendable (Interruption) throws -> T) async throws -> T {
        let interruption = Interruption()
        return try await withTaskCancellationHandler {
            do {
                return try await lane.run { try body(interruption) }
            } catch let error as DatabaseError {
                throw BridgeError(storage: error)
            }
        } onCancel: {
            interruption.fire()
        }
    }

    // MARK: Out

    /// A finished copy. `send` reads and removes it.
    struct Copy: Sendable {
        let file: TransferFile
        let bytes: Int64
        let sha256: String
        let records: Int64
    }

    /// Creates a copy of the database.
    func backUp(for session: SessionID) async throws -> Copy {
        try await makeCopy(for: session) { database, file, interruption in
            try Backup.make(of: database, at: file.path, interruption)
        }
    }

    /// Writes records as lines of JSON.
    func export(_ selection: Selection, for session: SessionID) async throws -> Copy {
        try await makeCopy(for: session) { database, file, interruption in
            try Export.make(of: database, selection, to: file, interruption)
        }
    }

    private func makeCopy(
        for session: SessionID,
        _ make: @escaping @Sendable (StoreFile, TransferFile, Interruption) throws -> Int64
    ) async throws -> Copy {
        let database = try database()
        let file = try transfers.begin(for: session, beside: database)
        do {
            return try await long { interruption in
                try file.create()
                let records = try make(database, file, interruption)
                try file.seal()
                return Copy(
                    file: file, bytes: try file.length(), sha256: try file.sha256(interruption), records: records)
            }
        } catch {
            remove(file)
            throw error
        }
    }

    /// Passes the whole copy to `write`, part by part. The copy is removed in every case.
    func send(_ copy: Copy, _ write: ([UInt8]) async throws -> Void) async throws {
        defer { discard(copy) }
        var offset: Int64 = 0
        while offset < copy.bytes {
            let part = try await parts.run { [offset] in try copy.file.read(at: offset, count: Limits.partBytes) }
            guard !part.isEmpty else { throw BridgeError.cutCopy }
            try await write(part)
            offset += Int64(part.count)
        }
    }

    /// Removes a copy that is not sent.
    func discard(_ copy: Copy) { remove(copy.file) }

    // MARK: In

    /// The length and hash that a received file must have.
    struct Expected: Sendable {
        /// The length; `nil` if it is not checked.
        var bytes: Int64?
        /// The hash; `nil` if it is not compared.
        var sha256: String?
    }

    /// Receives a file, checks it, and calls `body` with it. The file is removed in every case.
    private func use<Bytes: AsyncSequence & Sendable, T: Sendable>(
        _ bytes: Bytes, _ expected: Expected, of session: SessionID,
        _ body: @escaping @Sendable (StoreFile, TransferFile, Interruption) throws -> T
    ) async throws -> T where Bytes.Element == [UInt8] {
        let database = try database()
        let file = try transfers.begin(for: session, beside: database)
        defer { remove(file) }
        try await take(bytes, to: file, atMost: expected.bytes)
        return try await long { interruption in
            try file.seal()
            let length = try file.length()
            guard length == expected.bytes ?? length else {
                throw BridgeError.unfitFile("\(length) bytes of it were received, not \(expected.bytes ?? length)")
            }
            if let sha256 = expected.sha256?.lowercased(), sha256 != (try file.sha256(interruption)) {
                throw BridgeError.unfitFile("it did not arrive as it was sent: its SHA-256 differs")
            }
            return try body(database, file, interruption)
        }
    }

    /// Writes all bytes to a file.
    private func take<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes, to file: TransferFile, atMost most: Int64?
    ) async throws where Bytes.Element == [UInt8] {
        try await parts.run { try file.create() }
        var length: Int64 = 0
        for try await part in bytes {
            length = try await parts.run { [length] in try file.write(part, at: length) }
            if let most, length > most { throw BridgeError.unfitFile("more than \(most) bytes of it were received") }
        }
    }

    /// The result of a restore.
    struct Restored: Codable, Sendable {
        var records: Int64
        /// The path of the replaced database.
        var kept: String
    }

    /// Replaces the store's database.
    ///
    /// - Throws: An error if the database cannot be replaced. Nothing was changed then.
    func restore<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes, _ expected: Expected, of session: SessionID
    ) async throws -> Restored where Bytes.Element == [UInt8] {
        try await use(bytes, expected, of: session) { [store] database, file, interruption in
            try file.release()
            let restored = try RestorableStore(checking: file.path, interruption)
            try interruption.check()
            let swap = StoreSwap(database: database, replacement: file.path)
            return Restored(records: restored.records, kept: try store.replace(with: restored, swap))
        }
    }

    /// Stores the records of an export.
    ///
    /// - Parameters:
    ///   - isDryRun: Whether to store nothing, and only return the expected result.
    ///   - progress: Called on the lane.
    func importRecords<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes, _ expected: Expected, _ selection: Selection, _ ifExists: Import.IfExists, isDryRun: Bool,
        of session: SessionID, user: UInt32,
        progress: @escaping @Sendable (_ done: Import.Outcome, _ all: Int64) -> Void
    ) async throws -> Import.Outcome where Bytes.Element == [UInt8] {
        try await use(bytes, expected, of: session) { [store] database, file, interruption in
            let work = Import(
                file: file, selection: selection, ifExists: ifExists, session: session, user: user,
                interruption: interruption)
            let expected = try work.check(against: database)
            if isDryRun { return expected }
            return try work.carryOut(in: store) { progress($0, expected.records) }
        }
    }
}
