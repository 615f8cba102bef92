import GRDB
import GRDBSQLite
import HTTPRules
import TaskKit

/// The SQLite database of WebKitGTK for cookies, with the table `moz_cookies`. Here it is in memory. It has neither
/// session cookies nor partitions.
enum WebKitDatabase {
    /// The maximum length of a file that is read. The file is held in memory.
    static let maximumBytes = 16 << 20
    /// The maximum length of a row, which is more than the longest cookie.
    private static let rowBytes = 64 << 10
    /// The maximum number of steps of SQLite's virtual machine for a file. A well-formed file takes some tens for a
    /// cookie.
    private static let maximumSteps: Int32 = 5_000_000
    /// The number of steps after which the limit is checked.
    private static let stepsAtOnce: Int32 = 1000

    private static let mark = Array("SQLite format 3\0".utf8)
    /// The number of bytes that show whether a file is an SQLite database.
    static var markBytes: Int { mark.count }

    static func isDatabase(_ file: [UInt8]) -> Bool { file.starts(with: mark) }

    // MARK: Reading

    /// Reads the cookies of a file. The time depends on its length, so this must not run on the loop.
    ///
    /// - Throws: `options.invalid`, if the file is damaged or has no such table.
    static func read(_ file: [UInt8], at now: UnixTime) throws(BridgeError) -> ImportedCookies {
        var file = file
        // Only the main file of a database in WAL mode is available. It can be read as a database in rollback-journal
        // mode.
        for place in [18, 19] where place < file.count { file[place] = 1 }
        let read = file.withUnsafeMutableBytes { bytes in
            Result<[Row], any Error>(catching: { try rows(of: bytes) })
        }
        do {
            return ImportedCookies(
                rows: try read.get().enumerated().map { ($0.offset + 1, cookie($0.element, at: now)) })
        } catch let error as BridgeError {
            throw error
        } catch {
            // SQLite's message is not passed on, because it may quote the file.
            throw .unfit("$.stream", expected: "a database with the table moz_cookies", got: "one that cannot be read")
        }
    }

    private static let columns = [
        "name", "value", "host", "path", "expiry", "lastAccessed", "isSecure", "isHttpOnly", "sameSite",
    ]

    private static func rows(of bytes: UnsafeMutableRawBufferPointer) throws -> [Row] {
        let queue = try DatabaseQueue()
        // Before the bytes are released.
        defer { try? queue.close() }
        return try queue.inDatabase { database in
            let (base, count) = (bytes.assumingMemoryBound(to: UInt8.self).baseAddress, Int64(bytes.count))
            let code = sqlite3_deserialize(
                database.sqliteConnection, "main", base, count, count, UInt32(SQLITE_DESERIALIZE_READONLY))
            guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
            database.clearSchemaCache()
            return try bounded(database) {
                try database.execute(sql: "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
                let known = try knownColumns(database)
                let list = columns.map { known.contains($0) ? $0 : "NULL AS \($0)" }.joined(separator: ", ")
                let limit = NetscapeCookieFile.maximumCookies
                return try Row.fetchAll(database, sql: "SELECT \(list) FROM moz_cookies ORDER BY rowid LIMIT \(limit)")
            }
        }
    }

    /// Returns the columns of the table. Only a plain table is accepted: a view or a computed column could run forever.
    private static func knownColumns(_ database: Database) throws -> Set<String> {
        let table = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'moz_cookies' AND rootpage > 0"
        let hidden = "SELECT count(*) FROM pragma_table_xinfo('moz_cookies') WHERE hidden <> 0"
        guard try Int.fetchOne(database, sql: table) == 1, try Int.fetchOne(database, sql: hidden) == 0 else {
            throw BridgeError.unfit("$.stream", expected: "a database with the table moz_cookies", got: "another one")
        }
        let names = try String.fetchSet(database, sql: "SELECT name FROM pragma_table_xinfo('moz_cookies')")
        guard names.isSuperset(of: ["name", "value", "host", "path", "expiry"]) else {
            throw BridgeError.unfit("$.stream", expected: "a table of cookies", got: "one without their columns")
        }
        return names
    }

    /// Runs `body` with limits: queries that take too long are ended, and rows that are too long are refused.
    private static func bounded<T>(_ database: Database, _ body: () throws -> T) throws -> T {
        let connection = database.sqliteConnection
        sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, Int32(rowBytes))
        var left = maximumSteps
        return try withUnsafeMutablePointer(to: &left) { left in
            sqlite3_progress_handler(
                connection, stepsAtOnce,
                { context in
                    guard let left = context?.assumingMemoryBound(to: Int32.self) else { return 1 }
                    left.pointee -= WebKitDatabase.stepsAtOnce
                    return left.pointee > 0 ? 0 : 1
                }, left)
            // Before the counter is released.
            defer { sqlite3_progress_handler(connection, 0, nil, nil) }
            return try body()
        }
    }

    /// Returns the cookie of a row; `nil` if the row is not a valid cookie.
    private static func cookie(_ row: Row, at now: UnixTime) -> Cookie? {
        guard let text = string(row, "host"), case let isBelow = text.hasPrefix("."),
            let host = try? Host(ascii: isBelow ? String(text.dropFirst()) : text)
        else { return nil }
        var cookie = Cookie(
            name: Array((string(row, "name") ?? "").utf8), value: Array((string(row, "value") ?? "").utf8),
            host: host, hostOnly: !isBelow || !host.isName, path: string(row, "path") ?? "/", created: now)
        cookie.expires = number(row, "expiry").map { UnixTime(seconds: $0) }
        cookie.accessed = number(row, "lastAccessed").map { min(UnixTime(seconds: $0), now) } ?? now
        cookie.secure = number(row, "isSecure") == 1
        cookie.sourceSecure = cookie.secure
        cookie.httpOnly = number(row, "isHttpOnly") == 1
        // 0 is also stored if the cookie has no attribute SameSite.
        let sameSite: [Int64: SameSite] = [0: cookie.secure ? .none : .unset, 1: .lax, 2: .strict]
        cookie.sameSite = number(row, "sameSite").flatMap { sameSite[$0] } ?? .unset
        return cookie
    }

    /// Returns a value if it has the expected type, because SQLite stores values of any type in a column.
    private static func string(_ row: Row, _ column: String) -> String? {
        let value: DatabaseValue = row[column]
        if case .string(let text) = value.storage { return text }
        return nil
    }

    private static func number(_ row: Row, _ column: String) -> Int64? {
        let value: DatabaseValue = row[column]
        if case .int64(let number) = value.storage { return number }
        return nil
    }

    // MARK: Writing

    /// Returns a file with the cookies that the format can represent.
    ///
    /// - Throws: `storage.failed`, if there is no memory.
    static func write(_ cookies: [Cookie]) throws(BridgeError) -> [UInt8] {
        do {
            let queue = try DatabaseQueue()
            defer { try? queue.close() }
            try queue.write { database in
                try database.execute(
                    sql: """
                        CREATE TABLE moz_cookies (id INTEGER PRIMARY KEY, name TEXT, value TEXT, host TEXT, path TEXT, \
                        expiry INTEGER, lastAccessed INTEGER, isSecure INTEGER, isHttpOnly INTEGER, sameSite INTEGER)
                        """)
                for cookie in cookies { try insert(cookie, into: database) }
            }
            return try queue.inDatabase(serialized)
        } catch {
            throw BridgeError(.storageFailed, "the cookies cannot be written as a database")
        }
    }

    private static func insert(_ cookie: Cookie, into database: Database) throws {
        guard let expires = cookie.expires, cookie.partition.isEmpty,
            let name = String(validating: cookie.name, as: UTF8.self),
            let value = String(validating: cookie.value, as: UTF8.self)
        else { return }
        let sameSite: [SameSite: Int] = [.none: 0, .unset: 1, .lax: 1, .strict: 2]
        let list = columns.joined(separator: ", ")
        try database.execute(
            sql: "INSERT INTO moz_cookies (\(list)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                name, value, (cookie.hostOnly ? "" : ".") + cookie.host.text, cookie.path, expires.seconds,
                cookie.accessed.seconds, cookie.secure ? 1 : 0, cookie.httpOnly ? 1 : 0, sameSite[cookie.sameSite] ?? 1,
            ])
    }

    private static func serialized(_ database: Database) throws -> [UInt8] {
        var count: Int64 = 0
        guard let bytes = sqlite3_serialize(database.sqliteConnection, "main", &count, 0) else {
            throw DatabaseError(resultCode: .SQLITE_NOMEM)
        }
        defer { sqlite3_free(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }
}
