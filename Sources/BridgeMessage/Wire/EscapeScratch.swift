import BridgeJSON

/// Memory for strings whose escapes had to be resolved, given back together with the message they belong to.
///
/// Most messages have no such string: then nothing is ever allocated.
struct EscapeScratch: ~Copyable {
    private var blocks: [UnsafeMutableRawBufferPointer] = []
    /// Room for so many is kept from one message to the next.
    private static let maximumKeptBlocks = 16

    deinit { for block in blocks { block.deallocate() } }

    /// Everything handed out so far is invalid from here on.
    @inline(__always)
    mutating func reset() {
        if !blocks.isEmpty { release() }
    }

    @inline(never)
    private mutating func release() {
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
        return UnsafeRawBufferPointer(rebasing: block[..<Escapes.resolve(content, into: block)])
    }
}
