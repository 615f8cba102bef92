public import LaunchWorkers

/// A part of the daemon's start. Every worker of a phase has run before the next phase begins.
public enum LaunchPhase: String, LaunchPhases, Comparable {
    /// Directories, locks and the log, which everything else requires.
    case environment
    /// Plugins are loaded, configured and started.
    case plugins
    /// Stores are opened and migrated, and other work that must precede the first call.
    case beforeListening
    /// The socket is bound.
    case listening
    /// Work that may run while calls arrive.
    case afterListening

    /// Whether plugins may have launch workers in this phase.
    public var isOpenToPlugins: Bool { self == .beforeListening || self == .afterListening }

    /// Returns whether the left phase precedes the right one.
    public static func < (left: LaunchPhase, right: LaunchPhase) -> Bool {
        let order = allCases
        return order.firstIndex(of: left)! < order.firstIndex(of: right)!  // allCases has every case
    }
}
