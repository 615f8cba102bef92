import Synchronization

/// A thread beside the runtime's, for what would keep the loop too long: whole checks of options, and reading schemas.
public protocol WorkLane: AnyObject {
    /// Does the work on that thread, in the user's turn, then `done` on the runtime's thread, never within this call.
    ///
    /// - Parameter uid: For whom it is done: users take turns.
    func run<Value: Sendable>(
        for uid: UInt32, _ work: @escaping @Sendable () -> Value, then done: @escaping (Value) -> Void)
}

/// Marks work that no one waits for any longer: its call has ended.
final class LaneMark: Sendable {
    private let isSet = Atomic<Bool>(false)

    /// The call has ended.
    func drop() { isSet.store(true, ordering: .relaxed) }
    /// Any thread.
    var isDropped: Bool { isSet.load(ordering: .relaxed) }
}

/// What is done in the lane, and what is not.
enum LaneWork {
    /// Whether a description of a task, or its schema, is read in less than about 100 µs, and needs no lane. What a
    /// pattern takes its length does not say, and with an escape in it the word may be there and not be seen.
    static func isNeedless(for text: [UInt8]) -> Bool {
        text.count <= 1_024 && !text.contains(UInt8(ascii: "\\")) && !text.contains("pattern".utf8)
    }
}
