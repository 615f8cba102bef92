/// The checks between a call and its task. The task's plugin is informed of them: without any, it may do the work of
/// the task itself instead of calling it.
public struct TaskMarks: OptionSet, Sendable, Hashable {
    /// The marks as bits, as in the C interface.
    public let rawValue: UInt32

    /// Creates marks from bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Interceptors are asked about calls of the task.
    public static let intercepted = TaskMarks(rawValue: 1)
    /// The policy has rules about the things that its options name.
    public static let ruled = TaskMarks(rawValue: 2)

    /// The names of the marks in messages.
    public var names: [String] {
        [(TaskMarks.intercepted, "intercepted"), (.ruled, "ruled")].filter { contains($0.0) }.map(\.1)
    }
}
