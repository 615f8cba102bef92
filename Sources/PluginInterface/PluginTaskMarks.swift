import Synchronization

/// What stands between calls and a plugin's tasks, as the daemon has said last. Any thread.
public final class PluginTaskMarks: Sendable {
    private let marks = Mutex<[UInt32]>([])

    /// The marks of the task of this number, as the C interface has them.
    func marks(ofTask number: UInt32) -> UInt32 {
        marks.withLock { $0.indices.contains(Int(number)) ? $0[Int(number)] : 0 }
    }

    /// Replaces all marks.
    ///
    /// - Parameter new: in the order of the tasks' numbers.
    public func set(_ new: [UInt32]) { marks.withLock { $0 = new } }
}
