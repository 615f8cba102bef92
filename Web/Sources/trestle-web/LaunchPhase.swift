import LaunchWorkers

/// A phase of the launch. Every worker of a phase has finished before the next phase begins.
enum LaunchPhase: String, LaunchPhases {
    /// The display, and the check for another instance of the profile.
    case environment
    /// The state that the first document already needs.
    case beforePages
    /// The first page.
    case pages
    /// The work that may be done while pages are shown.
    case afterPages
}
