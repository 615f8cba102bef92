/// Constant parts of messages.
enum DialectText {
    // With the padding that every text has. `nonisolated(unsafe)` is safe here: initialised once, never changed, never
    // freed.
    nonisolated(unsafe) static let emptyObject = literal("{}")  // never written again
    nonisolated(unsafe) static let null = literal("null")  // never written again
    nonisolated(unsafe) static let nothing = UnsafeRawBufferPointer(start: nil, count: 0)  // has no memory

    private static func literal(_ text: String) -> UnsafeRawBufferPointer {
        let bytes = UnsafeMutableRawBufferPointer.allocate(
            byteCount: text.utf8.count + MessageSplitter.paddingBytes, alignment: 1)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        bytes.copyBytes(from: text.utf8)
        return UnsafeRawBufferPointer(rebasing: bytes[..<text.utf8.count])
    }
}
