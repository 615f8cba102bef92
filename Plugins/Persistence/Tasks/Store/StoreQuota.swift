import GRDB
import TaskKit

/// How much a namespace may hold: the records of one user in one origin. 0 stands for any number.
struct StoreQuota: Sendable, Equatable {
    /// Records in all its tables.
    var records: Int64 = 0
    /// Bytes of their keys and their JSON texts.
    var bytes: Int64 = 0

    /// Far from what pages store, and from what a disk holds.
    static let standard = StoreQuota(records: 10_000_000, bytes: 8 << 30)

    /// - Throws: `quota.exceeded`, where a namespace that grows would be too large. One that is too large already,
    ///   because the quota was lowered, may still shrink.
    func check(
        _ counters: RecordStore.Counters, addedRecords: Int64, addedBytes: Int64, in namespace: Namespace
    ) throws(BridgeError) {
        if records > 0, addedRecords > 0, counters.records + addedRecords > records {
            throw Self.exceeded("records", records, "records", namespace)
        }
        if bytes > 0, addedBytes > 0, counters.bytes + addedBytes > bytes {
            throw Self.exceeded("stored_bytes", bytes, "bytes of records", namespace)
        }
    }

    private static func exceeded(_ quota: String, _ limit: Int64, _ what: String, _ namespace: Namespace) -> BridgeError
    {
        let whom = "uid \(namespace.uid) in \(namespace.origin.text)"
        return BridgeError(
            .quotaExceeded, "\(whom) may store \(limit) \(what): delete some first",
            data: ["quota": .string(quota), "limit": JSON(limit), "of": .string(whom)])
    }
}

extension RecordStore {
    /// Counts what every namespace holds. Reads the whole database: at the first start of a version that keeps count,
    /// and of a store that comes from elsewhere.
    static let countingStored = """
        UPDATE namespace SET (records, bytes) = (
            SELECT count(*), coalesce(sum(length(record.key) + length(CAST(record.body AS BLOB))), 0)
            FROM record JOIN collection ON collection.id = record.collection
            WHERE collection.namespace = namespace.id)
        """
}
