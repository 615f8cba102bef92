import Synchronization

/// The amount of progress that a connection accepts without waiting. Any thread.
final class ProgressRoom: Sendable {
    private let maximumBytes: Int
    private let isOpenNow = Atomic<Bool>(true)
    /// The number of bytes that have been posted to the loop and have not reached it.
    private let postedBytes = Atomic<Int>(0)

    init(bytes: Int) {
        maximumBytes = bytes
    }

    /// Whether the connection's output has room. Set on the loop.
    var isOpen: Bool {
        get { isOpenNow.load(ordering: .relaxed) }
        set { isOpenNow.store(newValue, ordering: .relaxed) }
    }

    /// Reserves `bytes`; returns false if they may not be posted to the loop.
    func take(_ bytes: Int) -> Bool {
        guard isOpen else { return false }
        if postedBytes.add(bytes, ordering: .relaxed).newValue <= maximumBytes { return true }
        release(bytes)
        return false
    }

    func release(_ bytes: Int) { postedBytes.subtract(bytes, ordering: .relaxed) }
}
