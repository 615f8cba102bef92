import struct Foundation.Data
import GRDB
import TaskKit

/// Which records an export or an import is about.
struct Selection: Sendable {
    /// Nil: all of them.
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

    /// The tables of a store that it means, in the order of their namespaces' user ids, origins, and of their names.
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
