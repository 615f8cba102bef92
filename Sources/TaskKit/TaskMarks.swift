/// What stands between a call and its task.
public struct TaskMarks: OptionSet, Sendable, Hashable {
    /// The marks as bits: those of the C interface.
    public let rawValue: UInt32

    /// Marks of bits.
    ///
    /// - Parameter rawValue: The bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Interceptors are asked about calls of the task.
    public static let intercepted = TaskMarks(rawValue: 1)
    /// The policy has rules about what an option with an ``OptionPermission`` names. Without rules, only callers that
    /// are trusted (``Caller/isTrusted``) may name what is not their own.
    public static let ruled = TaskMarks(rawValue: 2)
    /// All of them.
    static let all: TaskMarks = [.intercepted, .ruled]
}

extension PluginContext {
    /// What stands between a call and one of the plugin's own tasks. A plugin that would call its own task on behalf of
    /// a caller, so that interceptors and the policy are asked, may do the work directly where nothing does. Up to date
    /// for every call that the plugin has got. Any thread.
    ///
    /// - Parameter name: The task's name.
    /// - Returns: The marks; all of them where the plugin has no such task, or the daemon does not say.
    public func marks(ofTask name: String) -> TaskMarks {
        guard let number = runtime.parts.tasks.firstIndex(where: { $0.name == name }),
            let bits = runtime.host.taskMarks(number)
        else { return .all }
        return TaskMarks(rawValue: bits)
    }
}
