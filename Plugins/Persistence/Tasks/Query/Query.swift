import TaskKit

/// A checked query.
struct Query: Sendable {
    var tablePath: TablePath
    var filter = Filter()
    var ordering = Ordering()
    var limit = Limits.defaultPageRecords
    /// The position after which the page begins; `nil` for the beginning.
    var after: Ordering.Position?
}

/// The records of a page, as the bytes of the callback's `result`.
struct Page {
    private var bytes = Array(#"{"records":["#.utf8)
    private(set) var count = 0

    /// Appends a record, unless the page already has records and would become too large.
    ///
    /// - Parameter body: The record's JSON text.
    /// - Returns: Whether it was appended.
    mutating func append(key: [UInt8], version: Int64, body: some Collection<UInt8>) -> Bool {
        let end = bytes.count
        if count > 0 { bytes.append(UInt8(ascii: ",")) }
        bytes.append(record: body, key: key, version: version)
        if count > 0, bytes.count > Limits.pageBytes {
            bytes.removeSubrange(end...)
            return false
        }
        count += 1
        return true
    }

    /// - Parameter cursor: The cursor of the next page; `nil` for the last page.
    consuming func finish(cursor: String?) -> [UInt8] {
        bytes.append(UInt8(ascii: "]"))
        if let cursor {
            bytes += #","cursor":"#.utf8
            JSONText.appendQuoted(cursor, to: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }
}

extension [UInt8] {
    /// Appends `{"key", "version", "record"}`, the form in which a record is returned.
    ///
    /// - Parameter record: The record's JSON text.
    mutating func append(record: some Collection<UInt8>, key: [UInt8], version: Int64) {
        append(literal: #"{"key":"#)
        append(quoted: key)
        append(literal: #","version":"#)
        append(number: version)
        append(literal: #","record":"#)
        append(contentsOf: record)
        append(UInt8(ascii: "}"))
    }

    mutating func append(literal: StaticString) {
        append(contentsOf: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    /// Appends UTF-8 text as a JSON string.
    mutating func append(quoted text: [UInt8]) {
        text.withUnsafeBytes { JSONText.appendQuoted(utf8: $0, to: &self) }
    }

    mutating func append(number: Int64) {
        // The length of the longest number, including the sign; filled from the end.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var (rest, start) = (number.magnitude, 20)
            repeat {
                start -= 1
                digits.initializeElement(at: start, to: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
                rest /= 10
            } while rest > 0
            if number < 0 {
                start -= 1
                digits.initializeElement(at: start, to: UInt8(ascii: "-"))
            }
            append(contentsOf: UnsafeBufferPointer(rebasing: digits[start...]))
        }
    }
}
