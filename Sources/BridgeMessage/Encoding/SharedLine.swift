/// A line that goes to many receivers: written once, held by each of them until it has been written.
public final class SharedLine {
    /// The line with its end.
    public let bytes: UnsafeRawBufferPointer

    /// Copies what a buffer holds.
    public init(_ output: OutputBuffer) {
        let source = output.bytes
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: source.count, alignment: 1)
        copy.copyMemory(from: source)
        bytes = UnsafeRawBufferPointer(copy)
    }

    deinit { bytes.deallocate() }
}
