import GRDB
import Synchronization
import TaskKit

/// Backups and exports, restores and imports, of an open store. Each of them is made in, or read from, a file beside
/// the database, which travels over the bridge in parts.
///
/// Any thread. What takes long happens on a lane of its own, one after the other, and so does the removal of files:
/// none is removed while something is at work on its path.
final class StoreCopies: Sendable {
    private let store: Store
    private let transfers = TransferRegistry()
    private let lane = BlockingThreads(batch: "records-copies")
    /// For what takes no longer than a part of a file.
    private let parts = BlockingThreads(batch: "records-parts")
    private let storeFile = Mutex<StoreFile?>(nil)

    init(store: Store) { self.store = store }

    // MARK: Beginning and end

    /// From here on copies are made of this database, which is open.
    func open(_ file: StoreFile) { storeFile.withLock { $0 = file } }

    /// Ends what is under way. To be called before the store is closed.
    func close() async {
        storeFile.withLock { $0 = nil }
        transfers.takeAll().forEach(remove)
        // Behind whatever was under way; a part first, for it may hand its file's removal to the lane.
        try? await parts.run {}
        try? await lane.run {}
    }

    /// Ends what belongs to a session that is gone.
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

    /// Does long work on the lane. Its statements are interrupted where the Swift task is cancelled.
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

    /// A copy that is ready to be read.
    struct Download: Codable, Sendable {
        var download: UInt64
        var bytes: Int64
        var sha256: String
        var records: Int64
    }

    /// Makes a copy of the database.
    func backUp(for session: SessionID) async throws -> Download {
        try await makeDownload(for: session) { database, file, interruption in
            try Backup.make(of: database, at: file.path, interruption)
        }
    }

    /// Writes records as lines of JSON.
    func export(_ selection: Selection, for session: SessionID) async throws -> Download {
        try await makeDownload(for: session) { database, file, interruption in
            try Export.make(of: database, selection, to: file, interruption)
        }
    }

    private func makeDownload(
        for session: SessionID,
        _ make: @escaping @Sendable (StoreFile, TransferFile, Interruption) throws -> Int64
    ) async throws -> Download {
        let database = try database()
        let file = try transfers.begin(.download, for: session, beside: database)
        do {
            return try await long { interruption in
                try file.create()
                let records = try make(database, file, interruption)
                try file.seal()
                return Download(
                    download: file.id, bytes: try file.length(), sha256: try file.sha256(interruption),
                    records: records)
            }
        } catch {
            remove(file)
            throw error
        }
    }

    /// The file of a download, to be read from where it may block.
    func download(_ id: UInt64, of session: SessionID) throws(BridgeError) -> TransferFile {
        try transfers.find(id, .download, of: session)
    }

    func endDownload(_ id: UInt64, of session: SessionID) throws(BridgeError) {
        remove(try transfers.take(id, .download, of: session))
    }

    // MARK: In

    /// Begins an upload. Its file is still to be created, where that may block.
    func beginUpload(for session: SessionID) throws(BridgeError) -> TransferFile {
        try transfers.begin(.upload, for: session, beside: try database())
    }

    /// The file of an upload, to be written to where it may block.
    func upload(_ id: UInt64, of session: SessionID) throws(BridgeError) -> TransferFile {
        try transfers.find(id, .upload, of: session)
    }

    /// Does something with a part of a file, behind what was asked for before.
    func onLaneOfParts(_ body: @escaping @Sendable () -> Void) { parts.submit(body) }

    func endUpload(_ id: UInt64, of session: SessionID) throws(BridgeError) {
        remove(try transfers.take(id, .upload, of: session))
    }

    /// What an upload must be to be used: as it was sent.
    struct Expected: Sendable {
        var bytes: Int64
        /// Nil: not compared.
        var sha256: String?
    }

    /// Uses up an upload, once it is found to be as it was sent.
    private func use<T: Sendable>(
        upload id: UInt64, _ expected: Expected, of session: SessionID,
        _ body: @escaping @Sendable (StoreFile, TransferFile, Interruption) throws -> T
    ) async throws -> T {
        let database = try database()
        let file = try transfers.take(id, .upload, of: session)
        defer { remove(file) }
        return try await long { interruption in
            try file.seal()
            let length = try file.length()
            guard length == expected.bytes else {
                throw BridgeError.unfitUpload("\(length) bytes of it came, not \(expected.bytes)")
            }
            if let sha256 = expected.sha256?.lowercased(), sha256 != (try file.sha256(interruption)) {
                throw BridgeError.unfitUpload("it did not arrive as it was sent: its SHA-256 differs")
            }
            return try body(database, file, interruption)
        }
    }

    /// What became of a restore.
    struct Restored: Codable, Sendable {
        var records: Int64
        /// Where the database lies that was replaced.
        var kept: String
    }

    /// Puts an uploaded database in the place of the store's.
    ///
    /// - Throws: Where it throws, nothing was changed.
    func restore(upload id: UInt64, _ expected: Expected, of session: SessionID) async throws -> Restored {
        try await use(upload: id, expected, of: session) { [store] database, file, interruption in
            try file.release()
            let restored = try RestorableStore(checking: file.path, interruption)
            try interruption.check()
            let swap = StoreSwap(database: database, replacement: file.path)
            return Restored(records: restored.records, kept: try store.replace(with: restored, swap))
        }
    }

    /// Stores the records of an uploaded export.
    ///
    /// - Parameters:
    ///   - isDryRun: Stores nothing, and returns what would become of them.
    ///   - progress: Called on the lane.
    func importRecords(
        upload id: UInt64, _ expected: Expected, _ selection: Selection, _ ifExists: Import.IfExists, isDryRun: Bool,
        of session: SessionID, user: UInt32,
        progress: @escaping @Sendable (_ done: Import.Outcome, _ all: Int64) -> Void
    ) async throws -> Import.Outcome {
        try await use(upload: id, expected, of: session) { [store] database, file, interruption in
            let work = Import(
                file: file, selection: selection, ifExists: ifExists, session: session, user: user,
                interruption: interruption)
            let expected = try work.check(against: database)
            if isDryRun { return expected }
            return try work.carryOut(in: store) { progress($0, expected.records) }
        }
    }
}
