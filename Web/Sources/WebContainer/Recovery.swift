/// What is done about pages that crash, hang or stay blank, as a state machine: moments go in, what is to be done comes
/// out. Moments are times since any fixed one.
public struct Recovery: Sendable {
    /// How it is done.
    public struct Rules: Sendable, Hashable {
        /// Reloads within ``within``; then an error page.
        public var reloads = 3
        /// The time in which reloads count.
        public var within = Duration.seconds(60)
        /// The time without an answer after which a page counts as hung.
        public var unresponsive = Duration.seconds(8)
        /// Whether blank pages are loaded once more.
        public var isBlankChecked = true

        /// The rules of a profile that says nothing.
        public init() {}
    }

    /// What is to be done.
    public enum Action: Sendable, Hashable {
        /// Load the page again; the number counts the reloads within the time.
        case reload(Int)
        /// Show the error page.
        case giveUp
        /// Ask the page for a sign of life.
        case ask
        /// Report that it is hung, and end its process.
        case endProcess
        /// Report that it answers again.
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
    /// Whether the process has shown that it has started.
    private var hasDocument = false
    private var wasBlank = false

    /// A page that is well.
    ///
    /// - Parameter rules: How it is done.
    public init(_ rules: Rules) { self.rules = rules }

    /// Its process has ended.
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
        guard moments.count < rules.reloads else { return .giveUp }
        moments.append(moment)
        return .reload(moments.count)
    }

    /// A document of the page's has come: before, the process may be starting, and answers nothing.
    public mutating func committed() { hasDocument = true }

    /// Time has passed. Called again and again, while the page is visible.
    ///
    /// - Parameter moment: Now, without the time in which the machine stood still: the page did so too.
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

    /// The page gave a sign of life.
    public mutating func answered() -> Action? {
        defer { pulse = .resting }
        return pulse == .hung ? .responsive : nil
    }

    /// A dialog holds the page, or it is not visible: it cannot answer, and need not.
    ///
    /// - Parameter isSuspended: Whether it begins; else it ends.
    public mutating func suspend(_ isSuspended: Bool) {
        self.isSuspended = isSuspended
        if case .asked = pulse { pulse = .resting }
    }

    /// A page that has been loaded was looked at.
    ///
    /// - Parameters:
    ///   - isBlank: Whether it shows nothing.
    ///   - moment: Now.
    /// - Returns: A reload, at the first time; nil: the page is as it is.
    public mutating func looked(isBlank: Bool, at moment: Duration) -> Action? {
        guard rules.isBlankChecked else { return nil }
        defer { wasBlank = isBlank }
        guard isBlank, !wasBlank, case .reload(let count) = reload(at: moment) else { return nil }
        return .reload(count)
    }
}
