/// A part of the daemon's start. Every worker of a phase has run before the next phase begins.
public enum LaunchPhase: String, Sendable, CaseIterable, Comparable {
    /// Directories, locks, the log: what everything else stands on.
    case environment
    /// Plugins are loaded, configured and started.
    case plugins
    /// Stores are opened and migrated: what must be done before the first call.
    case beforeListening
    /// The socket is bound.
    case listening
    /// What may be done while calls come in.
    case afterListening

    /// Whether plugins may have workers in it.
    public var isOpenToPlugins: Bool { self == .beforeListening || self == .afterListening }

    /// Whether the first phase comes first.
    public static func < (left: LaunchPhase, right: LaunchPhase) -> Bool {
        let order = allCases
        return order.firstIndex(of: left)! < order.firstIndex(of: right)!  // allCases has every case
    }
}

/// One piece of startup work.
public struct LaunchWorker {
    /// What a worker does. It runs where the registry was asked to run, in the daemon on the loop thread.
    public typealias Body = nonisolated(nonsending) (LaunchOptions) async throws -> Void

    /// Its name, unique in the daemon: the owner's, a point, and what it does.
    public var name: String
    /// When it runs.
    public var phase: LaunchPhase
    /// The workers of this phase, or an earlier one, that must have run before.
    public var after: [String]
    /// Whether the daemon cannot start without it.
    public var isRequired: Bool
    /// What it does.
    public var body: Body

    /// A worker.
    public init(
        _ name: String, phase: LaunchPhase, after: [String] = [], required: Bool = true, body: @escaping Body
    ) {
        self.name = name
        self.phase = phase
        self.after = after
        isRequired = required
        self.body = body
    }
}

/// How the daemon was started, as plugin processes see it.
public struct LaunchOptions: Sendable, Equatable {
    /// The command line, the program's name first.
    public var arguments: [String]
    /// Where the daemon keeps what must outlive it.
    public var stateDirectory: String

    /// Options.
    public init(arguments: [String], stateDirectory: String) {
        self.arguments = arguments
        self.stateDirectory = stateDirectory
    }
}

/// What became of a worker.
public struct LaunchReport: Sendable, Equatable {
    /// The worker's name.
    public var name: String
    /// Its phase.
    public var phase: LaunchPhase
    /// How long it took.
    public var duration: Duration
    /// Why it failed; nil: it did not.
    public var failure: String?
    /// Whether the daemon cannot start without it.
    public var isRequired: Bool
}

/// Why the daemon cannot start.
public struct LaunchFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The worker at fault; nil where the order itself is impossible.
    public var worker: String?
    /// Why, in a sentence.
    public var description: String
}
