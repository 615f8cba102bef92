import TaskKit

/// Splits a file that arrives in chunks of any size into parts of whole lines.
struct LineParts: Sendable {
    /// Some lines of a file.
    struct Part: Sendable {
        var bytes: [UInt8]
        /// The number of the first line, starting at 1.
        var firstLine: Int
    }

    /// The maximum number of lines in a part: as many as a call accepts cookies.
    static let partLines = 500
    /// The maximum length of a part. Reading it blocks other calls for some milliseconds.
    static let partBytes = 256 << 10
    /// The maximum length of a line, which is more than the longest cookie in any format.
    static let maximumLineBytes = 64 << 10

    private var pending: [UInt8] = []
    /// The number of scanned bytes, the end of the last whole line, and the number of whole lines.
    private var scanned = 0
    private var end = 0
    private var lines = 0
    private var firstLine = 1

    mutating func append(_ bytes: [UInt8]) { pending += bytes }

    /// Returns the next part; `nil` if more bytes are needed.
    ///
    /// - Throws: `options.invalid`, if a line is too long.
    mutating func next() throws(BridgeError) -> Part? {
        while scanned < pending.count {
            scanned += 1
            if pending[scanned - 1] == UInt8(ascii: "\n") { (end, lines) = (scanned, lines + 1) }
            guard scanned - end <= Self.maximumLineBytes else {
                throw .unfit(
                    "$.stream", expected: "lines of at most \(Self.maximumLineBytes) bytes",
                    got: "a longer one, line \(firstLine + lines)")
            }
            if lines == Self.partLines || scanned == Self.partBytes { return cut(at: end) }
        }
        return nil
    }

    /// Returns the rest at the end of the file; `nil` if there is none.
    mutating func last() -> Part? {
        lines += 1
        return pending.isEmpty ? nil : cut(at: pending.count)
    }

    private mutating func cut(at end: Int) -> Part {
        defer {
            pending.removeFirst(end)
            firstLine += lines
            (scanned, self.end, lines) = (scanned - end, 0, 0)
        }
        return Part(bytes: Array(pending[..<end]), firstLine: firstLine)
    }
}
