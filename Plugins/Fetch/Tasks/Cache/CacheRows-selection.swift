// Foundation only for `Data`, the type that GRDB uses for bytes.
import Foundation
import GRDB
import HTTPRules

/// Operations on several entries: listing and removal.
extension CacheRows {
    /// The entries of an origin in a partition.
    struct OriginUsage: Sendable {
        var profile: String
        var site: String
        var origin: String
        var bytes: Int64
        var count: Int
    }

    /// The properties of an entry that are shown to callers.
    struct Summary: Sendable {
        var id: Int64
        var profile: String
        var site: String
        var url: String
        var status: Int
        var type: String?
        var bytes: Int64
        var isComplete: Bool
        var storedAt: Int64
        var usedAt: Int64
        var freshUntil: Int64
    }

    /// Returns the usage of the selected origins, the largest first.
    func usage(_ selection: CacheSelection, limit: Int) throws -> [OriginUsage] {
        let filter = Filter(selection, prefix: "usage")
        let usages = Self.usages(selection)
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT partition.profile, partition.site, usage.origin, usage.bytes, usage.count
                FROM \(usages.sql) JOIN partition ON partition.id = usage.partition
                WHERE partition.uid = ? \(filter.partition) \(filter.origins) ORDER BY usage.bytes DESC LIMIT ?
                """,
            arguments: usages.arguments + [Int64(selection.uid)] + filter.partitionArguments + filter.originArguments
                + [limit])
        return rows.map { OriginUsage(profile: $0[0], site: $0[1], origin: $0[2], bytes: $0[3], count: $0[4]) }
    }

    /// Returns the bytes and the number of the selected entries.
    func total(_ selection: CacheSelection) throws -> (bytes: Int64, count: Int) {
        if selection.isWholeUser { return try usage(of: selection.uid) }
        let filter = Filter(selection, prefix: "usage")
        let usages = Self.usages(selection)
        let row = try Row.fetchOne(
            database,
            sql: """
                SELECT coalesce(sum(usage.bytes), 0), coalesce(sum(usage.count), 0)
                FROM \(usages.sql) JOIN partition ON partition.id = usage.partition
                WHERE partition.uid = ? \(filter.partition) \(filter.origins)
                """,
            arguments: usages.arguments + [Int64(selection.uid)] + filter.partitionArguments + filter.originArguments)
        return row.map { ($0[0], $0[1]) } ?? (0, 0)
    }

    /// Returns the table `usage`, or for a selection of single entries a query with its columns.
    private static func usages(_ selection: CacheSelection) -> (sql: String, arguments: StatementArguments) {
        let filter = Filter(selection, prefix: "entry")
        guard !filter.others.isEmpty else { return ("usage", []) }
        let sql = """
            (SELECT partition, origin, sum(stored_bytes) AS bytes, count(*) AS count FROM entry
            WHERE uid = ? \(filter.others) GROUP BY partition, origin) AS usage
            """
        return (sql, [Int64(selection.uid)] + filter.otherArguments)
    }

    /// Returns the selected entries in the order of their numbers.
    ///
    /// - Parameters:
    ///   - selection: The selection.
    ///   - after: The number after which the list begins.
    ///   - limit: The maximum number of entries.
    func list(_ selection: CacheSelection, after: Int64, limit: Int) throws -> [Summary] {
        let filter = Filter(selection, prefix: "entry")
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT entry.*, partition.profile, partition.site FROM entry JOIN partition ON partition.id = entry.partition
                WHERE entry.uid = ? AND entry.id > ? \(filter.partition) \(filter.origins) \(filter.others)
                ORDER BY entry.id LIMIT ?
                """,
            arguments: [Int64(selection.uid), after] + filter.partitionArguments + filter.originArguments
                + filter.otherArguments + [limit])
        return rows.map { row in
            let headers: Data = row["headers"]
            return Summary(
                id: row["id"], profile: row["profile"], site: row["site"], url: row["url"], status: row["status"],
                type: HeaderList(bytes: headers)?.first(named: "Content-Type"), bytes: row["stored_bytes"],
                isComplete: HeldBytes(text: row["held"] as String)?.isComplete ?? false, storedAt: row["stored_at"],
                usedAt: row["used_at"], freshUntil: row["fresh_until"])
        }
    }

    /// Removes the selected entries.
    ///
    /// - Returns: The number of removed entries, and their bytes.
    mutating func remove(_ selection: CacheSelection) throws -> (count: Int, bytes: Int64) {
        let filter = Filter(selection, prefix: "entry")
        let partitions = "partition IN (SELECT id FROM partition WHERE uid = ? \(filter.partition))"
        return try removeAll(
            "uid = ? AND \(partitions) \(filter.origins) \(filter.others)",
            [Int64(selection.uid), Int64(selection.uid)] + filter.partitionArguments + filter.originArguments
                + filter.otherArguments)
    }

    /// The position of an origin in a partition.
    struct OriginPlace: Sendable {
        var partition: Int64 = 0
        var origin = ""
    }

    /// Removes the selected entries of the next origins that fulfil a condition.
    ///
    /// - Parameters:
    ///   - selection: The selection, without origins and without a URL.
    ///   - place: The origin after which to begin.
    ///   - limit: The maximum number of origins that are examined.
    ///   - isMeant: The condition.
    /// - Returns: The number of removed entries, and the last examined origin; `nil` after all.
    mutating func remove(
        _ selection: CacheSelection, after place: OriginPlace, limit: Int, where isMeant: (String) -> Bool
    ) throws -> (count: Int, last: OriginPlace?) {
        let filter = Filter(selection, prefix: "entry")
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT partition, origin FROM usage
                WHERE partition IN (SELECT id FROM partition WHERE uid = ? \(filter.partition))
                AND (partition, origin) > (?, ?) ORDER BY partition, origin LIMIT ?
                """,
            arguments: [Int64(selection.uid)] + filter.partitionArguments + [place.partition, place.origin, limit])
        var count = 0
        for row in rows where isMeant(row[1]) {
            let arguments: StatementArguments = [row[0] as Int64, row[1] as String]
            count += try removeAll(
                "partition = ? AND origin = ? \(filter.others)", arguments + filter.otherArguments
            ).count
        }
        let last = rows.last.map { OriginPlace(partition: $0[0], origin: $0[1]) }
        return (count, rows.count < limit ? nil : last)
    }

    /// A selection as SQL conditions.
    private struct Filter {
        var partition = ""
        var partitionArguments: StatementArguments = []
        var origins = ""
        var originArguments: StatementArguments = []
        var others = ""
        var otherArguments: StatementArguments = []

        init(_ selection: CacheSelection, prefix: String) {
            if let profile = selection.profile {
                partition += "AND partition.profile = ? "
                partitionArguments += [profile.text]
            }
            if let site = selection.site {
                partition += "AND partition.site = ?"
                partitionArguments += [site]
            }
            if let names = selection.origins {
                origins = "AND \(prefix).origin IN (\(names.map { _ in "?" }.joined(separator: ", ")))"
                originArguments = StatementArguments(names)
            }
            if let url = selection.url {
                others += " AND \(prefix).url = ?"
                otherArguments += [url]
            }
            if let since = selection.since {
                others += " AND \(prefix).stored_at >= ?"
                otherArguments += [since.seconds]
            }
        }
    }
}
