/// A destination of written text.
protocol ByteSink: ~Copyable {
    mutating func append(_ byte: UInt8)
    mutating func append(contentsOf bytes: UnsafeRawBufferPointer)
}

extension ByteSink where Self: ~Copyable {
    /// Appends the text of a literal.
    mutating func append(literal: StaticString) {
        append(contentsOf: UnsafeRawBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }
}

extension [UInt8]: ByteSink {
    mutating func append(contentsOf bytes: UnsafeRawBufferPointer) {
        append(contentsOf: bytes.bindMemory(to: UInt8.self))
    }
}

/// A buffer of plain elements that grows and is cut at its end: an array without the cost of value semantics.
///
/// It is unsafe inside. An array checks on every access whether it is shared and in bounds, which costs more than the
/// access to a byte. This buffer has one owner, and every index comes from its own `append`; indices are checked in
/// debug builds.
struct GrowingBuffer<Element: BitwiseCopyable>: ~Copyable {
    private(set) var base: UnsafeMutablePointer<Element>
    private(set) var count = 0
    private(set) var capacity: Int

    /// Creates a buffer without capacity.
    init() {
        // `!`: no alignment is 0.
        base = UnsafeMutablePointer(bitPattern: MemoryLayout<Element>.alignment)!
        capacity = 0
    }

    init(minimumCapacity: Int) {
        capacity = max(minimumCapacity, 8)
        base = .allocate(capacity: capacity)
    }

    deinit { if capacity > 0 { base.deallocate() } }

    var elements: UnsafeMutableBufferPointer<Element> { UnsafeMutableBufferPointer(start: base, count: count) }

    subscript(index: Int) -> Element {
        @inline(__always) get {
            assert(index >= 0 && index < count)
            return base[index]
        }
        @inline(__always) _modify {
            assert(index >= 0 && index < count)
            yield &base[index]
        }
    }

    @inline(__always)
    mutating func append(_ element: Element) {
        if count == capacity { grow(1) }
        (base + count).initialize(to: element)
        count += 1
    }

    /// Makes room for this number of further elements. After writing them, the caller calls `advance`.
    @inline(__always) @discardableResult
    mutating func reserve(_ added: Int) -> UnsafeMutablePointer<Element> {
        if capacity - count < added { grow(added) }
        return base + count
    }

    @inline(__always)
    mutating func advance(_ added: Int) {
        assert(added <= capacity - count)
        count += added
    }

    /// Removes the elements after the first `length` ones.
    mutating func cut(to length: Int) {
        assert(length >= 0 && length <= count)
        count = length
    }

    @inline(never)
    private mutating func grow(_ added: Int) {
        let enough = max(capacity * 2, count + added, 8)
        let larger = UnsafeMutablePointer<Element>.allocate(capacity: enough)
        larger.moveInitialize(from: base, count: count)
        if capacity > 0 { base.deallocate() }
        (base, capacity) = (larger, enough)
    }
}

extension GrowingBuffer: ByteSink where Element == UInt8 {
    @inline(__always)
    mutating func append(contentsOf bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        UnsafeMutableRawPointer(reserve(bytes.count)).copyMemory(from: source, byteCount: bytes.count)
        advance(bytes.count)
    }
}
