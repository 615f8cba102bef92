/// The parts of a program's start, in their order. Every worker of a phase has run before the next phase begins.
public protocol LaunchPhases: CaseIterable, Hashable, RawRepresentable, Sendable where RawValue == String {}

/// One piece of startup work.
public struct LaunchWorker<Phase: LaunchPhases> {
    /// What a worker does. It runs where the registry was asked to run: in the daemon on the loop thread.
    public typealias Body = nonisolated(nonsending) () async throws -> Void

    /// Its name, unique in the program: the owner's, a point, and what it does. Those of one owner run one after the
    /// other.
    public var name: String
    /// When it runs.
    public var phase: Phase
    /// The workers of this phase, or an earlier one, that must have run before.
    public var after: [String]
    /// Whether the program cannot start without it.
    public var isRequired: Bool
    /// What it does.
    public var body: Body

    var owner: Substring { name.prefix { $0 != "." } }

    /// A worker.
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

/// What became of a worker.
public struct LaunchReport: Sendable, Equatable {
    /// The worker's name.
    public var name: String
    /// The name of its phase.
    public var phase: String
    /// How long it took.
    public var duration: Duration
    /// Why it failed; nil: it did not.
    public var failure: String?
    /// Whether the program cannot start without it.
    public var isRequired: Bool
}

/// Why the program cannot start.
public struct LaunchFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The worker at fault; nil where the order itself is impossible.
    public var worker: String?
    /// Why, in a sentence.
    public var description: String
}
