import DurableDatabase
// Foundation for `Data` alone, the form in which GRDB takes bytes.
import Foundation
import GRDB
import Synchronization

/// The accounts and their tokens, in SQLite. What it says was written is on the disk.
///
/// Every method blocks: they are called on a lane of their own, never on the loop. All of them throw `DatabaseFailure`.
final class AccountStore: Sendable {
    private let file: PrivateDatabase
    /// Nil: closed for good.
    private let connection: Mutex<ReopenableConnection<DatabaseQueue, DatabaseFailure>?>
    private let maximumTokens: Int

    /// Opens the file, which only its owner may read, makes it where there is none, and brings its tables up to date.
    ///
    /// - Parameters:
    ///   - now: Tokens that expired before are deleted.
    ///   - maximumTokens: The most tokens that one account has; past it the oldest go. A script that logs in by
    ///     password every minute keeps the last half day's, and the file stays small.
    init(path: String, now: WallTime, maximumTokens: Int = 1000) throws(DatabaseFailure) {
        file = PrivateDatabase(path: path, contents: "the accounts", label: "login") { AccountSchema.migrator }
        self.maximumTokens = maximumTokens
        connection = Mutex(try file.open())
        try write { try Self.deleteExpired($0, now) }
    }

    /// Ends the use of the file. Every later use throws.
    func close() throws(DatabaseFailure) {
        var last = connection.withLock { $0.take() }
        try file.explaining { try last?.take()?.close() }
    }

    /// The account of that name; nil: there is none.
    func account(_ name: UserName) throws(DatabaseFailure) -> Account? {
        try read { database in
            let row = try Row.fetchOne(
                database, sql: "SELECT id, passwordHash FROM account WHERE name = ?", arguments: [name.text])
            return row.map { Account(id: $0["id"], passwordHash: PasswordHash(text: $0["passwordHash"])) }
        }
    }

    /// Adds an account. False: the name is taken.
    func add(_ name: UserName, _ hash: PasswordHash, now: WallTime) throws(DatabaseFailure) -> Bool {
        try execute(
            """
            INSERT INTO account (name, passwordHash, createdAt, passwordChangedAt) VALUES (?, ?, ?, ?)
            ON CONFLICT (name) DO NOTHING
            """, [name.text, hash.text, now.milliseconds, now.milliseconds]) > 0
    }

    /// Gives an account another password and revokes its tokens. False: there is no such account.
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

    /// Removes an account and its tokens. False: there is no such account.
    func remove(_ name: UserName) throws(DatabaseFailure) -> Bool {
        try execute("DELETE FROM account WHERE name = ?", [name.text]) > 0
    }

    /// How many accounts there are.
    func count() throws(DatabaseFailure) -> Int {
        try read { try Int.fetchOne($0, sql: "SELECT count(*) FROM account") ?? 0 }
    }

    /// All accounts, in the order of their names' bytes.
    func list() throws(DatabaseFailure) -> [AccountSummary] {
        try read { database in
            try Row.fetchAll(database, sql: "SELECT name, createdAt, passwordChangedAt FROM account ORDER BY name")
                .map { row in
                    AccountSummary(
                        user: row["name"], createdAt: row["createdAt"],
                        passwordChangedAt: row["passwordChangedAt"])
                }
        }
    }

    /// Gives an account a token, after its password was found right.
    ///
    /// - Parameters:
    ///   - account: As it was when its password was checked.
    ///   - rehashed: The same password's hash at today's cost, to be kept instead of the old one.
    /// - Returns: False: the account is gone, or has had another password since; nothing was written.
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

    /// Whose the token is, and how long; nil: it is unknown, revoked or expired.
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

    /// Makes a token useless. One that is unknown is so already.
    func revoke(_ token: TokenHash) throws(DatabaseFailure) {
        _ = try execute("DELETE FROM token WHERE hash = ?", [token.data])
    }
}

/// What is needed of an account to check a password.
struct Account: Sendable, Hashable {
    let id: Int64
    let passwordHash: PasswordHash
}

/// What is shown of an account. Times in milliseconds since 1970, UTC.
struct AccountSummary: Sendable, Hashable, Codable {
    let user: String
    let createdAt: Int64
    let passwordChangedAt: Int64
}

/// Whose a token is.
struct TokenOwner: Sendable, Hashable {
    let user: UserName
    let expiresAt: WallTime
}

extension AccountStore {
    private static func deleteExpired(_ database: Database, _ now: WallTime) throws {
        try database.execute(sql: "DELETE FROM token WHERE expiresAt <= ?", arguments: [now.milliseconds])
    }

    /// Executes one statement in a transaction of its own; returns how many rows it changed.
    private func execute(_ sql: String, _ arguments: StatementArguments) throws(DatabaseFailure) -> Int {
        try write { database in
            try database.execute(sql: sql, arguments: arguments)
            return database.changesCount
        }
    }

    /// In a transaction that sees one state of the file.
    func read<T>(_ body: (Database) throws -> T) throws(DatabaseFailure) -> T {
        try perform { try $0.read(body) }
    }

    /// In a transaction, which is on the disk when this returns, and undone where `body` throws.
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
    /// As SQLite takes it.
    fileprivate var data: DatabaseValue { bytes.withUnsafeBytes { Data($0) }.databaseValue }
}
