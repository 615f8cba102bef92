import GRDB
import GRDBSQLite

/// A statement of a connection, prepared once and executed with SQLite's own functions: GRDB's binding of arguments and
/// reading of rows costs several times as much as a statement on one record.
///
/// Like the database itself, it is used only within GRDB's access to the database.
final class PreparedStatement {
    /// GRDB's statement; GRDB finalizes it.
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

    /// - Parameter blob: Must stay valid until the statement is reset.
    func bind(blob: UnsafeRawBufferPointer, at index: Int32) {
        if blob.isEmpty {
            sqlite3_bind_zeroblob(handle, index, 0)
        } else {
            sqlite3_bind_blob64(handle, index, blob.baseAddress, UInt64(blob.count), nil)
        }
    }

    /// - Parameter text: UTF-8; must stay valid until the statement is reset.
    func bind(text: UnsafeRawBufferPointer, at index: Int32) {
        sqlite3_bind_text64(
            handle, index, text.baseAddress?.assumingMemoryBound(to: CChar.self), UInt64(text.count), nil,
            UInt8(SQLITE_UTF8))
    }

    // MARK: Steps

    /// Moves to the next row.
    ///
    /// - Returns: Whether there is a row. If not, the statement is ready to be used again.
    /// - Throws: `DatabaseError`. The statement is ready to be used again.
    func step() throws -> Bool {
        let status = sqlite3_step(handle)
        if status == SQLITE_ROW { return true }
        sqlite3_reset(handle)
        if status != SQLITE_DONE { throw DatabaseError(resultCode: ResultCode(rawValue: status)) }
        return false
    }

    /// Discards the remaining rows, and makes the statement ready to be used again.
    func reset() { sqlite3_reset(handle) }

    /// Executes a statement without reading rows.
    ///
    /// - Returns: The number of inserted, updated or deleted rows; meaningless for other statements.
    @discardableResult
    func run() throws -> Int {
        if try step() { reset() }
        return Int(sqlite3_changes(sqlite3_db_handle(handle)))
    }

    // MARK: Columns, numbered from 0

    func int64(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    /// Returns a BLOB, or the UTF-8 of a TEXT, valid until the next step or reset.
    func bytes(_ column: Int32) throws -> UnsafeRawBufferPointer {
        let address = sqlite3_column_blob(handle, column)
        let count = Int(sqlite3_column_bytes(handle, column))
        // SQLite returns a null address for an empty value, and also if it is out of memory.
        if address == nil, count > 0 { throw DatabaseError(resultCode: .SQLITE_NOMEM) }
        return UnsafeRawBufferPointer(start: address, count: count)
    }
}

/// The statements of a connection, each prepared at its first use. They must be released before the connection is
/// closed.
final class StatementCache {
    /// The statements by the address of their SQL, which is a constant of the program.
    private var statements: [UnsafePointer<UInt8>: PreparedStatement] = [:]

    func statement(_ sql: StaticString, _ database: Database) throws -> PreparedStatement {
        if let known = statements[sql.utf8Start] { return known }
        let statement = try PreparedStatement(database, "\(sql)")
        statements[sql.utf8Start] = statement
        return statement
    }

    func removeAll() { statements = [:] }
}
