import BridgeMessage

/// The fuzzer's bytes, split into parts.
struct FuzzInput {
    /// The end of a record, so that an insertion or removal in one record leaves the others unchanged. A control
    /// character, which JSON never contains and which editors show.
    static let recordEnd: UInt8 = 0x1E

    /// The placeholder for the id of the last call that was forwarded to the sender.
    static let idPlace: UInt8 = 0x1D

    /// The placeholder for the name of the last stream that was created.
    static let streamPlace: UInt8 = 0x1C

    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isEmpty: Bool { rest.isEmpty }

    /// Returns one byte; 0 at the end.
    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    /// Returns the bytes up to the end of this record, or of the input.
    mutating func record() -> [UInt8] {
        let record = rest.prefix { $0 != Self.recordEnd }
        rest = rest.dropFirst(record.count + 1)
        return Array(record)
    }

    /// Returns all remaining bytes.
    mutating func all() -> [UInt8] {
        defer { rest = [] }
        return Array(rest)
    }
}

/// The names in received answers, for later messages.
final class FuzzNames {
    /// The name of the last stream that was created.
    var stream: [UInt8] = []

    /// Returns the bytes with the placeholders replaced by the names.
    func filled(_ bytes: some Collection<UInt8>) -> [UInt8] {
        Array(
            bytes.split(separator: FuzzInput.streamPlace, omittingEmptySubsequences: false).joined(separator: stream))
    }
}

/// Passes the bytes in memory of their own, with exactly the padding that a piece of input must have. So
/// AddressSanitizer detects code that reads further.
func withPadding<T>(_ bytes: some Collection<UInt8>, _ body: (UnsafeRawBufferPointer) -> T) -> T {
    let memory = UnsafeMutableRawBufferPointer.allocate(
        byteCount: bytes.count + MessageSplitter.paddingBytes, alignment: 1)
    defer { memory.deallocate() }
    memory.copyBytes(from: bytes)
    // Quotes: they would end a string if they were read.
    UnsafeMutableRawBufferPointer(rebasing: memory[bytes.count...]).initializeMemory(as: UInt8.self, repeating: 0x22)
    return body(UnsafeRawBufferPointer(rebasing: memory[..<bytes.count]))
}

extension [UInt8] {
    /// The text for messages.
    var shown: String { String(decoding: self, as: UTF8.self).debugDescription }
}
