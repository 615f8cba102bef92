import Glibc

/// Output bytes: messages are appended at the end, and the socket takes bytes from the front.
///
/// It is one allocation that grows by doubling. When it is empty, memory above ``keptCapacityBytes`` is released. From
/// ``partBytes`` on, the allocation becomes a part and a new one begins, so that no append copies more waiting bytes
/// than that. Not thread-safe; it has one owner.
///
/// `@exclusivity(unchecked)`: docs/architecture.md explains the reason.
public final class OutputBuffer {
    /// The capacity that an empty buffer keeps, so that a busy connection does not allocate in every turn.
    public static let keptCapacityBytes = 16 * 1024

    /// The number of waiting bytes up to which growing copies them.
    static let partBytes = 128 * 1024

    @exclusivity(unchecked) @usableFromInline var storage: UnsafeMutableRawPointer?
    @exclusivity(unchecked) @usableFromInline var capacityBytes = 0
    @exclusivity(unchecked) @usableFromInline var startOffset = 0
    @exclusivity(unchecked) @usableFromInline var endOffset = 0
    /// Bytes that are sent before the storage.
    private struct Part {
        let line: SharedLine
        /// The number of its bytes that wait.
        var count: Int

        init(_ line: SharedLine) { (self.line, count) = (line, line.bytes.count) }

        var bytes: UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: line.bytes[(line.bytes.count - count)...])
        }
    }

    /// Lines that are shared with others, and former storage, in their order.
    @exclusivity(unchecked) private var parts: [Part] = []
    /// The number of waiting bytes in all parts.
    @exclusivity(unchecked) @usableFromInline var partsBytes = 0

    /// Descriptors that are sent with a byte, in their order, each with the number of bytes that wait before it.
    @exclusivity(unchecked) private var passed: [(offset: Int, descriptor: PassedDescriptor)] = []

    /// Creates an empty buffer without memory.
    public init() {}

    deinit { free(storage) }

    /// The number of bytes that were ever removed.
    @exclusivity(unchecked) public private(set) var removedCount: UInt64 = 0

    /// The number of bytes that wait.
    @inlinable
    public var count: Int { endOffset - startOffset + partsBytes }

    /// Whether no bytes wait.
    @inlinable
    public var isEmpty: Bool { endOffset == startOffset && partsBytes == 0 }

    /// The bytes to write next: all waiting bytes, or the first part of them. Valid until the buffer changes.
    public var bytes: UnsafeRawBufferPointer { partsBytes > 0 ? parts[0].bytes : storedBytes }

    private var storedBytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: storage.map { $0 + startOffset }, count: endOffset - startOffset)
    }

    /// Returns all bytes that wait.
    public func copy() -> [UInt8] {
        var copy: [UInt8] = []
        copy.reserveCapacity(count)
        for part in parts { copy += part.bytes }
        return copy + storedBytes
    }

    /// Copies all bytes that wait to memory with enough space.
    func copy(to destination: UnsafeMutableRawPointer) {
        var destination = destination
        for bytes in parts.map(\.bytes) + [storedBytes] {
            guard let start = bytes.baseAddress else { continue }
            destination.copyMemory(from: start, byteCount: bytes.count)
            destination += bytes.count
        }
    }

    /// Removes the first `count` bytes of ``bytes`` after they have been written.
    public func removeFirst(_ count: Int) {
        removedCount &+= UInt64(count)
        if !passed.isEmpty { removePassed(count) }
        guard partsBytes == 0 else { return removeFirstOfParts(count) }
        startOffset += count
        guard startOffset == endOffset else { return }
        startOffset = 0
        endOffset = 0
        if capacityBytes > Self.keptCapacityBytes { releaseMemory() }
    }

    /// Removes all waiting bytes.
    public func removeAll() {
        passed = []
        parts = []
        removedCount &+= UInt64(partsBytes)
        partsBytes = 0
        removeFirst(endOffset - startOffset)
    }

    private func removeFirstOfParts(_ count: Int) {
        partsBytes -= count
        parts[0].count -= count
        if parts[0].count == 0 { parts.removeFirst() }
    }

    /// Removes the byte that was appended last.
    public func removeLast() { endOffset -= 1 }

    // MARK: Descriptors

    /// The number of descriptors that wait.
    public var passedCount: Int { passed.count }

    /// Sends a descriptor with the byte that is appended next.
    public func pass(_ descriptor: PassedDescriptor) { passed.append((count, descriptor)) }

    /// The bytes to write next, and the descriptor that is sent with the first of them; nil if there is none. For a
    /// buffer in which descriptors wait. Valid until the buffer changes.
    public var front: (bytes: UnsafeRawBufferPointer, descriptor: PassedDescriptor?) {
        let first = passed.first.flatMap { $0.offset == 0 ? $0.descriptor : nil }
        let end = passed.first { $0.offset > 0 }?.offset ?? .max
        return (UnsafeRawBufferPointer(rebasing: bytes.prefix(end)), first)
    }

    private func removePassed(_ count: Int) {
        if count > 0, passed[0].offset == 0 { passed.removeFirst() }
        for index in passed.indices { passed[index].offset -= count }
    }

    // MARK: Parts

    /// Puts a line into an empty buffer without copying it.
    ///
    /// - Parameter head: The bytes before it.
    public func lead(_ head: [UInt8] = [], with line: SharedLine) {
        precondition(isEmpty, "a shared line goes into an empty buffer")
        if !head.isEmpty {
            head.withUnsafeBytes { append($0) }
            putAside()
        }
        add(Part(line))
    }

    /// Moves all waiting bytes of another buffer to the end of this one. Long content is not copied.
    public func take(from other: OutputBuffer) {
        if other.count < Self.partBytes {
            for part in other.parts { append(part.bytes) }
            append(other.storedBytes)
        } else {
            putAside()
            other.putAside()
            for part in other.parts { add(part) }
        }
        other.removeAll()
    }

    private func add(_ part: Part) {
        guard part.count > 0 else { return }
        parts.append(part)
        partsBytes += part.count
    }

    /// Turns the storage into a part.
    private func putAside() {
        guard let storage, endOffset > startOffset else { return }
        add(Part(SharedLine(adopting: storage, startOffset..<endOffset)))
        self.storage = nil
        capacityBytes = 0
        startOffset = 0
        endOffset = 0
    }

    /// Releases the memory if no bytes wait.
    public func releaseMemory() {
        guard isEmpty else { return }
        free(storage)
        storage = nil
        capacityBytes = 0
        startOffset = 0
        endOffset = 0
    }

    /// Appends bytes.
    @inline(__always)
    public func append(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress else { return }
        reserve(bytes.count).copyMemory(from: base, byteCount: bytes.count)
        endOffset += bytes.count
    }

    /// Appends `count` bytes, all of which `fill` writes.
    @inline(__always)
    func append(count: Int, _ fill: (UnsafeMutableRawPointer) -> Void) {
        fill(reserve(count))
        endOffset += count
    }

    /// Appends the text of a literal.
    @inline(__always)
    public func append(_ literal: StaticString) {
        let count = literal.utf8CodeUnitCount
        reserve(count).copyMemory(from: literal.utf8Start, byteCount: count)
        endOffset += count
    }

    /// Appends one byte.
    @inline(__always)
    public func append(_ byte: UInt8) {
        reserve(1).storeBytes(of: byte, as: UInt8.self)
        endOffset += 1
    }

    /// Appends a number in decimal digits.
    public func append(decimal number: UInt64) {
        let count = Self.decimalDigitCount(of: number)
        let destination = reserve(count)
        var rest = number
        var offset = count
        while rest >= 10 {
            let (quotient, pair) = rest.quotientAndRemainder(dividingBy: 100)
            offset &-= 2
            let digits = UnsafeRawPointer(Self.pairsOfDigits.utf8Start).loadUnaligned(
                fromByteOffset: 2 &* Int(truncatingIfNeeded: pair), as: UInt16.self)
            destination.storeBytes(of: digits, toByteOffset: offset, as: UInt16.self)
            rest = quotient
        }
        if offset > 0 {
            destination.storeBytes(of: UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest), as: UInt8.self)
        }
        endOffset += count
    }

    /// The digits of 0 to 99, two for each number.
    private static var pairsOfDigits: StaticString {
        """
        00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354\
        555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899
        """
    }

    /// Returns the number of decimal digits of a number.
    @inline(__always)
    private static func decimalDigitCount(of number: UInt64) -> Int {
        var count = 1
        var bound: UInt64 = 10
        while number >= bound {
            count &+= 1
            // The longest number has twenty digits: the next bound would exceed 64 bits.
            if count == 20 { break }
            bound &*= 10
        }
        return count
    }

    /// Returns memory for `count` bytes after the end.
    @inline(__always)
    private func reserve(_ count: Int) -> UnsafeMutableRawPointer {
        if endOffset + count > capacityBytes { grow(by: count) }
        // After `grow` there is storage, even for zero bytes.
        return storage.unsafelyUnwrapped + endOffset
    }

    private func grow(by count: Int) {
        if endOffset - startOffset >= Self.partBytes { putAside() }
        let waiting = endOffset - startOffset
        if let storage, startOffset > 0, waiting + count <= capacityBytes / 2 {
            memmove(storage, storage + startOffset, waiting)
        } else {
            let minimum = partsBytes > 0 ? 2 * Self.partBytes : 1024
            let capacity = max(minimum, capacityBytes * 2, (waiting + count) * 5 / 4)
            guard let grown = malloc(capacity) else { fatalError("no memory for \(capacity) bytes of output") }
            if let storage { memcpy(grown, storage + startOffset, waiting) }
            free(storage)
            storage = grown
            capacityBytes = capacity
        }
        startOffset = 0
        endOffset = waiting
    }
}
