/// The phases of a program's start, in order. Every worker of a phase has run before the next phase begins.
public protocol LaunchPhases: CaseIterable, Hashable, RawRepresentable, Sendable where RawValue == String {}

/// One piece of startup work.
public struct LaunchWorker<Phase: LaunchPhases> {
    /// The code of a worker. It runs in the isolation of the registry's `run`: in the daemon on the loop thread.
    public typealias Body = nonisolated(nonsending) () async throws -> Void

    /// The name, unique in the program: the owner's name, a dot, and the worker's purpose. Workers of one owner run one
    /// after the other.
    public var name: String
    /// The phase in which it runs.
    public var phase: Phase
    /// The workers of this phase or an earlier one that must have run before.
    public var after: [String]
    /// Whether the program cannot start without it.
    public var isRequired: Bool
    /// The code to run.
    public var body: Body

    var owner: Substring { name.prefix { $0 != "." } }

    /// Creates a worker.
    public init(
        _ name: String, phase: Phase, after: [String] = [], required: Bool = true, body: @escaping Body
    ) {
        self.name = name
        self.phase = phase
        self.after = after
        isRequired = required
        self.body = body
    }
}

/// The result of a worker.
public struct LaunchReport: Sendable, Equatable {
    /// The worker's name.
    public var name: String
    /// The name of its phase.
    public var phase: String
    /// The time that it took.
    public var duration: Duration
    /// The reason of the failure; `nil` if it did not fail.
    public var failure: String?
    /// Whether the program cannot start without it.
    public var isRequired: Bool
}

/// The reason why the program cannot start.
public struct LaunchFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The failed worker; `nil` if the order itself is impossible.
    public var worker: String?
    /// The reason, as a sentence.
    public var description: String
}
