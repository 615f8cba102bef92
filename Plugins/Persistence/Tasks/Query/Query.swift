import TaskKit

/// A query, checked.
struct Query: Sendable {
    var tablePath: TablePath
    var filter = Filter()
    var ordering = Ordering()
    var limit = Limits.defaultPageRecords
    /// Begin behind this position; nil: at the beginning.
    var after: Ordering.Position?
}

/// The records of a page, as the bytes of the callback's `result`.
struct Page {
    private var bytes = Array(#"{"records":["#.utf8)
    private(set) var count = 0

    /// Appends a record, unless the page holds others and would become too large with it.
    ///
    /// - Parameter body: Its JSON text.
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

    /// - Parameter cursor: Where to go on; nil: this was the last page.
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
    /// Appends `{"key", "version", "record"}`, the form in which a record is shown.
    ///
    /// - Parameter record: Its JSON text.
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

    /// Appends a text of UTF-8 as JSON.
    mutating func append(quoted text: [UInt8]) {
        text.withUnsafeBytes { JSONText.appendQuoted(utf8: $0, to: &self) }
    }

    mutating func append(number: Int64) {
        // As many as the longest has, its sign included; filled from behind.
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
