import Glibc

/// Bytes for several receivers, or a part of the bytes that wait for one. Written once and kept until they are sent.
public final class SharedLine {
    /// A line with its end, or the end of one.
    public let bytes: UnsafeRawBufferPointer
    /// The memory of the bytes, from malloc.
    private let memory: UnsafeMutableRawPointer

    /// Copies the content of a buffer.
    public init(_ output: OutputBuffer) {
        let count = output.count
        guard let memory = malloc(max(1, count)) else { fatalError("no memory for \(count) bytes of output") }
        output.copy(to: memory)
        self.memory = memory
        bytes = UnsafeRawBufferPointer(start: memory, count: count)
    }

    /// Takes ownership of memory from malloc that contains the bytes in a range.
    init(adopting memory: UnsafeMutableRawPointer, _ range: Range<Int>) {
        self.memory = memory
        bytes = UnsafeRawBufferPointer(start: memory + range.lowerBound, count: range.count)
    }

    deinit { free(memory) }
}
