/// The recovery of pages that crash, hang or stay blank, as a state machine. Inputs are moments, outputs are actions.
/// Moments are times since any fixed moment.
public struct Recovery: Sendable {
    /// The rules of the recovery.
    public struct Rules: Sendable, Hashable {
        /// The maximum number of reloads within ``within``; then an error page is shown.
        public var reloads = 3
        /// The time in which reloads are counted.
        public var within = Duration.seconds(60)
        /// The time without an answer after which a page counts as hung.
        public var unresponsive = Duration.seconds(8)
        /// Whether blank pages are reloaded once.
        public var isBlankChecked = true

        /// Creates the default rules of a profile.
        public init() {}
    }

    /// An action for the owner.
    public enum Action: Sendable, Hashable {
        /// Reload the page; the number is the count of reloads within the time.
        case reload(Int)
        /// Show the error page.
        case abandon
        /// Check whether the page responds.
        case ask
        /// Report that the page hangs, and end its process.
        case endProcess
        /// Report that the page responds again.
        case responsive
    }

    private enum Pulse: Hashable {
        case resting, hung
        case asked(at: Duration)
    }

    private let rules: Rules
    private var moments: [Duration] = []
    private var pulse = Pulse.resting
    private var isSuspended = false
    /// Whether the process is known to have started.
    private var hasDocument = false
    private var wasBlank = false

    /// Creates the state of a working page.
    ///
    /// - Parameter rules: The rules.
    public init(_ rules: Rules) { self.rules = rules }

    /// Handles the end of the page's process.
    ///
    /// - Parameter moment: Now.
    public mutating func crashed(at moment: Duration) -> Action {
        pulse = .resting
        isSuspended = false
        hasDocument = false
        return reload(at: moment)
    }

    private mutating func reload(at moment: Duration) -> Action {
        moments.removeAll { moment - $0 >= rules.within }
        guard moments.count < rules.reloads else { return .abandon }
        moments.append(moment)
        return .reload(moments.count)
    }

    /// Notes that the page has a document. Before that, the process may still be starting and not respond.
    public mutating func committed() { hasDocument = true }

    /// Handles the passing of time. Called periodically after the page was first shown.
    ///
    /// - Parameter moment: The current moment, without the time in which the machine was suspended: the page was too.
    public mutating func tick(at moment: Duration) -> Action? {
        guard !isSuspended, hasDocument else { return nil }
        switch pulse {
        case .hung: return nil
        case .resting:
            pulse = .asked(at: moment)
            return .ask
        case .asked(let start):
            guard moment - start >= rules.unresponsive else { return nil }
            pulse = .hung
            return .endProcess
        }
    }

    /// Handles a response of the page.
    public mutating func answered() -> Action? {
        defer { pulse = .resting }
        return pulse == .hung ? .responsive : nil
    }

    /// Suspends or resumes the checks: a page with an open dialog cannot respond.
    ///
    /// - Parameter isSuspended: Whether the checks are suspended.
    public mutating func suspend(_ isSuspended: Bool) {
        self.isSuspended = isSuspended
        if case .asked = pulse { pulse = .resting }
    }

    /// Handles the result of a check of a loaded page for content.
    ///
    /// - Parameters:
    ///   - isBlank: Whether it shows nothing.
    ///   - moment: Now.
    /// - Returns: A reload if the page has become blank; `nil` if nothing must be done.
    public mutating func looked(isBlank: Bool, at moment: Duration) -> Action? {
        guard rules.isBlankChecked else { return nil }
        defer { wasBlank = isBlank }
        guard isBlank, !wasBlank, case .reload(let count) = reload(at: moment) else { return nil }
        return .reload(count)
    }
}
