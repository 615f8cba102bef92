import BridgeMessage

/// Calls as in the loop's read buffer: sixteen lines of 150 bytes, and readable bytes after them.
final class Input {
    static let lineCount = 16

    private let memory: UnsafeMutableRawBufferPointer
    /// All lines.
    let bytes: UnsafeRawBufferPointer
    /// The first line, without its end.
    let firstLine: UnsafeRawBufferPointer

    init() {
        var text = ""
        for number in 0..<Self.lineCount {
            text += #"{"task":"Echo","options":{"content":"A message of the usual size, for a person","#
            text += #""buttons":["OK","Cancel"],"number":12345,"flag":true},"callbackId":\#(1_000_000 + number)}"#
            text += "\n"
        }
        let count = text.utf8.count
        memory = .allocate(byteCount: count + MessageSplitter.paddingBytes, alignment: 64)
        memory.copyBytes(from: Array(text.utf8))
        memory[count...].initializeMemory(as: UInt8.self, repeating: 0)
        bytes = UnsafeRawBufferPointer(rebasing: memory[..<count])
        firstLine = UnsafeRawBufferPointer(rebasing: bytes[..<(count / Self.lineCount - 1)])
    }

    deinit { memory.deallocate() }
}
