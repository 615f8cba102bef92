import BridgeMessage

/// Bytes from the fuzzer, taken apart.
struct FuzzInput {
    /// Ends a record, so that what is put in or taken out of one leaves the others as they are. A control character,
    /// which JSON never has and which editors show.
    static let recordEnd: UInt8 = 0x1E

    /// Stands for the id of the last call that whoever speaks was asked to work on.
    static let idPlace: UInt8 = 0x1D

    /// Stands for the name of the stream that was made last.
    static let streamPlace: UInt8 = 0x1C

    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isEmpty: Bool { rest.isEmpty }

    /// One byte; 0 at the end.
    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    /// The bytes up to the end of this record, or of the input.
    mutating func record() -> [UInt8] {
        let record = rest.prefix { $0 != Self.recordEnd }
        rest = rest.dropFirst(record.count + 1)
        return Array(record)
    }

    /// Everything that is left.
    mutating func all() -> [UInt8] {
        defer { rest = [] }
        return Array(rest)
    }
}

/// What answers have named, for what is sent later.
final class FuzzNames {
    /// The stream that was made last.
    var stream: [UInt8] = []

    /// The bytes with the names in the places of what stands for them.
    func filled(_ bytes: some Collection<UInt8>) -> [UInt8] {
        Array(
            bytes.split(separator: FuzzInput.streamPlace, omittingEmptySubsequences: false).joined(separator: stream))
    }
}

/// Passes bytes in memory of their own, with the padding that a piece of input must have and not a byte more, so that
/// AddressSanitizer sees whoever reads further.
func withPadding<T>(_ bytes: some Collection<UInt8>, _ body: (UnsafeRawBufferPointer) -> T) -> T {
    let memory = UnsafeMutableRawBufferPointer.allocate(
        byteCount: bytes.count + MessageSplitter.paddingBytes, alignment: 1)
    defer { memory.deallocate() }
    memory.copyBytes(from: bytes)
    // What would end a string, were it read.
    UnsafeMutableRawBufferPointer(rebasing: memory[bytes.count...]).initializeMemory(as: UInt8.self, repeating: 0x22)
    return body(UnsafeRawBufferPointer(rebasing: memory[..<bytes.count]))
}

extension [UInt8] {
    /// For sentences about it.
    var shown: String { String(decoding: self, as: UTF8.self).debugDescription }
}
