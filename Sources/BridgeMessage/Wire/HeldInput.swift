/// Input that was read and waits for its turn. Bytes are taken from the front without moving the rest: the cost of a
/// turn depends only on the bytes that it takes.
public struct HeldInput: Sendable {
    /// The bytes that have been taken, those that wait, and padding.
    private var storage: [UInt8] = []
    /// The number of bytes at the beginning that have been taken.
    private var takenCount = 0

    /// Creates an empty input.
    public init() {}

    /// Creates an input with these bytes.
    public init(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { append($0) }
    }

    /// The number of bytes that wait.
    public var count: Int { max(0, storage.count - MessageSplitter.paddingBytes - takenCount) }

    /// Whether no bytes wait.
    public var isEmpty: Bool { storage.isEmpty }

    /// A copy of the waiting bytes.
    public var copy: [UInt8] { withBytes { Array($0) } }

    /// Appends bytes after the waiting ones.
    public mutating func append(_ bytes: some Collection<UInt8>) {
        guard !bytes.isEmpty else { return }
        if !storage.isEmpty { storage.removeLast(MessageSplitter.paddingBytes) }
        storage.reserveCapacity(storage.count + bytes.count + MessageSplitter.paddingBytes)
        storage.append(contentsOf: bytes)
        storage.append(contentsOf: repeatElement(0, count: MessageSplitter.paddingBytes))
    }

    /// Calls `body` with the waiting bytes. ``MessageSplitter/paddingBytes`` bytes after their end are readable.
    public func withBytes<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        storage.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[takenCount..<takenCount + count])) }
    }

    /// Removes bytes from the front. Releases the memory if none are left.
    public mutating func removeFirst(_ count: Int) {
        takenCount += count
        if self.count == 0 { self = HeldInput() }
    }

    /// Returns all waiting bytes, and leaves none.
    public mutating func take() -> HeldInput {
        defer { self = HeldInput() }
        return self
    }

    /// Puts the input from ``take()`` back, before bytes that have been appended meanwhile.
    public mutating func putBack(_ taken: consuming HeldInput) {
        withBytes { taken.append($0) }
        self = taken
    }
}
