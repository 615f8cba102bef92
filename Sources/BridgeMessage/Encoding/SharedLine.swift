import Glibc

/// Bytes that go to many receivers, or a part of what waits for one: written once, held until they have been written.
public final class SharedLine {
    /// A line with its end, or the end of one.
    public let bytes: UnsafeRawBufferPointer
    /// Where they lie, from malloc.
    private let memory: UnsafeMutableRawPointer

    /// Copies what a buffer holds.
    public init(_ output: OutputBuffer) {
        let count = output.count
        guard let memory = malloc(max(1, count)) else { fatalError("no memory for \(count) bytes of output") }
        output.copy(to: memory)
        self.memory = memory
        bytes = UnsafeRawBufferPointer(start: memory, count: count)
    }

    /// Takes memory of malloc's over, of which a part bears the bytes.
    init(adopting memory: UnsafeMutableRawPointer, _ range: Range<Int>) {
        self.memory = memory
        bytes = UnsafeRawBufferPointer(start: memory + range.lowerBound, count: range.count)
    }

    deinit { free(memory) }
}
