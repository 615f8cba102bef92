/// Input that was read and has to wait for its turn. It is taken from the front, and the rest stays where it is: a turn
/// costs what it takes, however much waits.
public struct HeldInput: Sendable {
    /// What waits, behind what has been taken, and padding.
    private var storage: [UInt8] = []
    /// How much of it has been taken.
    private var takenCount = 0

    /// None.
    public init() {}

    /// As much as is given.
    public init(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { append($0) }
    }

    /// How many bytes wait.
    public var count: Int { max(0, storage.count - MessageSplitter.paddingBytes - takenCount) }

    /// Whether nothing waits.
    public var isEmpty: Bool { storage.isEmpty }

    /// A copy of what waits.
    public var copy: [UInt8] { withBytes { Array($0) } }

    /// Lets more bytes wait behind those that do.
    public mutating func append(_ bytes: some Collection<UInt8>) {
        guard !bytes.isEmpty else { return }
        if !storage.isEmpty { storage.removeLast(MessageSplitter.paddingBytes) }
        storage.reserveCapacity(storage.count + bytes.count + MessageSplitter.paddingBytes)
        storage.append(contentsOf: bytes)
        storage.append(contentsOf: repeatElement(0, count: MessageSplitter.paddingBytes))
    }

    /// Calls `body` with what waits. ``MessageSplitter/paddingBytes`` bytes behind its end can be read.
    public func withBytes<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        storage.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[takenCount..<takenCount + count])) }
    }

    /// Takes bytes from the front; all of them: gives the memory back.
    public mutating func removeFirst(_ count: Int) {
        takenCount += count
        if self.count == 0 { self = HeldInput() }
    }

    /// Takes all that waits, and leaves none.
    public mutating func take() -> HeldInput {
        defer { self = HeldInput() }
        return self
    }

    /// Lets what was taken wait again, before what has been appended meanwhile.
    public mutating func putBack(_ taken: consuming HeldInput) {
        withBytes { taken.append($0) }
        self = taken
    }
}
