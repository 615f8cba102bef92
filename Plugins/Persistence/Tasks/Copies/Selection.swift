import struct Foundation.Data
import GRDB
import TaskKit

/// The records that an export or an import selects.
struct Selection: Sendable {
    /// The namespace; `nil` for all namespaces.
    var namespace: Namespace?
    var table: ExactText?

    /// - Throws: `options.invalid`.
    init(namespace: String?, table: String?) throws(BridgeError) {
        if let namespace { self.namespace = try Namespace(named: namespace) }
        if let table { self.table = try ExactText(table).checkedAsTable(at: "$") }
    }

    func contains(_ tablePath: TablePath) -> Bool {
        (namespace == nil || tablePath.namespace == namespace) && (table == nil || tablePath.table == table)
    }

    /// Returns the selected tables of a store, ordered by the user id and the origin of the namespace, then by name.
    func collections(in database: Database) throws -> [(id: Int64, tablePath: TablePath)] {
        try Row.fetchAll(
            database,
            sql: """
                SELECT collection.id, uid, origin, name
                FROM namespace JOIN collection ON collection.namespace = namespace.id ORDER BY uid, origin, name
                """
        ).map { row in
            let origin = String(decoding: try row.bytes(2), as: UTF8.self)
            let namespace = Namespace(uid: UInt32(clamping: row[1] as Int64), origin: origin)
            return (row[0], TablePath(namespace: namespace, table: ExactText(utf8: try row.bytes(3))))
        }.filter { contains($0.tablePath) }
    }
}
