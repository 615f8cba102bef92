internal import Glibc

/// The ends of lines within bytes. C looks at many bytes at a time: messages have a megabyte.
enum LineEnds {
    private static let end = UInt8(ascii: "\n")

    /// The index of the last one; nil: there is none.
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

    /// A line with spaces in the place of line ends: these are white space within JSON, and would end the message.
    static func replaced(in line: ArraySlice<UInt8>) -> [UInt8] {
        let hasEnds = line.withUnsafeBytes { raw in
            guard let start = raw.baseAddress else { return false }
            return [end, UInt8(ascii: "\r")].contains { memchr(start, Int32($0), raw.count) != nil }
        }
        return hasEnds ? line.map { $0 == end || $0 == UInt8(ascii: "\r") ? UInt8(ascii: " ") : $0 } : Array(line)
    }
}
