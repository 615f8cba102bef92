import Glibc

/// A field that some dialect knows: the native ones by their own numbers, the others behind them.
struct FieldID: Sendable, Hashable {
    private let raw: UInt8
    @inline(__always)
    var number: Int { Int(raw) }

    /// At most so many, all dialects together: a bit for each.
    static let most = 32

    @inline(__always)
    init(_ field: EnvelopeField) { raw = UInt8(truncatingIfNeeded: field.rawValue) }

    init(number: Int) { raw = UInt8(number) }

    @inline(__always)
    var bit: UInt32 { 1 &<< UInt32(truncatingIfNeeded: number) }

    /// The name on the wire.
    var name: String {
        EnvelopeField(rawValue: number).map { "\($0.name)" } ?? Dialects.names.name(of: self)
    }
}

/// The names of the fields that foreign dialects read and the native one does not: found in constant time, because that
/// is done for each key of a foreign message.
///
/// `@unchecked`: written while the dialects are entered, which happens once, before anything is looked up; its memory
/// is never given back.
struct FieldNames: @unchecked Sendable {
    /// A name, and which dialects it tells.
    struct Entry: Sendable {
        var name: StaticString
        /// Its length in bytes, and its first eight, as ``head(of:)`` has them.
        var count: Int
        var head: UInt64
        var field: FieldID
        /// A bit for each dialect whose messages alone have it.
        var marked: UInt16 = 0
        /// A bit for each dialect of which it makes a message a bad one, where nothing tells another.
        var hinted: UInt16 = 0
    }

    private static let slotCount = 128
    private let entries = UnsafeMutablePointer<Entry>.allocate(capacity: FieldID.most)
    private var count = 0
    /// Places in `entries`, by a hash of the name; -1: none. Filled to a quarter at most.
    private let slots = UnsafeMutablePointer<Int8>.allocate(capacity: slotCount)
    /// The dialect that enters its names: their bit.
    private var entering: UInt16 = 0

    init() { slots.initialize(repeating: -1, count: Self.slotCount) }

    // MARK: Entering

    /// Has a dialect enter its names.
    mutating func enter<D: Dialect>(_ dialect: D.Type) -> D {
        entering = entering == 0 ? 1 : entering << 1
        return D(&self)
    }

    /// A field that no other dialect knows: a message with it is of this one.
    mutating func mark(_ name: StaticString) -> FieldID { add(name, marked: entering, hinted: 0) }

    /// A field that makes a message a bad one of this dialect, where nothing tells another.
    mutating func hint(_ name: StaticString) -> FieldID { add(name, marked: 0, hinted: entering) }

    /// Any other field that the native dialect does not know.
    mutating func field(_ name: StaticString) -> FieldID { add(name, marked: 0, hinted: 0) }

    private mutating func add(_ name: StaticString, marked: UInt16, hinted: UInt16) -> FieldID {
        let bytes = UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        precondition(EnvelopeField.named(bytes) == nil, "the native dialect knows the field")
        var slot = Self.slot(of: Self.head(of: bytes), bytes.count)
        while slots[slot] >= 0 {
            let known = Int(slots[slot])
            if "\(entries[known].name)" == "\(name)" {
                entries[known].marked |= marked
                entries[known].hinted |= hinted
                return entries[known].field
            }
            slot = (slot + 1) & (Self.slotCount - 1)
        }
        let field = FieldID(number: EnvelopeField.allCases.count + count)
        precondition(field.number < FieldID.most, "there is no bit for another field")
        slots[slot] = Int8(count)
        (entries + count).initialize(
            to: Entry(
                name: name, count: bytes.count, head: Self.head(of: bytes), field: field, marked: marked, hinted: hinted
            ))
        count += 1
        return field
    }

    // MARK: Finding

    /// The field of this name, which the native dialect does not know; nil: no dialect does.
    @inline(__always)
    func find(_ key: UnsafeRawBufferPointer) -> UnsafePointer<Entry>? {
        guard let start = key.baseAddress, key.count > 0 else { return nil }
        let head = Self.head(of: key)
        var slot = Self.slot(of: head, key.count)
        while slots[slot] >= 0 {
            let entry = entries + Int(slots[slot])
            if entry.pointee.head == head, entry.pointee.count == key.count,
                key.count <= 8 || memcmp(entry.pointee.name.utf8Start + 8, start + 8, key.count - 8) == 0
            {
                return UnsafePointer(entry)
            }
            slot = (slot + 1) & (Self.slotCount - 1)
        }
        return nil
    }

    func name(of field: FieldID) -> String {
        (0..<count).first { entries[$0].field == field }.map { "\(entries[$0].name)" } ?? "?"
    }

    /// The first eight bytes, or all that there are, as a number.
    @inline(__always)
    private static func head(of key: UnsafeRawBufferPointer) -> UInt64 {
        if key.count >= 8 { return key.loadUnaligned(as: UInt64.self) }
        if key.count >= 4 {
            // Two halves, which overlap: nothing is read behind the key.
            let low = key.loadUnaligned(as: UInt32.self)
            let high = key.loadUnaligned(fromByteOffset: key.count - 4, as: UInt32.self)
            return UInt64(low) | UInt64(high) << 32
        }
        return key.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Where to begin to look. The multiplier is 2 to the power of 64 by the golden ratio, as multiplicative hashing
    /// has it (Knuth, The Art of Computer Programming 3, section 6.4).
    @inline(__always)
    private static func slot(of head: UInt64, _ count: Int) -> Int {
        let mixed = (head &+ UInt64(truncatingIfNeeded: count)) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: mixed &>> 57)
    }
}
