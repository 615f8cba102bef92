import DurableDatabase
// Foundation only for `Data`, the form in which GRDB takes bytes.
import Foundation
import GRDB
import Synchronization

/// The accounts and their tokens, in SQLite. A write is on the disk when its method returns.
///
/// Every method blocks: call them on the store's own thread, never on the loop. All of them throw `DatabaseFailure`.
final class AccountStore: Sendable {
    private let file: PrivateDatabase
    /// The connection; `nil` once the store is closed.
    private let connection: Mutex<ReopenableConnection<DatabaseQueue, DatabaseFailure>?>
    private let maximumTokens: Int

    /// Opens the file, which only its owner may read. Creates it if it does not exist, and migrates its tables.
    ///
    /// - Parameters:
    ///   - now: The current time. Tokens that have expired are deleted.
    ///   - maximumTokens: The maximum number of tokens of one account; beyond it the oldest are deleted. A script that
    ///     logs in by password every minute keeps the tokens of the last half day, and the file stays small.
    init(path: String, now: WallTime, maximumTokens: Int = 1000) throws(DatabaseFailure) {
        file = PrivateDatabase(path: path, contents: "the accounts", label: "login") { AccountSchema.migrator }
        self.maximumTokens = maximumTokens
        connection = Mutex(try file.open())
        try write { try Self.deleteExpired($0, now) }
    }

    /// Closes the file. Every later use throws.
    func close() throws(DatabaseFailure) {
        var last = connection.withLock { $0.take() }
        try file.explaining { try last?.take()?.close() }
    }

    /// Returns the account with that name; `nil` if it does not exist.
    func account(_ name: UserName) throws(DatabaseFailure) -> Account? {
        try read { database in
            let row = try Row.fetchOne(
                database, sql: "SELECT id, passwordHash FROM account WHERE name = ?", arguments: [name.text])
            return row.map { Account(id: $0["id"], passwordHash: PasswordHash(text: $0["passwordHash"])) }
        }
    }

    /// Adds an account. Returns false if the name is in use.
    func add(_ name: UserName, _ hash: PasswordHash, now: WallTime) throws(DatabaseFailure) -> Bool {
        try execute(
            """
            INSERT INTO account (name, passwordHash, createdAt, passwordChangedAt) VALUES (?, ?, ?, ?)
            ON CONFLICT (name) DO NOTHING
            """, [name.text, hash.text, now.milliseconds, now.milliseconds]) > 0
    }

    /// Changes an account's password and revokes its tokens. Returns false if there is no such account.
    func setPassword(_ name: UserName, _ hash: PasswordHash, now: WallTime) throws(DatabaseFailure) -> Bool {
        try write { database in
            try database.execute(
                sql: "UPDATE account SET passwordHash = ?, passwordChangedAt = ? WHERE name = ?",
                arguments: [hash.text, now.milliseconds, name.text])
            if database.changesCount == 0 { return false }
            try database.execute(
                sql: "DELETE FROM token WHERE account = (SELECT id FROM account WHERE name = ?)",
                arguments: [name.text])
            return true
        }
    }

    /// Removes an account and its tokens. Returns false if there is no such account.
    func remove(_ name: UserName) throws(DatabaseFailure) -> Bool {
        try execute("DELETE FROM account WHERE name = ?", [name.text]) > 0
    }

    /// Returns the number of accounts.
    func count() throws(DatabaseFailure) -> Int {
        try read { try Int.fetchOne($0, sql: "SELECT count(*) FROM account") ?? 0 }
    }

    /// Returns accounts in the order of their names' bytes.
    ///
    /// - Parameters:
    ///   - last: The name after which they follow; `nil` from the first one on.
    ///   - limit: The maximum number of accounts.
    func list(after last: UserName?, limit: Int) throws(DatabaseFailure) -> [AccountSummary] {
        try read { database in
            // No name is empty.
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT name, createdAt, passwordChangedAt FROM account WHERE name > ? ORDER BY name LIMIT ?
                    """, arguments: [last?.text ?? "", limit])
            return rows.map { row in
                AccountSummary(
                    user: row["name"], createdAt: row["createdAt"], passwordChangedAt: row["passwordChangedAt"])
            }
        }
    }

    /// Adds a token to an account after its password was verified.
    ///
    /// - Parameters:
    ///   - account: The account as it was when its password was checked.
    ///   - rehashed: The hash of the same password at the current cost, which replaces the stored one; `nil` to keep
    ///     it.
    /// - Returns: False if the account was removed, or its password changed, since then; nothing was written.
    func issue(
        _ token: TokenHash, to account: Account, rehashed: PasswordHash?, now: WallTime, expiresAt: WallTime
    ) throws(DatabaseFailure) -> Bool {
        try write { database in
            try Self.deleteExpired(database, now)
            try database.execute(
                sql: "UPDATE account SET passwordHash = ? WHERE id = ? AND passwordHash = ?",
                arguments: [(rehashed ?? account.passwordHash).text, account.id, account.passwordHash.text])
            if database.changesCount == 0 { return false }
            try database.execute(
                sql: "INSERT INTO token (hash, account, createdAt, expiresAt) VALUES (?, ?, ?, ?)",
                arguments: [token.data, account.id, now.milliseconds, expiresAt.milliseconds])
            try database.execute(
                sql: """
                    DELETE FROM token WHERE id IN
                        (SELECT id FROM token WHERE account = ? ORDER BY id DESC LIMIT -1 OFFSET ?)
                    """, arguments: [account.id, maximumTokens])
            return true
        }
    }

    /// Returns the token's user and expiry; `nil` if the token is unknown, revoked or expired.
    func owner(of token: TokenHash, now: WallTime) throws(DatabaseFailure) -> TokenOwner? {
        try read { database in
            let row = try Row.fetchOne(
                database,
                sql: """
                    SELECT account.name, token.expiresAt FROM token JOIN account ON account.id = token.account
                    WHERE token.hash = ? AND token.expiresAt > ?
                    """, arguments: [token.data, now.milliseconds])
            guard let row, let user = UserName(row["name"]) else { return nil }
            return TokenOwner(user: user, expiresAt: WallTime(milliseconds: row["expiresAt"]))
        }
    }

    /// Revokes a token. Does nothing for an unknown one.
    func revoke(_ token: TokenHash) throws(DatabaseFailure) {
        _ = try execute("DELETE FROM token WHERE hash = ?", [token.data])
    }
}

/// The fields of an account that a password check needs.
struct Account: Sendable, Hashable {
    let id: Int64
    let passwordHash: PasswordHash
}

/// The visible fields of an account. Times in milliseconds since 1970, UTC.
struct AccountSummary: Sendable, Hashable, Codable {
    let user: String
    let createdAt: Int64
    let passwordChangedAt: Int64
}

/// The user and the expiry of a token.
struct TokenOwner: Sendable, Hashable {
    let user: UserName
    let expiresAt: WallTime
}

extension AccountStore {
    private static func deleteExpired(_ database: Database, _ now: WallTime) throws {
        try database.execute(sql: "DELETE FROM token WHERE expiresAt <= ?", arguments: [now.milliseconds])
    }

    /// Executes one statement in its own transaction; returns the number of changed rows.
    private func execute(_ sql: String, _ arguments: StatementArguments) throws(DatabaseFailure) -> Int {
        try write { database in
            try database.execute(sql: sql, arguments: arguments)
            return database.changesCount
        }
    }

    /// Runs `body` in a transaction that sees one state of the file.
    func read<T>(_ body: (Database) throws -> T) throws(DatabaseFailure) -> T {
        try perform { try $0.read(body) }
    }

    /// Runs `body` in a transaction. It is on the disk when this returns, and rolled back if `body` throws.
    private func write<T>(_ body: (Database) throws -> T) throws(DatabaseFailure) -> T {
        try perform { try $0.write(body) }
    }

    private func perform<T>(_ body: (DatabaseQueue) throws -> T) throws(DatabaseFailure) -> T {
        let queue = try connection.withLock { connection throws(DatabaseFailure) in
            guard let queue = try connection?.usable() else {
                throw DatabaseFailure("the accounts in \(file.path) are closed")
            }
            return queue
        }
        do throws(DatabaseFailure) {
            return try file.explaining { try body(queue) }
        } catch {
            let failed = connection.withLock { $0?.fail(error, next: file.next(after: queue)) }
            try? failed?.close()
            throw error
        }
    }
}

extension TokenHash {
    /// The hash as an SQLite value.
    fileprivate var data: DatabaseValue { bytes.withUnsafeBytes { Data($0) }.databaseValue }
}
