import Synchronization

/// How much progress a connection takes without waiting. Any thread.
final class ProgressRoom: Sendable {
    private let maximumBytes: Int
    private let isOpenNow = Atomic<Bool>(true)
    /// What is on its way to the loop.
    private let postedBytes = Atomic<Int>(0)

    init(bytes: Int) {
        maximumBytes = bytes
    }

    /// Whether the connection's output has room. Set on the loop.
    var isOpen: Bool {
        get { isOpenNow.load(ordering: .relaxed) }
        set { isOpenNow.store(newValue, ordering: .relaxed) }
    }

    /// Returns whether so much more may be posted to the loop.
    func take(_ bytes: Int) -> Bool {
        guard isOpen else { return false }
        if postedBytes.add(bytes, ordering: .relaxed).newValue <= maximumBytes { return true }
        release(bytes)
        return false
    }

    func release(_ bytes: Int) { postedBytes.subtract(bytes, ordering: .relaxed) }
}
