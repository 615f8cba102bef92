import GRDB

/// The tables of `cookies.sqlite`.
enum CookieSchema {
    /// The migrations. The list is append-only: a published migration is never changed, renamed or removed.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("cookies") { try $0.execute(sql: cookies) }
        migrator.registerMigration("seeds") { try $0.execute(sql: seeds) }
        return migrator
    }

    /// `seed`: the cookies that were set under a name, including those that no longer exist.
    private static let seeds = """
        CREATE TABLE seed (
            profile INTEGER NOT NULL REFERENCES profile (id) ON DELETE CASCADE,
            seed TEXT NOT NULL,
            partition TEXT NOT NULL,
            host TEXT NOT NULL,
            host_only INTEGER NOT NULL,
            path TEXT NOT NULL,
            name BLOB NOT NULL,
            PRIMARY KEY (profile, seed, partition, host, host_only, path, name)
        ) STRICT, WITHOUT ROWID;
        """

    /// Times are seconds since 1970 in UTC. Names, values and paths are bytes.
    ///
    /// `profile`: `version` is the version of the last change. `pruned` is the version of the newest removal that is no
    /// longer stored. `boot` is the boot of the machine that its session cookies belong to. `attended` is whether a
    /// container was attached whose end has not been settled yet.
    ///
    /// `cookie`: the order of the rows is the order in which the cookies were first stored.
    ///
    /// `removed`: the removals that are kept for the feed of changes.
    private static let cookies = """
        CREATE TABLE profile (
            id INTEGER PRIMARY KEY,
            uid INTEGER NOT NULL,
            name TEXT NOT NULL,
            version INTEGER NOT NULL,
            pruned INTEGER NOT NULL,
            boot TEXT NOT NULL,
            attended INTEGER NOT NULL DEFAULT 0,
            UNIQUE (uid, name)
        ) STRICT;

        CREATE TABLE cookie (
            id INTEGER PRIMARY KEY,
            profile INTEGER NOT NULL REFERENCES profile (id) ON DELETE CASCADE,
            partition TEXT NOT NULL,
            host TEXT NOT NULL,
            host_only INTEGER NOT NULL,
            path TEXT NOT NULL,
            name BLOB NOT NULL,
            value BLOB NOT NULL,
            expires INTEGER,
            created INTEGER NOT NULL,
            accessed INTEGER NOT NULL,
            secure INTEGER NOT NULL,
            http_only INTEGER NOT NULL,
            same_site INTEGER NOT NULL,
            source_secure INTEGER NOT NULL,
            persist INTEGER NOT NULL,
            pin INTEGER NOT NULL,
            version INTEGER NOT NULL,
            UNIQUE (profile, partition, host, host_only, path, name)
        ) STRICT;

        CREATE TABLE removed (
            profile INTEGER NOT NULL REFERENCES profile (id) ON DELETE CASCADE,
            version INTEGER NOT NULL,
            partition TEXT NOT NULL,
            host TEXT NOT NULL,
            host_only INTEGER NOT NULL,
            path TEXT NOT NULL,
            name BLOB NOT NULL,
            http_only INTEGER NOT NULL,
            cause TEXT NOT NULL,
            PRIMARY KEY (profile, version)
        ) STRICT, WITHOUT ROWID;
        """
}
