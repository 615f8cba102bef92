/// What stands between a call and its task. The plugin of the task is informed: it may leave out calls of its own that
/// nobody would look at.
public struct TaskMarks: OptionSet, Sendable, Hashable {
    /// The marks as bits: those of the C interface.
    public let rawValue: UInt32

    /// Marks of bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Interceptors are asked about calls of the task.
    public static let intercepted = TaskMarks(rawValue: 1)
    /// The policy has rules about what its options name.
    public static let ruled = TaskMarks(rawValue: 2)

    /// The names of the marks in messages.
    public var names: [String] {
        [(TaskMarks.intercepted, "intercepted"), (.ruled, "ruled")].filter { contains($0.0) }.map(\.1)
    }
}
