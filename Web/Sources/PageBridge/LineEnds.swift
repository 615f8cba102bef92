internal import Glibc

/// Finds line ends within bytes. memchr() examines many bytes at a time: messages may have a megabyte.
enum LineEnds {
    private static let end = UInt8(ascii: "\n")

    /// Returns the index of the last line end; `nil` if there is none.
    static func last(in bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.last != end else { return bytes.endIndex - 1 }
        return bytes.withUnsafeBytes { raw in
            guard let start = raw.baseAddress else { return nil }
            var found: Int?
            var next = 0
            while let place = memchr(start + next, Int32(end), raw.count - next) {
                let index = UnsafeRawPointer(place) - start
                found = bytes.startIndex + index
                next = index + 1
            }
            return found
        }
    }

    /// Returns a line with spaces in place of line ends, which are white space within JSON and would end the message.
    static func replaced(in line: ArraySlice<UInt8>) -> [UInt8] {
        let hasEnds = line.withUnsafeBytes { raw in
            guard let start = raw.baseAddress else { return false }
            return [end, UInt8(ascii: "\r")].contains { memchr(start, Int32($0), raw.count) != nil }
        }
        return hasEnds ? line.map { $0 == end || $0 == UInt8(ascii: "\r") ? UInt8(ascii: " ") : $0 } : Array(line)
    }
}
