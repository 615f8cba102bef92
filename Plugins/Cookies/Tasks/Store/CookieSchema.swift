import GRDB

/// The tables of `cookies.sqlite`.
enum CookieSchema {
    /// Append-only: a migration that was published is never changed, renamed or removed.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("cookies") { try $0.execute(sql: cookies) }
        migrator.registerMigration("seeds") { try $0.execute(sql: seeds) }
        return migrator
    }

    /// `seed`: the cookies that were set under a name, whether they are still there or not.
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
    /// `profile`: `version` is that of the last change, `pruned` the newest removal that is forgotten, `boot` the boot
    /// of the machine that its sessions' cookies are of, `attended` whether a container was attached whose end has not
    /// been settled yet.
    ///
    /// `cookie`: the order of the rows is that in which cookies were first stored.
    ///
    /// `removed`: the removals that the feed remembers.
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
