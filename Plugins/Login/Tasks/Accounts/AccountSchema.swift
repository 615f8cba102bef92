import GRDB

/// The tables of `accounts.sqlite`.
enum AccountSchema {
    /// The migrations. Append-only: a published migration is never changed, renamed or removed.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("accounts") { try $0.execute(sql: accounts) }
        return migrator
    }

    /// The first migration. Times are milliseconds since 1970 in UTC. Names compare byte for byte, as SQLite does by
    /// default.
    ///
    /// `token`: only the hash is stored. A token is deleted with its account.
    private static let accounts = """
        CREATE TABLE account (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            passwordHash TEXT NOT NULL,
            createdAt INTEGER NOT NULL,
            passwordChangedAt INTEGER NOT NULL
        ) STRICT;

        CREATE TABLE token (
            id INTEGER PRIMARY KEY,
            hash BLOB NOT NULL UNIQUE,
            account INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
            createdAt INTEGER NOT NULL,
            expiresAt INTEGER NOT NULL
        ) STRICT;

        CREATE INDEX token_account ON token (account);
        CREATE INDEX token_expiry ON token (expiresAt);
        """
}
