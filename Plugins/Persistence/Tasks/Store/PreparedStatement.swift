import GRDB
import GRDBSQLite

/// A statement of a connection, prepared once and driven by SQLite's own functions: GRDB's way of binding arguments and
/// reading rows costs several times what a statement on one record does.
///
/// Used while GRDB gives access to its database, like the database itself.
final class PreparedStatement {
    /// GRDB's, which finalizes it.
    private let statement: Statement
    private let handle: SQLiteStatement

    init(_ database: Database, _ sql: String) throws {
        statement = try database.cachedStatement(sql: sql)
        handle = statement.sqliteStatement
    }

    // MARK: Arguments, numbered from 1

    func bind(_ value: Int64, at index: Int32) {
        sqlite3_bind_int64(handle, index, value)
    }

    /// - Parameter blob: Stays where it is until the statement is reset.
    func bind(blob: UnsafeRawBufferPointer, at index: Int32) {
        if blob.isEmpty {
            sqlite3_bind_zeroblob(handle, index, 0)
        } else {
            sqlite3_bind_blob64(handle, index, blob.baseAddress, UInt64(blob.count), nil)
        }
    }

    /// - Parameter text: UTF-8; stays where it is until the statement is reset.
    func bind(text: UnsafeRawBufferPointer, at index: Int32) {
        sqlite3_bind_text64(
            handle, index, text.baseAddress?.assumingMemoryBound(to: CChar.self), UInt64(text.count), nil,
            UInt8(SQLITE_UTF8))
    }

    // MARK: Steps

    /// Goes on to the next row.
    ///
    /// - Returns: Whether there is one; where there is none, the statement is ready to be used again.
    /// - Throws: `DatabaseError`, the statement being ready to be used again.
    func step() throws -> Bool {
        let status = sqlite3_step(handle)
        if status == SQLITE_ROW { return true }
        sqlite3_reset(handle)
        if status != SQLITE_DONE { throw DatabaseError(resultCode: ResultCode(rawValue: status)) }
        return false
    }

    /// Leaves the rows that were not read, and makes the statement ready to be used again.
    func reset() { sqlite3_reset(handle) }

    /// Carries out a statement that answers no rows.
    ///
    /// - Returns: How many rows it inserted, updated or deleted; nothing of meaning for other statements.
    @discardableResult
    func run() throws -> Int {
        if try step() { reset() }
        return Int(sqlite3_changes(sqlite3_db_handle(handle)))
    }

    // MARK: Columns, numbered from 0

    func int64(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    /// A BLOB, or a TEXT's UTF-8, valid until the next step or reset.
    func bytes(_ column: Int32) throws -> UnsafeRawBufferPointer {
        let address = sqlite3_column_blob(handle, column)
        let count = Int(sqlite3_column_bytes(handle, column))
        // SQLite has no address for nothing, and none where it had no memory left.
        if address == nil, count > 0 { throw DatabaseError(resultCode: .SQLITE_NOMEM) }
        return UnsafeRawBufferPointer(start: address, count: count)
    }
}

/// The statements of a connection, each prepared when it is first needed. Must be gone before the connection is closed.
final class StatementCache {
    /// By the address of the SQL, which is a constant of the program.
    private var statements: [UnsafePointer<UInt8>: PreparedStatement] = [:]

    func statement(_ sql: StaticString, _ database: Database) throws -> PreparedStatement {
        if let known = statements[sql.utf8Start] { return known }
        let statement = try PreparedStatement(database, "\(sql)")
        statements[sql.utf8Start] = statement
        return statement
    }

    func removeAll() { statements = [:] }
}
