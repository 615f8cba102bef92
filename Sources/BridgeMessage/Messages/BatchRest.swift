/// The items of a batch that have not been handled, copied from their line: JSON that has been checked.
public struct BatchRest: Sendable {
    private let bytes: [UInt8]
    private var offset = 0

    /// - Parameters:
    ///   - line: the line of the batch.
    ///   - start: where the next item begins.
    public init(_ line: UnsafeRawBufferPointer, from start: Int) { bytes = Array(line[start...]) }

    /// How many bytes are kept.
    public var count: Int { bytes.count }

    /// The rest as a batch of its own, with the end of its line.
    public var line: [UInt8] { [UInt8(ascii: "[")] + bytes[offset...] + [UInt8(ascii: "\n")] }

    /// The next item; nil: there is none. Valid until this changes or goes.
    mutating func next(_ body: (UnsafeRawBufferPointer) -> Void) -> Bool {
        let (start, end) = bytes.withUnsafeBytes { Self.item(of: $0, from: offset) }
        guard start < end else { return false }
        offset = end
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start..<end])) }
        return true
    }

    /// Whether another item follows.
    var isEmpty: Bool {
        bytes.withUnsafeBytes { bytes in
            let next = Self.item(of: bytes, from: offset)
            return next.start == next.end
        }
    }

    /// Where the next item begins and ends. It is known to be good JSON: strings and depth alone have to be followed.
    private static func item(of bytes: UnsafeRawBufferPointer, from offset: Int) -> (start: Int, end: Int) {
        var start = offset
        while start < bytes.count, isSpace(bytes[start]) || bytes[start] == UInt8(ascii: ",") { start += 1 }
        var end = start
        var depth = 0
        while end < bytes.count {
            switch bytes[end] {
            case UInt8(ascii: "\""): end = endOfString(bytes, from: end)
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return (start, end) }
                depth -= 1
            case UInt8(ascii: ",") where depth == 0: return (start, end)
            default: break
            }
            end += 1
        }
        return (start, end)
    }

    /// The index of the quote that ends the string which begins at `start`.
    private static func endOfString(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var index = start + 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return index
    }
}
