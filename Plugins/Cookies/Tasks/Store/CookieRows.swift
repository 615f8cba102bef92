// Foundation only for `Data`, the type that GRDB uses for bytes.
import Foundation
import GRDB
import HTTPRules

/// The rows of profiles and cookies.
struct CookieRows {
    let database: Database

    /// A profile's row.
    struct ProfileRow {
        var id: Int64
        var version: UInt64
        var pruned: UInt64
        var boot: String
        var isAttended: Bool
    }

    /// Returns the profiles of a uid and the bytes of their cookies.
    func profiles(of uid: UInt32) throws -> [String: Int] {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT profile.name, coalesce(sum(length(cookie.name) + length(cookie.value) + length(cookie.path)
                    + length(cookie.partition)), 0)
                FROM profile LEFT JOIN cookie ON cookie.profile = profile.id WHERE uid = ? GROUP BY profile.id
                """, arguments: [uid])
        return Dictionary(rows.map { ($0[0], $0[1]) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the profiles that must be settled: those of an earlier boot, or with an attached container.
    func unsettled(boot: String) throws -> [ProfileID] {
        try Row.fetchAll(
            database, sql: "SELECT uid, name FROM profile WHERE boot <> ? OR attended <> 0", arguments: [boot]
        ).map { ProfileID(stored: $0[1], of: $0[0]) }
    }

    func profile(_ id: ProfileID) throws -> ProfileRow? {
        try Row.fetchOne(
            database, sql: "SELECT id, version, pruned, boot, attended FROM profile WHERE uid = ? AND name = ?",
            arguments: [id.uid, id.name]
        ).map { row in
            let version: Int64 = row[1]
            let pruned: Int64 = row[2]
            return ProfileRow(
                id: row[0], version: UInt64(clamping: version), pruned: UInt64(clamping: pruned), boot: row[3],
                isAttended: row[4])
        }
    }

    /// Adds a profile.
    ///
    /// - Returns: The number of its row.
    func insert(_ id: ProfileID, version: UInt64, boot: String) throws -> Int64 {
        try database.execute(
            sql: "INSERT INTO profile (uid, name, version, pruned, boot) VALUES (?, ?, ?, ?, ?)",
            arguments: [id.uid, id.name, Int64(clamping: version), Int64(clamping: version), boot])
        return database.lastInsertedRowID
    }

    /// Returns the cookies of a profile in the order in which they were first stored.
    func cookies(of profile: Int64) throws -> [CookieJar.Stored] {
        let rows = try Row.fetchCursor(
            database, sql: "SELECT * FROM cookie WHERE profile = ? ORDER BY id", arguments: [profile])
        var cookies: [CookieJar.Stored] = []
        while let row = try rows.next() {
            guard let key = try key(row) else { continue }
            let created: Int64 = row["created"]
            var cookie = Cookie(
                name: key.name, value: try row.bytes("value"), host: key.host, hostOnly: key.hostOnly, path: key.path,
                created: UnixTime(seconds: created))
            cookie.partition = key.partition
            cookie.expires = (row["expires"] as Int64?).map { UnixTime(seconds: $0) }
            cookie.accessed = UnixTime(seconds: row["accessed"])
            cookie.secure = row["secure"]
            cookie.httpOnly = row["http_only"]
            cookie.sameSite = SameSite(rawValue: row["same_site"]) ?? .unset
            cookie.sourceSecure = row["source_secure"]
            cookie.persist = row["persist"]
            cookie.pin = row["pin"]
            let version: Int64 = row["version"]
            cookies.append(CookieJar.Stored(cookie: cookie, version: UInt64(clamping: version)))
        }
        return cookies
    }

    /// Returns the stored removals of a profile, ordered by version.
    func removals(of profile: Int64) throws -> [CookieChange] {
        let rows = try Row.fetchCursor(
            database, sql: "SELECT * FROM removed WHERE profile = ? ORDER BY version", arguments: [profile])
        var removals: [CookieChange] = []
        while let row = try rows.next() {
            guard let key = try key(row) else { continue }
            let version: Int64 = row["version"]
            let cause = CookieChange.Cause(rawValue: row["cause"]) ?? .deleted
            removals.append(
                CookieChange(
                    version: UInt64(clamping: version), kind: .removed(key, cause), httpOnly: row["http_only"]))
        }
        return removals
    }

    /// Returns the seeds of a profile.
    func seeds(of profile: Int64) throws -> [String: Set<Cookie.Key>] {
        let rows = try Row.fetchCursor(database, sql: "SELECT * FROM seed WHERE profile = ?", arguments: [profile])
        var seeds: [String: Set<Cookie.Key>] = [:]
        while let row = try rows.next() {
            if let key = try key(row) { seeds[row["seed"], default: []].insert(key) }
        }
        return seeds
    }

    /// Returns the key of a row; `nil` if this version does not accept its host.
    private func key(_ row: Row) throws -> Cookie.Key? {
        let text: String = row["host"]
        guard let host = try? Host(ascii: text) else { return nil }
        return Cookie.Key(
            partition: row["partition"], host: host, hostOnly: row["host_only"], path: row["path"],
            name: try row.bytes("name"))
    }
}

extension CookieRows {
    /// Writes changes in their order, and the resulting versions of the profile.
    func write(_ changes: [CookieChange], to profile: Int64, version: UInt64, pruned: UInt64) throws {
        for change in changes {
            switch change.kind {
            case .set(let cookie): try set(cookie, version: change.version, in: profile)
            case .removed(let key, let cause): try remove(key, cause, change, from: profile)
            }
        }
        try execute(
            "UPDATE profile SET version = ?, pruned = ? WHERE id = ?",
            [Int64(clamping: version), Int64(clamping: pruned), profile])
        try execute(
            "DELETE FROM removed WHERE profile = ? AND version <= ?", [profile, Int64(clamping: pruned)])
    }

    /// Writes the times of the last use of cookies.
    func write(accessed: [Cookie.Key: UnixTime], in profile: Int64) throws {
        for (key, time) in accessed {
            try execute(
                "UPDATE cookie SET accessed = ? WHERE " + Self.isKey, [time.seconds] + arguments(of: key, profile))
        }
    }

    /// Writes a seed, or removes it if it has no cookies.
    func write(seed: String, _ keys: Set<Cookie.Key>, of profile: Int64) throws {
        try execute("DELETE FROM seed WHERE profile = ? AND seed = ?", [profile, seed])
        for key in keys {
            try execute(
                """
                INSERT INTO seed (profile, partition, host, host_only, path, name, seed) VALUES (?, ?, ?, ?, ?, ?, ?)
                """, arguments(of: key, profile) + [seed])
        }
    }

    /// Writes the boot of a profile, and whether it has a container.
    func write(boot: String, isAttended: Bool, of profile: Int64) throws {
        try execute("UPDATE profile SET boot = ?, attended = ? WHERE id = ?", [boot, isAttended, profile])
    }

    private static let isKey =
        "profile = ? AND partition = ? AND host = ? AND host_only = ? AND path = ? AND name = ?"

    private func arguments(of key: Cookie.Key, _ profile: Int64) -> StatementArguments {
        [profile, key.partition, key.host.text, key.hostOnly, key.path, Data(key.name)]
    }

    private func set(_ cookie: Cookie, version: UInt64, in profile: Int64) throws {
        let key = arguments(of: cookie.key, profile)
        let rest: StatementArguments = [
            Data(cookie.value), cookie.expires?.seconds, cookie.created.seconds, cookie.accessed.seconds, cookie.secure,
            cookie.httpOnly, cookie.sameSite.rawValue, cookie.sourceSecure, cookie.persist, cookie.pin,
            Int64(clamping: version),
        ]
        try execute(
            """
            INSERT INTO cookie (profile, partition, host, host_only, path, name, value, expires, created, accessed,
                secure, http_only, same_site, source_secure, persist, pin, version)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (profile, partition, host, host_only, path, name) DO UPDATE SET
                value = excluded.value, expires = excluded.expires, created = excluded.created,
                accessed = excluded.accessed, secure = excluded.secure, http_only = excluded.http_only,
                same_site = excluded.same_site, source_secure = excluded.source_secure, persist = excluded.persist,
                pin = excluded.pin, version = excluded.version
            """, key + rest)
    }

    private func remove(
        _ key: Cookie.Key, _ cause: CookieChange.Cause, _ change: CookieChange, from profile: Int64
    ) throws {
        try execute("DELETE FROM cookie WHERE " + Self.isKey, arguments(of: key, profile))
        try execute(
            """
            INSERT INTO removed (profile, partition, host, host_only, path, name, version, http_only, cause)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, arguments(of: key, profile) + [Int64(clamping: change.version), change.httpOnly, cause.rawValue])
    }

    private func execute(_ sql: String, _ arguments: StatementArguments) throws {
        try database.cachedStatement(sql: sql).execute(arguments: arguments)
    }
}

extension Row {
    fileprivate func bytes(_ column: String) throws -> [UInt8] { Array((self[column] as Data?) ?? Data()) }
}
