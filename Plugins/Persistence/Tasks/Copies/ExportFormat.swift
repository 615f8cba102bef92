import TaskKit

/// The lines of an export: a header line, one line for each record, and a last line with the number of records, which
/// detects a truncated file.
enum ExportFormat {
    static let version = 1

    /// The values of the member `trestle` in the first line and in the last.
    static let header = "export"
    static let end = "end"

    static var headerLine: [UInt8] { Array(#"{"trestle":"\#(header)","version":\#(version)}"#.utf8) + [lineEnd] }

    static func endLine(records: Int64) -> [UInt8] {
        Array(#"{"trestle":"\#(end)","records":\#(records)}"#.utf8) + [lineEnd]
    }

    static let lineEnd = UInt8(ascii: "\n")

    /// The line of a record in the form in which it is read.
    struct RecordLine: Codable, Sendable {
        var namespace: String
        var table: ExactText
        var key: ExactText
        /// The exported record's version; an import assigns a new one.
        var version: Int64?
        var record: CompactJSON
    }
}

extension [UInt8] {
    /// Appends the line of a record.
    ///
    /// - Parameters:
    ///   - record: The record's JSON text.
    ///   - tablePath: Namespace and table, as JSON.
    mutating func append(
        lineOf record: some Collection<UInt8>, key: [UInt8], version: Int64,
        in tablePath: (namespace: [UInt8], table: [UInt8])
    ) {
        append(literal: #"{"namespace":"#)
        append(contentsOf: tablePath.namespace)
        append(literal: #","table":"#)
        append(contentsOf: tablePath.table)
        append(literal: #","key":"#)
        append(quoted: key)
        append(literal: #","version":"#)
        append(number: version)
        append(literal: #","record":"#)
        append(contentsOf: record)
        append(literal: "}\n")
    }
}
