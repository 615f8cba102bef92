/// Identifies one call in flight: its slot in the call table and the slot's generation. The handle of an ended call
/// therefore never refers to another call.
public struct CallHandle: Sendable, Hashable {
    /// The generation in the upper half, the slot in the lower half. Never 0.
    public let rawValue: UInt64

    /// Creates a handle from a raw value that came back from outside.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    init(slot: Int, generation: UInt32) {
        rawValue = UInt64(generation) << 32 | UInt64(slot)
    }

    /// The slot in the call table; slots are reused.
    public var slot: Int { Int(rawValue & 0xFFFF_FFFF) }

    /// The number of calls that used this slot before.
    var generation: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 32) }

    /// The handle of the slot's next call. Generations start at 1, also after an overflow.
    var next: CallHandle {
        let (sum, isOver) = rawValue.addingReportingOverflow(1 << 32)
        return CallHandle(rawValue: isOver ? sum + 1 << 32 : sum)
    }
}
