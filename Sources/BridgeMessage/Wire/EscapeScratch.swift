/// Memory for strings whose escapes had to be resolved, given back all at once with the message they belong to.
///
/// Most messages have no such string: then nothing is ever allocated.
struct EscapeScratch: ~Copyable {
    private var blocks: [UnsafeMutableRawBufferPointer] = []
    /// Room for so many is kept from one message to the next.
    private static let maximumKeptBlocks = 16

    deinit { for block in blocks { block.deallocate() } }

    /// Everything handed out so far is invalid from here on.
    mutating func reset() {
        guard !blocks.isEmpty else { return }
        for block in blocks { block.deallocate() }
        blocks.removeAll(keepingCapacity: blocks.count <= Self.maximumKeptBlocks)
    }

    /// Memory for so many bytes, with the padding that every text has.
    mutating func take(_ count: Int) -> UnsafeMutableRawBufferPointer {
        let block = UnsafeMutableRawBufferPointer.allocate(
            byteCount: count + MessageSplitter.paddingBytes, alignment: 1)
        blocks.append(block)
        block.initializeMemory(as: UInt8.self, repeating: 0)
        return UnsafeMutableRawBufferPointer(rebasing: block[..<count])
    }

    /// The bytes that the content of a JSON string stands for. The content's grammar has been checked, so that
    /// every escape is whole and every surrogate has its partner. They are never more than the content's.
    mutating func unescape(_ content: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        // With its padding: those who read texts read ahead.
        let block = take(content.count)
        var read = 0
        var written = 0
        while read < content.count {
            let byte = content[read]
            guard byte == UInt8(ascii: "\\") else {
                block[written] = byte
                written += 1
                read += 1
                continue
            }
            let escape = content[read + 1]
            if escape == UInt8(ascii: "u") {
                let (scalar, length) = Self.scalar(content, at: read)
                for unit in UTF8.encode(scalar).unsafelyUnwrapped {  // a checked scalar always encodes
                    block[written] = unit
                    written += 1
                }
                read += length
            } else {
                block[written] = Self.simple(escape)
                written += 1
                read += 2
            }
        }
        return UnsafeRawBufferPointer(rebasing: block[..<written])
    }

    private static func simple(_ escape: UInt8) -> UInt8 {
        switch escape {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: escape
        }
    }

    /// The scalar of a `\uXXXX`, or of a pair of them, and how many bytes it takes up.
    private static func scalar(_ content: UnsafeRawBufferPointer, at start: Int) -> (Unicode.Scalar, Int) {
        let high = hex(content, at: start + 2)
        guard high & 0xFC00 == 0xD800 else { return (Unicode.Scalar(high) ?? "\u{FFFD}", 6) }
        let low = hex(content, at: start + 8)
        return (Unicode.Scalar(0x10000 + (high & 0x3FF) << 10 + (low & 0x3FF)) ?? "\u{FFFD}", 12)
    }

    private static func hex(_ content: UnsafeRawBufferPointer, at start: Int) -> UInt32 {
        var value: UInt32 = 0
        for byte in content[start..<start + 4] {
            let digit = byte <= UInt8(ascii: "9") ? byte - UInt8(ascii: "0") : (byte | 0x20) - UInt8(ascii: "a") + 10
            value = value << 4 | UInt32(digit)
        }
        return value
    }
}
