/// Which tasks a session may call, as far as it has been decided: a call asks here, and the policy only for what is not
/// known yet. Forgotten as a whole when anything changes that decisions rest on. Loop thread only.
struct CallRights: ~Copyable {
    /// Tasks bear numbers that are never used again; a few last decisions are kept, each in the slot that its task's
    /// number says.
    private var slots: UnsafeMutablePointer<UInt64>?
    /// A power of two: more tasks than most sessions ever call, in two lines of the processor's cache.
    private static var count: Int { 16 }

    init() {}

    deinit { slots?.deallocate() }

    /// What is known of a task: nil, nothing.
    @inline(__always)
    func known(of task: UInt64) -> Bool? {
        guard let slots else { return nil }
        let entry = slots[Int(truncatingIfNeeded: task) & (Self.count - 1)]
        return entry >> 1 == task ? entry & 1 == 1 : nil
    }

    /// - Parameter task: its number, which is not 0.
    mutating func note(_ task: UInt64, isAllowed: Bool) {
        let slots = self.slots ?? Self.make()
        self.slots = slots
        slots[Int(truncatingIfNeeded: task) & (Self.count - 1)] = task << 1 | (isAllowed ? 1 : 0)
    }

    mutating func forget() { slots?.update(repeating: 0, count: Self.count) }

    private static func make() -> UnsafeMutablePointer<UInt64> {
        let slots = UnsafeMutablePointer<UInt64>.allocate(capacity: count)
        slots.initialize(repeating: 0, count: count)
        return slots
    }
}
