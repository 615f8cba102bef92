import LaunchWorkers

/// A part of the start. Every worker of a phase has run before the next phase begins.
enum LaunchPhase: String, LaunchPhases {
    /// The display, and whether this is the profile's only instance.
    case environment
    /// What documents find from the first one on.
    case beforePages
    /// The first page.
    case pages
    /// What may be done while pages are shown.
    case afterPages
}
