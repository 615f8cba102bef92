/// A queue of waiting lines with a maximum number of lines and of bytes.
struct BoundedLines {
    private let maximumLines: Int
    private let maximumBytes: Int
    private var lines: [[UInt8]] = []
    private var bytes = 0

    init(lines: Int, bytes: Int) {
        maximumLines = lines
        maximumBytes = bytes
    }

    /// Adds a line; returns false if there is no room.
    mutating func append(_ line: [UInt8]) -> Bool {
        guard lines.count < maximumLines, bytes + line.count <= maximumBytes else { return false }
        lines.append(line)
        bytes += line.count
        return true
    }

    /// Removes and returns all lines, in their order.
    mutating func takeAll() -> [[UInt8]] {
        defer { removeAll() }
        return lines
    }

    mutating func removeAll() {
        lines = []
        bytes = 0
    }
}
