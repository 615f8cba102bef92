/// Names one call in flight: its slot in the call table and the slot's generation, so that the handle of a call that
/// has ended is never taken for another's.
public struct CallHandle: Sendable, Hashable {
    /// Generation in the upper half, slot in the lower. Never 0.
    public let rawValue: UInt64

    /// A handle as it came back from outside.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    init(slot: Int, generation: UInt32) {
        rawValue = UInt64(generation) << 32 | UInt64(slot)
    }

    /// Its slot in the call table; each is used again and again.
    public var slot: Int { Int(rawValue & 0xFFFF_FFFF) }

    /// How many calls had this slot before.
    var generation: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 32) }

    /// The handle of the slot's next call. Generations begin at 1, also when all have been used.
    var next: CallHandle {
        let (sum, isOver) = rawValue.addingReportingOverflow(1 << 32)
        return CallHandle(rawValue: isOver ? sum + 1 << 32 : sum)
    }
}
