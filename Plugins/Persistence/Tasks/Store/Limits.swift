/// The limits of the store, each with its reason.
enum Limits {
    /// A key: long enough for a URL, short enough for an index.
    static let keyBytes = 1024
    /// A table's name.
    static let tableBytes = 256
    /// The origin in a named `namespace`; the protocol's own limit for origins is lower.
    static let originBytes = 1024
    /// A record's JSON text: it must fit into one message (1 MiB by default) together with the envelope and its key, of
    /// which each byte may be escaped to six.
    static let recordBytes = (1 << 20) - (16 << 10)
    /// A page of a query, so that its callback, including the cursor, stays well below the limit of a message. A single
    /// larger record is a page of its own.
    static let pageBytes = 512 << 10
    /// Records in a page: the default and the maximum.
    static let defaultPageRecords = 100
    static let maximumPageRecords = 1000
    /// Operations in a transaction: it delays all other users' writes while it runs.
    static let operations = 1000
    /// Bytes of records that one call reads to change them, and writes. The reason is the same: a large record costs
    /// time, however small the change is.
    static let touchedBytes = 16 << 20
    /// The time for which a lane works before the next user's turn: enough for many short calls, and too short to be
    /// noticed.
    static let slice = Duration.milliseconds(20)
    /// Unfinished queries that keep the state of the store from their beginning: each has its own connection, with its
    /// memory. Further queries, one for each user, continue with the current state.
    static let snapshots = 8
    /// The length to which the log may grow while queries read an earlier state.
    static let logBytes = 64 << 20
    /// Conditions in a query's `where`; each operator counts. Each costs time for every record of the table.
    static let conditions = 64
    /// Values in one `$in`.
    static let choices = 1000
    /// The text of a number that `where` compares by its value: each comparison reads both texts.
    static let comparedNumberBytes = 1024
    /// Fields in a query's `order`: each makes the cursor longer.
    static let orderFields = 8
    /// The part of a string by which `order` sorts: the cursor contains it.
    static let orderTextBytes = 1024
    /// Options of one session's calls that wait for the store or are being executed: a disk is slower than a socket,
    /// and waiting calls are held in memory.
    static let waitingBytesPerSession = 16 << 20
    /// Reads by key that share a transaction and a delivery: beyond some tens sharing gains nothing, and the loop
    /// thread would be idle until the last of them is read.
    static let readsInBatch = 32
    /// Tables that one session watches at a time: each costs memory in the daemon.
    static let watchesPerSession = 1024
    /// The same for all sessions of a uid, and the factor for root and the daemon's own user.
    static let watchesPerUser = 16_384
    static let trustedFactor = 16
    /// Events of a replay between two pauses in which other calls get their turn. It exceeds the events of a batch of
    /// single writes, so that a replay catches up with steady writing.
    static let replayPageEvents = 1024

    /// The time for the check of the database before its use: enough for some millions of records, and shorter than the
    /// time limit for the daemon's start.
    static let checkTimeout = Duration.seconds(10)

    /// Transfer files at a time: each takes space in the state directory.
    static let transfers = 4
    /// Bytes of such a file that are read or written together, and held in memory.
    static let partBytes = 256 << 10
    /// Records of an import that share a transaction, and their bytes: it delays all other users' writes.
    static let importRecords = 256
    static let importBytes = 1 << 20
    /// A line of an import: a record, and names of which each byte may be escaped to six.
    static let lineBytes = recordBytes + (32 << 10)

    /// The number by which a restore raises every version above the last known one. It exceeds the number of changes
    /// between a backup and its restore, so that no version is assigned twice. It is small enough that millions of
    /// restores stay below 2^53, the limit for exact numbers everywhere.
    static let versionsPerRestore: Int64 = 1_000_000_000
    static let largestVersion: Int64 = 1 << 53

    /// Options of a query: a thousand `choices` fit, and they are decoded within a slice. So are options that only name
    /// a record, which have the daemon's usual limit of 65,536 bytes.
    static let queryOptionBytes = 256 << 10
    /// Reads with longer options do not share a delivery: they take more than some tens of microseconds to decode.
    static let shortOptionBytes = 4096
    /// Options of a common form up to this length are read on the loop thread, in a few microseconds: every write waits
    /// for the thread that commits.
    static let optionsReadAtOnceBytes = 1024
}
