// Reads the requests of the most frequent tasks member by member, because their decoding takes a third of the time of a
// call. Requests with a namespace, which few callers may name, or with an error are left to the decoder.
import TaskKit

extension CreateTask {
    static func quickRequest(_ options: [UInt8]) -> CreateOperation? {
        var path = QuickRecordPath()
        var record: CompactJSON?
        let isQuick = options.withUnsafeBytes { bytes in
            var members = MemberCursor(bytes)
            while let (key, value) = members.next() {
                if path.take(key, value) { continue }
                guard key.equals("\"record\""), record == nil, let text = CompactJSON(parsing: value) else {
                    return false
                }
                record = text
            }
            return true
        }
        guard isQuick, let table = path.table, let record else { return nil }
        return CreateOperation(table: table, key: path.key, record: record)
    }
}

extension ReadTask {
    static func quickRequest(_ options: [UInt8]) -> Request? {
        var path = QuickRecordPath()
        let isQuick = options.withUnsafeBytes { bytes in
            var members = MemberCursor(bytes)
            while let (key, value) = members.next() { guard path.take(key, value) else { return false } }
            return true
        }
        guard isQuick, let table = path.table, let key = path.key else { return nil }
        return Request(table: table, key: key)
    }
}

/// The members that name a record.
private struct QuickRecordPath {
    private(set) var table: ExactText?
    private(set) var key: ExactText?

    /// Takes a member if it is one of these, occurs for the first time, and is a string without escapes.
    mutating func take(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
        if name.equals("\"table\""), table == nil {
            table = Self.text(value)
            return table != nil
        }
        if name.equals("\"key\""), key == nil {
            key = Self.text(value)
            return key != nil
        }
        return false
    }

    private static func text(_ value: UnsafeRawBufferPointer) -> ExactText? {
        guard value.count >= 2, value.first == UInt8(ascii: "\""), !value.contains(UInt8(ascii: "\\")) else {
            return nil
        }
        return ExactText(utf8: Array(value.dropFirst().dropLast()))
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the bytes equal those of a text.
    fileprivate func equals(_ text: StaticString) -> Bool {
        elementsEqual(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}
