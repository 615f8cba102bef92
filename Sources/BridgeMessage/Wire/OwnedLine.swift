import Glibc

/// A line with memory of its own, its end and ``MessageSplitter/paddingBytes`` behind it.
struct OwnedLine: ~Copyable {
    /// Allocated by `malloc`.
    private let memory: UnsafeMutableRawBufferPointer
    private let count: Int

    /// Takes over memory that `malloc` has allocated, of which the line takes up the beginning. There is room for the
    /// line's end and the padding behind it.
    init(taking memory: UnsafeMutableRawBufferPointer, count: Int) {
        self.memory = memory
        self.count = count
        memory[count] = 0x0A
    }

    /// A copy of two parts, one behind the other.
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

    /// How much memory it takes.
    var heldBytes: Int { memory.count }

    /// The line without its end. Valid as long as this is there.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }
}
