import TaskKit

/// Reads the lines of an export, and checks each of them. Lane of copies.
struct ExportReader {
    /// A record of the file.
    struct Entry: Sendable {
        /// The number of its line, from 1.
        var line: Int
        var tablePath: TablePath
        var key: ExactText
        /// The JSON text to store.
        var text: [UInt8]
    }

    private var lines: LineSource
    private var records: Int64 = 0
    private var hasHeader = false

    init(_ file: TransferFile) { lines = LineSource(file) }

    /// Returns the next record; `nil` after the last one, if the file is complete.
    ///
    /// - Throws: `backup.invalid` with the line number and the JSON path in the line.
    mutating func next() throws -> Entry? {
        while let line = try lines.next() {
            if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
            let json = try parse(line)
            guard hasHeader else {
                try checkHeader(json)
                hasHeader = true
                continue
            }
            if json["trestle"] != nil {
                try checkEnd(json)
                return nil
            }
            records += 1
            return try entry(json)
        }
        throw BridgeError.unfitLine(
            lines.number + 1, expected: hasHeader ? "another record, or the last line with their number" : Self.header,
            got: "the end of the file: it is truncated")
    }

    private static let header = #"the first line of an export, {"trestle":"export","version":\#(ExportFormat.version)}"#

    private func parse(_ line: [UInt8]) throws(BridgeError) -> JSON {
        do throws(JSONSyntaxError) {
            return try JSON(parsing: line)
        } catch {
            throw .lineNotJSON(lines.number, error)
        }
    }

    private func checkHeader(_ json: JSON) throws(BridgeError) {
        guard json["trestle"] == .string(ExportFormat.header) else {
            throw .unfitLine(lines.number, expected: Self.header, got: "something else")
        }
        guard json["version"]?.int64Value == Int64(ExportFormat.version) else {
            throw .unfitLine(
                lines.number, path: "$.version", expected: "\(ExportFormat.version), which this daemon reads",
                got: json["version"].map { $0.text } ?? "nothing")
        }
    }

    private mutating func checkEnd(_ json: JSON) throws(BridgeError) {
        let number = lines.number
        guard json["trestle"] == .string(ExportFormat.end) else {
            throw .unfitLine(number, path: "$.trestle", expected: "\"\(ExportFormat.end)\"", got: "something else")
        }
        guard json["records"]?.int64Value == records else {
            throw .unfitLine(
                number, path: "$.records", expected: "the number of records above, \(records)",
                got: json["records"].map { $0.text } ?? "nothing")
        }
        while let line = try lines.next() {
            guard line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) else {
                throw .unfitLine(lines.number, expected: "nothing after the last line", got: "something")
            }
        }
    }

    private func entry(_ json: JSON) throws(BridgeError) -> Entry {
        do {
            let line = try JSONCoding.decode(ExportFormat.RecordLine.self, from: json, unknownKeys: .refuse)
            let tablePath = try TablePath(namespace: Namespace(named: line.namespace), checking: line.table, at: "$")
            let text = try line.record.checkedAsRecord(at: "$.record")
            return Entry(line: lines.number, tablePath: tablePath, key: try line.key.checkedAsKey(at: "$"), text: text)
        } catch let error as BridgeError {
            throw error.of(line: lines.number)
        } catch {
            throw (error as? JSONMismatch).map { BridgeError($0, noun: "member") }?.of(line: lines.number)
                ?? BridgeError(storage: error)
        }
    }
}

extension BridgeError {
    /// Converts an error about options to one about a line of a file.
    fileprivate func of(line: Int) -> BridgeError {
        let member = { (name: String) in data?[name]?.stringValue ?? "something else" }
        return .unfitLine(line, path: member("path"), expected: member("expected"), got: member("got"))
    }
}

/// The lines of a file.
struct LineSource {
    private let file: TransferFile
    private var offset: Int64 = 0
    private var buffer: [UInt8] = []
    /// The index in the buffer at which the next line begins.
    private var start = 0
    /// The number of the last returned line, from 1.
    private(set) var number = 0

    init(_ file: TransferFile) { self.file = file }

    /// Returns the next line without its line end; `nil` at the end of the file.
    ///
    /// - Throws: `backup.invalid` if the line exceeds the maximum length.
    mutating func next() throws(BridgeError) -> [UInt8]? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: ExportFormat.lineEnd) {
                defer { start = end + 1 }
                number += 1
                return Array(buffer[start..<end])
            }
            guard buffer.count - start <= Limits.lineBytes else {
                throw .unfitLine(
                    number + 1, expected: "a line of at most \(Limits.lineBytes) bytes", got: "a longer one")
            }
            buffer.removeSubrange(..<start)
            (searched, start) = (buffer.count, 0)
            let more = try file.read(at: offset, count: Limits.partBytes)
            if more.isEmpty { return takeRest() }
            buffer += more
            offset += Int64(more.count)
        }
    }

    /// Returns the bytes after the last line end; `nil` if there are none.
    private mutating func takeRest() -> [UInt8]? {
        if buffer.isEmpty { return nil }
        defer { buffer = [] }
        number += 1
        return buffer
    }
}
