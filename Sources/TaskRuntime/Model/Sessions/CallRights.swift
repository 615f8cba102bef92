/// A cache of the decisions which tasks a session may call: the policy is asked only for decisions that are not cached.
/// The whole cache is cleared when anything changes that decisions depend on. Loop thread only.
struct CallRights: ~Copyable {
    /// The last decisions, each in the slot given by its task's number. Task numbers are never reused.
    private var slots: UnsafeMutablePointer<UInt64>?
    /// A power of two: more tasks than most sessions ever call, in two processor cache lines.
    private static var count: Int { 16 }
    /// The number of times that the cache was cleared. Decisions that are cached elsewhere are valid for one revision.
    private(set) var revision: UInt64 = 0

    init() {}

    deinit { slots?.deallocate() }

    /// Returns the cached decision about a task; `nil` if there is none.
    @inline(__always)
    func known(of task: UInt64) -> Bool? {
        guard let slots else { return nil }
        let entry = slots[Int(truncatingIfNeeded: task) & (Self.count - 1)]
        return entry >> 1 == task ? entry & 1 == 1 : nil
    }

    /// - Parameter task: The task's number, which is not 0.
    mutating func note(_ task: UInt64, isAllowed: Bool) {
        let slots = self.slots ?? Self.make()
        self.slots = slots
        slots[Int(truncatingIfNeeded: task) & (Self.count - 1)] = task << 1 | (isAllowed ? 1 : 0)
    }

    mutating func forget() {
        slots?.update(repeating: 0, count: Self.count)
        revision += 1
    }

    private static func make() -> UnsafeMutablePointer<UInt64> {
        let slots = UnsafeMutablePointer<UInt64>.allocate(capacity: count)
        slots.initialize(repeating: 0, count: count)
        return slots
    }
}
