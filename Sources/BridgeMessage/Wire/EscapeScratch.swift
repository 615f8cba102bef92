import BridgeJSON

/// Memory for strings whose escapes were decoded. It is released together with the message that contains them.
///
/// Most messages have no such string; then nothing is allocated.
struct EscapeScratch: ~Copyable {
    private var blocks: [UnsafeMutableRawBufferPointer] = []
    /// The number of blocks for which the list keeps its capacity.
    private static let maximumKeptBlocks = 16

    deinit { for block in blocks { block.deallocate() } }

    /// Invalidates everything that was handed out before.
    @inline(__always)
    mutating func reset() {
        if !blocks.isEmpty { release() }
    }

    @inline(never)
    private mutating func release() {
        for block in blocks { block.deallocate() }
        blocks.removeAll(keepingCapacity: blocks.count <= Self.maximumKeptBlocks)
    }

    /// Returns memory for `count` bytes, with the padding that every text has.
    mutating func take(_ count: Int) -> UnsafeMutableRawBufferPointer {
        let block = UnsafeMutableRawBufferPointer.allocate(
            byteCount: count + MessageSplitter.paddingBytes, alignment: 1)
        blocks.append(block)
        block.initializeMemory(as: UInt8.self, repeating: 0)
        return UnsafeMutableRawBufferPointer(rebasing: block[..<count])
    }

    /// Returns the decoded content of a JSON string, which is never longer. The grammar of the content has been
    /// checked, so that every escape is complete and every surrogate has its partner.
    mutating func unescape(_ content: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        // With its padding, because readers of texts read ahead.
        let block = take(content.count)
        return UnsafeRawBufferPointer(rebasing: block[..<Escapes.resolve(content, into: block)])
    }
}
