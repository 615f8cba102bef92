import DurableDatabase
import GRDB
import HTTPRules
import Sodium
import TaskKit

/// The stored responses of all users, on the disk. What fails here fails for the store alone: nothing is found, or
/// nothing is stored. One thread at a time; every method may wait for the disk.
struct CacheStore: Sendable {
    /// How long the times of use wait to be written.
    static let tidying: Int64 = 30
    /// How long the log does not repeat a message.
    static let quiet: Int64 = 60
    /// How many pages of the file are given back at a time.
    static let freedPages = 64
    /// A body that is longer goes into a file.
    static let rowBytes = 32 << 10

    private(set) var settings: CacheSettings
    let folder: BodyFolder
    private let file: CacheFile
    private let now: @Sendable () -> UnixTime
    private let log: @Sendable (String) -> Void
    private var queue: DatabaseQueue
    /// When entries were used that the rows do not say yet.
    private var used: [Int64: UnixTime] = [:]
    private var tidied: UnixTime
    private var warned: UnixTime?
    private(set) var evicted = 0
    /// Whether the last failure was for want of room.
    private var isFull = false

    /// Opens the store in a directory, and removes what an unclean end has left.
    ///
    /// - Parameters:
    ///   - directory: That of the plugin.
    ///   - settings: How much it holds.
    ///   - now: The time.
    ///   - log: Gets sentences for the operator.
    /// - Throws: Where it cannot be used.
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

    /// What is stored of a URL. Bodies that may not have reached the disk are checked first.
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

    /// Notes that entries were used.
    mutating func note(used ids: some Sequence<Int64>) {
        let now = now()
        for id in ids { used[id] = now }
    }

    // MARK: Writing

    /// Stores a response in place of the one of its variant.
    ///
    /// - Returns: The entry; nil where it was not stored.
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
    ///   - entry: The entry, with its new fields, and the bytes that it has had.
    ///   - range: Where the bytes belong.
    ///   - bytes: They, or a file that has them at this place.
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

    /// The body of an entry as the row has it now; nil: the entry is gone, or has other bytes than it had.
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

    /// Removes all that is stored of a URL.
    mutating func remove(at address: CacheAddress) { attempt { try $0.write { try $0.remove(at: address) } } }

    /// Removes entries.
    mutating func remove(ids: [Int64]) { update([], remove: ids) }

    /// Takes over other limits.
    mutating func configure(_ settings: CacheSettings) {
        self.settings = settings
        attempt { try $0.write { try $0.evict(settings, after: nil) } }
    }

    /// Does something with all that is stored; nil where the storage fails.
    mutating func perform<T>(_ body: (inout CacheRows) throws -> T) -> T? { attempt { try $0.write(body) } }

    // MARK: The end

    /// Writes what is left, and closes the file.
    mutating func close() {
        attempt { store in
            try store.write { rows in try rows.execute("UPDATE state SET clean = 1", []) }
        }
        try? queue.close()
    }

    // MARK: Transactions and failures

    /// Reads; nobody else writes. GRDB's own `read` sets a pragma, whereupon SQLite prepares all kept statements again.
    private func read<T>(_ body: (Database) throws -> T) throws -> T { try queue.unsafeRead(body) }

    /// A transaction, and the removal of the files that it has left without entries.
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

    /// Does something with the storage; nil where that fails.
    @discardableResult
    private mutating func attempt<T>(_ body: (inout CacheStore) throws -> T) -> T? {
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
        guard CacheFile.isDamage(error) else { return }
        try? queue.close()
        guard let next = try? file.open(onDamage: log) else { return }
        queue = next
        let folder = folder
        try? queue.write { try CacheRecovery(database: $0, folder: folder).begin() }
    }
}

extension CacheEntry {
    /// The bytes that are in the row.
    fileprivate var bytesInRow: [UInt8] { if case .bytes(let bytes) = body { bytes } else { [] } }
}
