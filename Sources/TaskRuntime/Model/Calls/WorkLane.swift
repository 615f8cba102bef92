import Synchronization

/// A thread beside the loop for work that would block the loop too long: full checks of options, and reading schemas.
public protocol WorkLane: AnyObject {
    /// Does the work on that thread, in the user's turn, then calls `done` on the loop thread, never within this call.
    ///
    /// - Parameter uid: The user for whom the work is done: users take turns.
    func run<Value: Sendable>(
        for uid: UInt32, _ work: @escaping @Sendable () -> Value, then done: @escaping (Value) -> Void)
}

/// A mark for work that is not needed any more because its call has ended.
final class LaneMark: Sendable {
    private let isSet = Atomic<Bool>(false)

    /// Records that the call has ended.
    func drop() { isSet.store(true, ordering: .relaxed) }
    /// Whether the call has ended. Any thread.
    var isDropped: Bool { isSet.load(ordering: .relaxed) }
}

/// Decides which work is done in the lane.
enum LaneWork {
    /// Whether a description of a task, or its schema, is read in less than about 100 µs, and does not need the lane.
    /// The cost of a pattern does not depend on its length. An escape could hide the word "pattern" from this search.
    static func isNeedless(for text: [UInt8]) -> Bool {
        text.count <= 1_024 && !text.contains(UInt8(ascii: "\\")) && !text.contains("pattern".utf8)
    }
}
