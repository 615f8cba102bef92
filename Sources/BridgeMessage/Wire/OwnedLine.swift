import Glibc

/// A line with its own memory, followed by its end and ``MessageSplitter/paddingBytes``.
struct OwnedLine: ~Copyable {
    /// Allocated by `malloc`.
    private let memory: UnsafeMutableRawBufferPointer
    private let count: Int

    /// Takes ownership of memory from `malloc` that begins with the line. It has space for the line's end and the
    /// padding after it.
    init(taking memory: UnsafeMutableRawBufferPointer, count: Int) {
        self.memory = memory
        self.count = count
        memory[count] = 0x0A
    }

    /// Copies two parts, one after the other.
    init(copying head: UnsafeRawBufferPointer, _ tail: UnsafeRawBufferPointer) {
        let count = head.count + tail.count
        let capacity = count + MessageSplitter.paddingBytes
        guard let memory = malloc(capacity) else { fatalError("no memory for a line") }
        let buffer = UnsafeMutableRawBufferPointer(start: memory, count: capacity)
        buffer.copyMemory(from: head)
        UnsafeMutableRawBufferPointer(rebasing: buffer[head.count...]).copyMemory(from: tail)
        self.init(taking: buffer, count: count)
    }

    deinit { free(memory.baseAddress) }

    /// The number of bytes of memory that it uses.
    var heldBytes: Int { memory.count }

    /// The line without its end. Valid during the lifetime of this value.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }
}
