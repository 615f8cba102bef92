import Foundation
import GRDB
import HTTPRules
import Sodium

/// The recovery after an unclean shutdown. Bodies are not flushed to the disk. A process that is killed loses none of
/// them, but a machine that loses power may lose recent ones.
struct CacheRecovery {
    /// The time in seconds before the last stored response. Bodies of that time are not trusted until they were
    /// checked.
    static let doubtful: Int64 = 600
    /// The number of bytes that are hashed at a time.
    private static let stepBytes = 64 << 10

    let database: Database
    let folder: BodyFolder

    /// An entry whose file is not trusted.
    struct Suspect {
        var id: Int64
        var file: String
        var held: HeldBytes
        var hash: [UInt8]
    }

    /// Marks the store as open, and recovers it if it was already marked.
    func begin() throws {
        let isClean = try Bool.fetchOne(database, sql: "SELECT clean FROM state") ?? false
        try database.execute(sql: "UPDATE state SET clean = 0")
        if !isClean { try recover() }
    }

    private func recover() throws {
        let files = folder.all()
        var named: Set<String> = []
        var lost: [Int64] = []
        let rows = try Row.fetchCursor(database, sql: "SELECT id, file, held FROM entry WHERE file IS NOT NULL")
        while let row = try rows.next() {
            let name: String = row[1]
            named.insert(name)
            let end = HeldBytes(text: row[2] as String)?.pieces.last?.upperBound
            if let end, let length = files[name], length >= end { continue }
            lost.append(row[0])
            folder.remove(name)
        }
        for id in lost { try database.execute(sql: "DELETE FROM entry WHERE id = ?", arguments: [id]) }
        for name in files.keys where !named.contains(name) { folder.remove(name) }
        try doubt()
    }

    /// Marks recent bodies as suspect. Bodies that were assembled from pieces have no hash and are removed.
    private func doubt() throws {
        let late = "file IS NOT NULL AND stored_at >= (SELECT max(stored_at) FROM entry) - \(Self.doubtful)"
        let rows = try Row.fetchAll(
            database, sql: "DELETE FROM entry WHERE \(late) AND body_hash IS NULL RETURNING file")
        for row in rows { folder.remove(row[0]) }
        try database.execute(sql: "UPDATE entry SET suspect = 1 WHERE \(late)")
    }

    /// Returns the entries among these whose files are not trusted.
    func suspects(of entries: [CacheEntry]) throws -> [Suspect] {
        var suspects: [Suspect] = []
        for entry in entries {
            guard case .file = entry.body else { continue }
            let statement = try database.cachedStatement(
                sql: "SELECT file, body_hash FROM entry WHERE id = ? AND suspect <> 0")
            guard let row = try Row.fetchOne(statement, arguments: [entry.response.id]) else { continue }
            let hash: Data? = row[1]
            suspects.append(
                Suspect(
                    id: entry.response.id, file: row[0], held: entry.response.body, hash: hash.map { Array($0) } ?? []))
        }
        return suspects
    }

    /// Returns whether a file contains the bytes that were stored.
    static func isWhole(_ suspect: Suspect, in folder: BodyFolder) -> Bool {
        guard let file = folder.open(suspect.file) else { return false }
        let hash = BLAKE2b()
        for piece in suspect.held.pieces {
            var place = piece.lowerBound
            while place < piece.upperBound {
                let count = Int(min(Int64(stepBytes), piece.upperBound - place))
                guard let bytes = try? file.read(count, at: place), bytes.count == count else { return false }
                bytes.withUnsafeBytes { hash.update($0) }
                place += Int64(count)
            }
        }
        return hash.finish() == suspect.hash
    }
}
