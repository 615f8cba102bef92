import Synchronization

/// The last marks of a plugin's tasks from the daemon. A mark shows that interceptors decide about calls of a task, or
/// that the policy has rules about names in its options. Any thread.
public final class PluginTaskMarks: Sendable {
    private let marks = Mutex<[UInt32]>([])

    /// Returns the marks of the task with this number, as flags of the C interface.
    func marks(ofTask number: UInt32) -> UInt32 {
        marks.withLock { $0.indices.contains(Int(number)) ? $0[Int(number)] : 0 }
    }

    /// Replaces all marks.
    ///
    /// - Parameter new: The marks in the order of the tasks' numbers.
    public func set(_ new: [UInt32]) { marks.withLock { $0 = new } }
}
