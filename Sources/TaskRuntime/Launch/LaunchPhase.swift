public import LaunchWorkers

/// A part of the daemon's start. Every worker of a phase has run before the next phase begins.
public enum LaunchPhase: String, LaunchPhases, Comparable {
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
