import GRDB

/// The tables of the database.
///
/// Names and keys are BLOBs: the caller may choose any text, including NUL, which SQLite's TEXT does not store safely.
/// As bytes they compare exactly, and their order is that of the code points. A record's body is the JSON text, so that
/// its numbers keep their notation and the `sqlite3` tool shows it readably.
enum Schema {
    /// The migrations. Append-only: a published migration is never changed, renamed or removed.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("records") { try $0.execute(sql: records) }
        migrator.registerMigration("quotas") { try $0.execute(sql: quotas + RecordStore.countingStored) }
        return migrator
    }

    /// The second migration: the number of `records` of a namespace, and the `bytes` of their keys and bodies, stored
    /// so that no call must count.
    private static let quotas = """
        ALTER TABLE namespace ADD COLUMN records INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE namespace ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;

        """

    /// `namespace`: the owner of records. `version` is the last assigned version. `pruned` is the newest version whose
    /// deletion was removed. `deletions` is the number of rows in `deletion`, stored so that no call must count.
    ///
    /// `collection`: a named table of a namespace, so that a record's row and its indexes contain a number, not a name.
    ///
    /// `record`: `version` is the version of its last change, `created` that of its creation.
    ///
    /// `deletion`: the last deletion of a key that does not exist now, for watches from an older version.
    ///
    /// `failure`: one row that earlier versions wrote to after a commit that failed.
    private static let records = """
        CREATE TABLE namespace (
            id INTEGER PRIMARY KEY,
            uid INTEGER NOT NULL,
            origin BLOB NOT NULL,
            version INTEGER NOT NULL DEFAULT 0,
            pruned INTEGER NOT NULL DEFAULT 0,
            deletions INTEGER NOT NULL DEFAULT 0,
            UNIQUE (uid, origin)
        ) STRICT;

        CREATE TABLE collection (
            id INTEGER PRIMARY KEY,
            namespace INTEGER NOT NULL REFERENCES namespace (id),
            name BLOB NOT NULL,
            UNIQUE (namespace, name)
        ) STRICT;

        CREATE TABLE record (
            id INTEGER PRIMARY KEY,
            collection INTEGER NOT NULL REFERENCES collection (id),
            key BLOB NOT NULL,
            version INTEGER NOT NULL,
            created INTEGER NOT NULL,
            body TEXT NOT NULL,
            UNIQUE (collection, key)
        ) STRICT;

        CREATE INDEX record_feed ON record (collection, version);

        CREATE TABLE deletion (
            namespace INTEGER NOT NULL REFERENCES namespace (id),
            version INTEGER NOT NULL,
            collection INTEGER NOT NULL REFERENCES collection (id),
            key BLOB NOT NULL,
            PRIMARY KEY (namespace, version)
        ) STRICT, WITHOUT ROWID;

        CREATE INDEX deletion_feed ON deletion (collection, version);
        CREATE UNIQUE INDEX deletion_key ON deletion (collection, key);

        CREATE TABLE failure (count INTEGER NOT NULL) STRICT;
        INSERT INTO failure (count) VALUES (0);
        """
}
