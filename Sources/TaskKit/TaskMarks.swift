/// The checks that apply to a call before its task receives it.
public struct TaskMarks: OptionSet, Sendable, Hashable {
    /// The marks as bits of the C interface.
    public let rawValue: UInt32

    /// Creates marks from bits.
    ///
    /// - Parameter rawValue: The bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Interceptors decide about calls of the task.
    public static let intercepted = TaskMarks(rawValue: 1)
    /// The policy has rules about the names in options with an ``OptionPermission``. Without rules, only trusted
    /// callers (``Caller/isTrusted``) may name what is not their own.
    public static let ruled = TaskMarks(rawValue: 2)
    /// All marks.
    static let all: TaskMarks = [.intercepted, .ruled]
}

extension PluginContext {
    /// Returns the checks that apply to calls of one of the plugin's own tasks. A plugin may call its own task on
    /// behalf of a caller so that interceptors and the policy decide. If no check applies, it may do the work directly.
    /// Current for every call that the plugin has received. Any thread.
    ///
    /// - Parameter name: The task's name.
    /// - Returns: The marks; all of them if the plugin has no such task, or the daemon does not report them.
    public func marks(ofTask name: String) -> TaskMarks {
        guard let number = runtime.parts.tasks.firstIndex(where: { $0.name == name }),
            let bits = runtime.host.taskMarks(number)
        else { return .all }
        return TaskMarks(rawValue: bits)
    }
}
