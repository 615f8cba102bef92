import GRDB
import TaskKit

/// The quota of a namespace, which has the records of one user in one origin. 0 means no limit.
struct StoreQuota: Sendable, Equatable {
    /// The maximum number of records in all its tables.
    var records: Int64 = 0
    /// The maximum number of bytes of their keys and their JSON texts.
    var bytes: Int64 = 0

    /// The default: far above the needs of pages, and far below the size of a disk.
    static let standard = StoreQuota(records: 10_000_000, bytes: 8 << 30)

    /// - Throws: `quota.exceeded` if the change would make a namespace too large. A namespace that is too large
    ///   already, because the quota was lowered, may still shrink.
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
    /// The SQL that counts the records and bytes of every namespace. It reads the whole database. It is executed by the
    /// migration that introduced the counters, and for a restored store.
    static let countingStored = """
        UPDATE namespace SET (records, bytes) = (
            SELECT count(*), coalesce(sum(length(record.key) + length(CAST(record.body AS BLOB))), 0)
            FROM record JOIN collection ON collection.id = record.collection
            WHERE collection.namespace = namespace.id)
        """
}
