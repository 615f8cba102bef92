import struct Foundation.Data
import GRDB
import TaskKit

/// Writes records as lines of JSON, with their state at one moment. Lane of copies.
struct Export {
    private let file: TransferFile
    private let interruption: Interruption
    private var buffer: [UInt8] = []
    private var offset: Int64 = 0
    private var records: Int64 = 0

    /// - Returns: The number of records in it.
    static func make(
        of store: StoreFile, _ selection: Selection, to file: TransferFile, _ interruption: Interruption
    ) throws -> Int64 {
        let source = try store.openSource()
        defer { try? source.close() }
        var export = Export(file: file, interruption: interruption)
        try interruption.during(source) { database in
            // One snapshot for the whole export. No commit waits for it.
            try database.inTransaction(.deferred) {
                try export.write(selection, database)
                return .commit
            }
        }
        return export.records
    }

    private init(file: TransferFile, interruption: Interruption) {
        (self.file, self.interruption) = (file, interruption)
    }

    private mutating func write(_ selection: Selection, _ database: Database) throws {
        buffer += ExportFormat.headerLine
        for (id, tablePath) in try selection.collections(in: database) {
            try write(id, tablePath, database)
        }
        buffer += ExportFormat.endLine(records: records)
        try flush()
    }

    private mutating func write(_ collection: Int64, _ tablePath: TablePath, _ database: Database) throws {
        let names = (
            namespace: JSON.string(tablePath.namespace.text).bytes, table: JSON.string(tablePath.table.text).bytes
        )
        let rows = try Row.fetchCursor(
            database,
            sql: "SELECT key, version, CAST(body AS BLOB) FROM record WHERE collection = ? ORDER BY key",
            arguments: [collection])
        while let row = try rows.next() {
            try row.withUnsafeData(atIndex: 2) { body in
                buffer.append(lineOf: body ?? Data(), key: try row.bytes(0), version: row[1], in: names)
            }
            records += 1
            if buffer.count >= Limits.partBytes { try flush() }
        }
    }

    private mutating func flush() throws {
        try interruption.check()
        offset = try file.write(buffer, at: offset)
        buffer.removeAll(keepingCapacity: true)
    }
}
