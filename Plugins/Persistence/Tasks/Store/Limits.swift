/// The bounds of the store, each with its reason.
enum Limits {
    /// A key: long enough for a URL, short enough for an index.
    static let keyBytes = 1024
    /// A table's name.
    static let tableBytes = 256
    /// The origin in a `namespace` that is named; the wire's own bound on origins is below it.
    static let originBytes = 1024
    /// A record's JSON text: what still fits into one message (1 MiB by default) together with its key, of which
    /// each byte may take six, and the envelope.
    static let recordBytes = (1 << 20) - (16 << 10)
    /// A page of a query, so that its callback, cursor included, stays well below the bound of a message. A single
    /// larger record is a page of its own.
    static let pageBytes = 512 << 10
    /// Records in a page, unless the query says otherwise, and at most.
    static let defaultPageRecords = 100
    static let maximumPageRecords = 1000
    /// Operations in a transaction: it holds up all other users' writes while it runs.
    static let operations = 1000
    /// Bytes of records that one call reads to change them, and writes, for the same reason: a large record costs time
    /// however small the change is.
    static let touchedBytes = 16 << 20
    /// How long a lane works before it asks whose turn it is: many short calls, and little against what others notice.
    static let slice = Duration.milliseconds(20)
    /// Queries that have not ended and keep the state of the store that they began with: each has a connection of its
    /// own, with its memory. Of more, one for each user, the others go on with what is stored by then.
    static let snapshots = 8
    /// What the log may grow to while queries read what was there before.
    static let logBytes = 64 << 20
    /// Fields in a query's `where`, operators on them counted singly: each costs time for every record of the table.
    static let conditions = 64
    /// Values in one `$in`.
    static let choices = 1000
    /// The text of a number that `where` compares by its value: each comparison reads both texts.
    static let comparedNumberBytes = 1024
    /// Fields in a query's `order`: each costs room in the cursor.
    static let orderFields = 8
    /// The part of a text by which `order` sorts: a cursor carries it.
    static let orderTextBytes = 1024
    /// Options of one session's calls that wait for the store or are being carried out: a disk is slower than a socket,
    /// and what waits is held in memory.
    static let waitingBytesPerSession = 16 << 20
    /// Reads by key that share a transaction and a delivery: past some tens sharing gains nothing, and the loop thread
    /// would have nothing to do until the last of them is read.
    static let readsInBatch = 32
    /// Tables that one session watches at a time: each costs memory in the daemon.
    static let watchesPerSession = 1024
    /// The same for all sessions of a uid, and how many times as many root and the daemon's own user may watch.
    static let watchesPerUser = 16_384
    static let trustedFactor = 16
    /// Events of a replay between two pauses in which other calls get their turn. More than a batch of single writes
    /// brings forth, so that a replay catches up with steady writing.
    static let replayPageEvents = 1024

    /// How long the database is checked before it is used: enough for some millions of records, and short of the time
    /// in which a daemon has to start.
    static let checkTimeout = Duration.seconds(10)

    /// Files that travel at a time: each takes room in the state directory.
    static let transfers = 4
    /// Bytes of such a file that are read or written together, and held in memory.
    static let partBytes = 256 << 10
    /// Records of an import that share a transaction, and their bytes: it holds up all other users' writes.
    static let importRecords = 256
    static let importBytes = 1 << 20
    /// A line of an import: a record, and names of which each byte may take six.
    static let lineBytes = recordBytes + (32 << 10)

    /// By so much a restore puts every version ahead of the last one known: more changes than any user makes between a
    /// backup and its restore, so that no version is given out twice, and so little that millions of restores stay
    /// below 2^53, up to which numbers are exact everywhere.
    static let versionsPerRestore: Int64 = 1_000_000_000
    static let largestVersion: Int64 = 1 << 53

    /// Options of a query: a thousand `choices` fit, and they are decoded within a slice. So are options that only name
    /// a record, for which the daemon's usual bound of 65,536 bytes holds.
    static let queryOptionBytes = 256 << 10
    /// Reads with longer options do not share a delivery: they take more than some tens of microseconds to decode.
    static let shortOptionBytes = 4096
    /// Options of a common form up to this length are read on the loop's thread, in a few microseconds: every write
    /// waits for the thread that commits.
    static let optionsReadAtOnceBytes = 1024
}
