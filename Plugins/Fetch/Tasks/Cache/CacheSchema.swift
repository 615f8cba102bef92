import GRDB

/// The tables of `fetch.sqlite`.
enum CacheSchema {
    /// The migrations. The list is append-only: a published migration is never changed, renamed or removed.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("cache") { try $0.execute(sql: cache) }
        return migrator
    }

    /// Times are seconds since 1970 in UTC.
    ///
    /// `state`: whether the last process closed the store properly. A new file begins with 0, because the folder may
    /// contain bodies of an older file.
    ///
    /// `entry`: `held` contains the stored ranges of the body. Their bytes are in `body`, or in the file that `file`
    /// names. `suspect` marks a file that may not have reached the disk before the process or the machine ended.
    ///
    /// `account`, `usage`: the totals of a uid, and of an origin in a partition. Triggers update them.
    private static let cache = """
        CREATE TABLE state (clean INTEGER NOT NULL) STRICT;
        INSERT INTO state VALUES (0);

        CREATE TABLE partition (
            id INTEGER PRIMARY KEY,
            uid INTEGER NOT NULL,
            profile TEXT NOT NULL,
            site TEXT NOT NULL,
            UNIQUE (uid, profile, site)
        ) STRICT;

        CREATE TABLE entry (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            partition INTEGER NOT NULL REFERENCES partition (id),
            uid INTEGER NOT NULL,
            key BLOB NOT NULL,
            variant BLOB NOT NULL,
            url TEXT NOT NULL,
            origin TEXT NOT NULL,
            vary TEXT NOT NULL,
            status INTEGER NOT NULL,
            reason TEXT NOT NULL,
            version TEXT NOT NULL,
            headers BLOB NOT NULL,
            requested_at INTEGER NOT NULL,
            received_at INTEGER NOT NULL,
            fresh_until INTEGER NOT NULL,
            held TEXT NOT NULL,
            body BLOB,
            file TEXT,
            body_hash BLOB,
            stored_bytes INTEGER NOT NULL,
            stored_at INTEGER NOT NULL,
            used_at INTEGER NOT NULL,
            suspect INTEGER NOT NULL DEFAULT 0,
            UNIQUE (partition, key, variant)
        ) STRICT;
        CREATE INDEX entry_owner ON entry (uid);
        CREATE INDEX entry_used ON entry (uid, used_at);
        CREATE INDEX entry_origin ON entry (partition, origin, used_at);

        CREATE TABLE account (
            uid INTEGER PRIMARY KEY, bytes INTEGER NOT NULL, count INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE usage (
            partition INTEGER NOT NULL,
            origin TEXT NOT NULL,
            bytes INTEGER NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (partition, origin)
        ) STRICT, WITHOUT ROWID;

        CREATE TRIGGER entry_added AFTER INSERT ON entry BEGIN
            INSERT INTO account VALUES (new.uid, new.stored_bytes, 1)
                ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes, count = count + 1;
            INSERT INTO usage VALUES (new.partition, new.origin, new.stored_bytes, 1)
                ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes, count = count + 1;
        END;
        CREATE TRIGGER entry_resized AFTER UPDATE OF stored_bytes ON entry BEGIN
            UPDATE account SET bytes = bytes + new.stored_bytes - old.stored_bytes WHERE uid = new.uid;
            UPDATE usage SET bytes = bytes + new.stored_bytes - old.stored_bytes
                WHERE partition = new.partition AND origin = new.origin;
        END;
        CREATE TRIGGER entry_removed AFTER DELETE ON entry BEGIN
            UPDATE account SET bytes = bytes - old.stored_bytes, count = count - 1 WHERE uid = old.uid;
            DELETE FROM account WHERE uid = old.uid AND count = 0;
            UPDATE usage SET bytes = bytes - old.stored_bytes, count = count - 1
                WHERE partition = old.partition AND origin = old.origin;
            DELETE FROM usage WHERE partition = old.partition AND origin = old.origin AND count = 0;
            DELETE FROM partition WHERE id = old.partition
                AND NOT EXISTS (SELECT 1 FROM usage WHERE partition = old.partition);
        END;
        """
}
