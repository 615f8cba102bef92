import DurableDatabase
import GRDB
import HTTPRules
import Sodium
import TaskKit

/// The stored responses of all users, on the disk. A failure affects only the store: then nothing is found or stored.
/// One thread at a time. Every method may wait for the disk.
struct CacheStore: Sendable {
    /// The interval in seconds at which the times of use are written.
    static let tidying: Int64 = 30
    /// The time in seconds during which the log does not repeat a message.
    static let quiet: Int64 = 60
    /// The number of pages of the file that are freed at a time.
    static let freedPages = 64
    /// The maximum length of a body in a row. A longer body is written into a file.
    static let rowBytes = 32 << 10

    private(set) var settings: CacheSettings
    let folder: BodyFolder
    private let file: CacheFile
    private let now: @Sendable () -> UnixTime
    private let log: @Sendable (String) -> Void
    private var queue: DatabaseQueue
    /// The times of use that the rows do not contain yet.
    private var used: [Int64: UnixTime] = [:]
    private var tidied: UnixTime
    private var warned: UnixTime?
    private(set) var evicted = 0
    /// Whether the last failure was a full disk.
    private var isFull = false
    /// The time at which the file could not be opened again after a damage; `nil` if it is open.
    private var closed: UnixTime?
    /// How often the file was opened again. Entries and their numbers may be different after that.
    private(set) var reopenings = 0

    /// Opens the store in a directory, and recovers it after an unclean shutdown.
    ///
    /// - Parameters:
    ///   - directory: The plugin's directory.
    ///   - settings: The size limits.
    ///   - now: Returns the current time.
    ///   - log: Receives messages for the operator.
    /// - Throws: If the store cannot be used.
    init(
        directory: String, settings: CacheSettings, now: @escaping @Sendable () -> UnixTime,
        log: @escaping @Sendable (String) -> Void
    ) throws {
        (self.settings, self.now, self.log) = (settings, now, log)
        folder = BodyFolder(path: directory + "/fetch-cache")
        file = CacheFile(path: directory + "/fetch.sqlite")
        tidied = now()
        try folder.prepare()
        queue = try file.open(onDamage: log)
        let folder = folder
        try queue.write { try CacheRecovery(database: $0, folder: folder).begin() }
        try write { try $0.evict(settings, after: nil) }
    }

    // MARK: Reading

    /// Returns the entries of a URL. Bodies that may not have reached the disk are checked first.
    mutating func entries(at address: CacheAddress) -> [CacheEntry] {
        attempt { store in
            let folder = store.folder
            let (entries, suspects) = try store.read { database in
                let entries = try CacheRows(database).entries(at: address)
                return (entries, try CacheRecovery(database: database, folder: folder).suspects(of: entries))
            }
            guard !suspects.isEmpty else { return entries }
            let lost = suspects.filter { !CacheRecovery.isWhole($0, in: folder) }.map(\.id)
            try store.write { rows in
                for id in lost { try rows.remove(id: id) }
                for one in suspects { try rows.execute("UPDATE entry SET suspect = 0 WHERE id = ?", [one.id]) }
            }
            return entries.filter { !lost.contains($0.response.id) }
        } ?? []
    }

    /// Records that entries were used.
    mutating func note(used ids: some Sequence<Int64>) {
        let now = now()
        for id in ids { used[id] = now }
    }

    // MARK: Writing

    /// Stores a response and removes the one of the same variant.
    ///
    /// - Returns: The entry; `nil` if it was not stored.
    mutating func insert(_ new: NewCacheEntry) -> CacheEntry? {
        var entry = CacheEntry(
            response: new.response, reason: new.reason, version: new.version, body: .bytes([]))
        var hash: [UInt8]?
        return attempt { (store) -> CacheEntry? in
            switch new.body {
            case .bytes(let bytes): entry.body = .bytes(bytes)
            case .file(let file, let sum):
                try store.folder.adopt(file)
                entry.body = .file(file.name)
                hash = sum
            }
            guard entry.storedBytes(of: new.url.text) <= store.settings.originBytes else {
                store.discard(entry.body)
                return nil
            }
            let (settings, now, made) = (store.settings, store.now(), entry)
            do {
                return try store.write { rows in
                    let stored = try rows.insert(made, at: new.address, new.url, hash: hash, now: now)
                    try rows.evict(settings, after: stored.response.id)
                    return stored
                }
            } catch {
                store.discard(entry.body)
                throw error
            }
        } ?? nil
    }

    private func discard(_ body: CacheEntry.Body) { if case .file(let name) = body { folder.remove(name) } }

    /// Changes the fields of entries, and removes others.
    mutating func update(_ responses: [StoredResponse], remove ids: [Int64]) {
        let settings = settings
        attempt { store in
            try store.write { rows in
                for id in ids { try rows.remove(id: id) }
                for response in responses {
                    try rows.update(response)
                    try rows.evict(settings, after: response.id)
                }
            }
        }
    }

    /// Adds bytes to the body of an entry.
    ///
    /// - Parameters:
    ///   - entry: The entry, with its new fields and its previous ranges of bytes.
    ///   - range: The position of the bytes in the body.
    ///   - bytes: The bytes, or a file that has them at this position.
    mutating func join(_ entry: CacheEntry, _ range: Range<Int64>, _ bytes: NewCacheEntry.Body) {
        guard let held = entry.response.body.adding(range, length: nil) else { return }
        attempt { store in
            var joined = entry
            joined.response.body = held
            guard let current = try store.current(entry) else { return }
            let merge = BodyMerge(folder: store.folder, old: current, held: entry.response.body)
            joined.body = try merge.adding(range, of: bytes)
            let (settings, now, made) = (store.settings, store.now(), joined)
            do {
                try store.write { rows in
                    try rows.update(made.response)
                    try rows.replaceBody(of: made, now: now)
                    try rows.evict(settings, after: made.response.id)
                }
            } catch {
                if made.body != current { store.discard(made.body) }
                throw error
            }
        }
    }

    /// Returns the current body of an entry; `nil` if the entry was removed or has other ranges of bytes now.
    private func current(_ entry: CacheEntry) throws -> CacheEntry.Body? {
        try read { database in
            guard
                let row = try Row.fetchOne(
                    database, sql: "SELECT held, body, file FROM entry WHERE id = ?", arguments: [entry.response.id]),
                row[0] == entry.response.body.text
            else { return nil }
            if let file: String = row[2] { return .file(file) }
            return .bytes(entry.bytesInRow)
        }
    }

    /// Removes all entries of a URL.
    mutating func remove(at address: CacheAddress) { attempt { try $0.write { try $0.remove(at: address) } } }

    /// Removes entries.
    mutating func remove(ids: [Int64]) { update([], remove: ids) }

    /// Applies other limits.
    mutating func configure(_ settings: CacheSettings) {
        self.settings = settings
        attempt { try $0.write { try $0.evict(settings, after: nil) } }
    }

    /// Runs a transaction on all rows; returns `nil` if the storage fails.
    mutating func perform<T>(_ body: (inout CacheRows) throws -> T) -> T? { attempt { try $0.write(body) } }

    // MARK: The end

    /// Writes the remaining changes, and closes the file.
    mutating func close() {
        attempt { store in
            try store.write { rows in try rows.execute("UPDATE state SET clean = 1", []) }
        }
        try? queue.close()
    }

    // MARK: Transactions and failures

    /// Reads the database. This needs no isolation, because no other thread writes. GRDB's own `read` sets a pragma,
    /// after which SQLite prepares all cached statements again.
    private func read<T>(_ body: (Database) throws -> T) throws -> T { try queue.unsafeRead(body) }

    /// Runs a transaction, and then removes the files whose entries it has removed.
    private mutating func write<T>(_ body: (inout CacheRows) throws -> T) throws -> T {
        let (used, now) = (used, now())
        let (result, files, evicted) = try queue.write { database in
            var rows = CacheRows(database)
            if now.seconds - tidied.seconds >= Self.tidying || now < tidied || used.count > 10_000 {
                try rows.write(used: used)
            }
            let result = try body(&rows)
            return (result, rows.removedFiles, rows.evicted)
        }
        for name in files { folder.remove(name) }
        self.evicted += evicted
        if now.seconds - tidied.seconds >= Self.tidying || now < tidied || used.count > 10_000 {
            (self.used, tidied) = ([:], now)
            try? queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA incremental_vacuum(\(Self.freedPages))") }
        }
        return result
    }

    /// Runs an operation on the storage; returns `nil` if it fails.
    @discardableResult
    private mutating func attempt<T>(_ body: (inout CacheStore) throws -> T) -> T? {
        guard closed == nil || reopenIfDue() else { return nil }
        do {
            let result = try body(&self)
            isFull = false
            return result
        } catch {
            note(error)
            return nil
        }
    }

    private mutating func note(_ error: any Error) {
        isFull = (error as? DatabaseError)?.isFull ?? (error as? BodyFile.Failure)?.isFull ?? false
        let now = now()
        if warned.map({ now.seconds - $0.seconds >= Self.quiet || now < $0 }) ?? true {
            warned = now
            log(isFull ? "nothing is cached: the disk is full" : "the cache in \(file.path) fails: \(error)")
        }
        if CacheFile.isDamage(error) { _ = reopen() }
    }

    private mutating func reopenIfDue() -> Bool {
        let now = now()
        if let closed, now.seconds - closed.seconds < Self.quiet, now >= closed { return false }
        return reopen()
    }

    /// Opens the file again. If that fails, nothing is found or stored, and it is tried again after ``quiet`` seconds.
    private mutating func reopen() -> Bool {
        reopenings += 1
        try? queue.close()
        do {
            queue = try file.open(onDamage: log)
            let folder = folder
            try queue.write { try CacheRecovery(database: $0, folder: folder).begin() }
            closed = nil
        } catch {
            closed = now()
            log("nothing is cached: \(file.path) cannot be opened again: \(error)")
        }
        return closed == nil
    }
}

extension CacheEntry {
    /// The bytes in the row.
    fileprivate var bytesInRow: [UInt8] { if case .bytes(let bytes) = body { bytes } else { [] } }
}
