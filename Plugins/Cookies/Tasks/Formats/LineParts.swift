import TaskKit

/// A file that comes in chunks of any size, cut into parts of whole lines.
struct LineParts: Sendable {
    /// Some lines of a file.
    struct Part: Sendable {
        var bytes: [UInt8]
        /// The number of the first one, from 1 on.
        var firstLine: Int
    }

    /// How many lines a part has: as many cookies as a call takes.
    static let partLines = 500
    /// How long a part is: reading it holds up others for some milliseconds.
    static let partBytes = 256 << 10
    /// More than the longest cookie has in any form.
    static let maximumLineBytes = 64 << 10

    private var pending: [UInt8] = []
    /// How much of it has been looked at, where its last whole line ends, and how many whole lines there are.
    private var scanned = 0
    private var end = 0
    private var lines = 0
    private var firstLine = 1

    mutating func append(_ bytes: [UInt8]) { pending += bytes }

    /// The next part; nil: more bytes are needed.
    ///
    /// - Throws: `options.invalid`, where a line is too long.
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

    /// What is left at the end of the file; nil: nothing.
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
