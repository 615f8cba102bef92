import Dispatch
import GRDB
import Synchronization
import TaskKit

/// Stores the records of an export. Lane of copies, whose thread waits for the lane of commits.
struct Import {
    /// The treatment of a record whose key exists already.
    enum IfExists: String, Codable, Sendable, CaseIterable {
        case skip
        case replace
        case fail
    }

    /// The actual or expected result of an import.
    struct Outcome: Codable, Sendable, Equatable {
        /// The number of selected records in the file.
        var records: Int64 = 0
        var created: Int64 = 0
        var replaced: Int64 = 0
        var skipped: Int64 = 0
    }

    let file: TransferFile
    let selection: Selection
    let ifExists: IfExists
    let session: SessionID
    let user: UInt32
    let interruption: Interruption

    /// Reads the whole file, so that an error anywhere in it is found before any record is stored.
    ///
    /// - Returns: The expected result, if no other client stores records in the meantime.
    /// - Throws: `backup.invalid`; with `IfExists.fail`, `record.exists` for the first record whose key exists.
    func check(against store: StoreFile) throws -> Outcome {
        let queue = try store.openSource()
        let connection = StoreConnection(queue)
        defer { connection.close() }
        return try connection.use { database, statements in
            let existing = RecordReader(database, statements, connection.collections)
            var outcome = Outcome()
            try forEachEntry { entry in
                outcome.records += 1
                guard let version = try existing.read(entry.key, in: entry.tablePath, { version, _ in version }) else {
                    outcome.created += 1
                    return
                }
                switch ifExists {
                case .skip: outcome.skipped += 1
                case .replace: outcome.replaced += 1
                case .fail: throw BridgeError.recordExists(entry.key, version: version).of(entry)
                }
            }
            return outcome
        }
    }

    /// Stores the records, a few hundred in one transaction.
    ///
    /// - Parameter progress: Called after each transaction.
    /// - Throws: The error of the store. The records stored before it stay. A repetition with `IfExists.skip` continues
    ///   after them.
    func carryOut(in store: StoreQueue, progress: (Outcome) -> Void) throws -> Outcome {
        var outcome = Outcome()
        var batch: [ExportReader.Entry] = []
        var batchBytes = 0
        func flush() throws {
            try interruption.check()
            do {
                try commit(batch[...], in: store, &outcome)
            } catch let error as BridgeError {
                throw error.after(outcome)
            }
            (batch, batchBytes) = ([], 0)
            progress(outcome)
        }
        try forEachEntry { entry in
            batch.append(entry)
            batchBytes += entry.text.count
            if batch.count >= Limits.importRecords || batchBytes >= Limits.importBytes { try flush() }
        }
        if !batch.isEmpty { try flush() }
        return outcome
    }

    private func forEachEntry(_ body: (ExportReader.Entry) throws -> Void) throws {
        var reader = ExportReader(file)
        var count = 0
        while let entry = try reader.next() {
            count += 1
            if count % Limits.importRecords == 0 { try interruption.check() }
            if selection.contains(entry.tablePath) { try body(entry) }
        }
    }

    /// Stores some records, and waits until they are on disk. All or none are stored, unless the replaced records are
    /// too large for one call: then the records are split.
    private func commit(
        _ batch: ArraySlice<ExportReader.Entry>, in store: StoreQueue, _ outcome: inout Outcome
    ) throws {
        do {
            outcome = try commitAtOnce(batch, in: store, after: outcome)
        } catch let error as BridgeError where error.code == .transactionTooLarge && batch.count > 1 {
            let middle = batch.startIndex + batch.count / 2
            try commit(batch[..<middle], in: store, &outcome)
            try commit(batch[middle...], in: store, &outcome)
        }
    }

    private func commitAtOnce(
        _ batch: ArraySlice<ExportReader.Entry>, in store: StoreQueue, after before: Outcome
    ) throws -> Outcome {
        let made = Mutex(before)
        let ended = DispatchSemaphore(value: 0)
        let end = Mutex<Result<[UInt8], BridgeError>?>(nil)
        let ifExists = ifExists
        let job = StoreJob(session: session, user: user, .write) { access in
            let outcome = try access.records.inSavepoint {
                try batch.reduce(into: before) { try access.records.store($1, ifExists, &$0) }
            }
            made.withLock { $0 = outcome }
        } end: { outcome in
            end.withLock { $0 = outcome }
            ended.signal()
        }
        store.take(job)
        ended.wait()
        _ = try end.withLock { $0 }?.get()
        return made.withLock { $0 }
    }
}

extension RecordStore {
    /// Stores a record of an import.
    fileprivate func store(
        _ entry: ExportReader.Entry, _ ifExists: Import.IfExists, _ outcome: inout Import.Outcome
    ) throws {
        do {
            _ = try create(entry.key, entry.text, in: entry.tablePath)
            outcome.created += 1
        } catch let error as BridgeError where error.code == .recordExists {
            switch ifExists {
            case .skip: outcome.skipped += 1
            case .replace:
                _ = try update(entry.key, in: entry.tablePath, ifVersion: nil) { _ in entry.text }
                outcome.replaced += 1
            case .fail: throw error.of(entry)
            }
        }
        outcome.records += 1
    }
}

extension BridgeError {
    /// Returns the error with the line of the record and the path in it.
    fileprivate func of(_ entry: ExportReader.Entry) -> BridgeError {
        var error = self
        var data = data?.objectValue ?? JSONObject()
        data["line"] = .number(JSONNumber(entry.line))
        data["path"] = "$.key"
        error.data = .object(data)
        error.message = "line \(entry.line): $.key: \(message)"
        return error
    }

    /// Returns the error with the number of records that were stored before it.
    fileprivate func after(_ outcome: Import.Outcome) -> BridgeError {
        if outcome.records == 0 { return self }
        var error = self
        var data = data?.objectValue ?? JSONObject()
        data["stored"] = JSON(outcome.records)
        error.data = .object(data)
        error.message += "; the \(outcome.records) records before it are stored; a repetition can skip them"
        return error
    }
}
