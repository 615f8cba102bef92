/// The sessions that have not been reported to a plugin, or to one of its processes, since it was started.
struct UnreportedSessions {
    /// The sessions to report have numbers greater than this, up to that of the last session at the start.
    private var after: UInt64 = 0
    private let last: UInt64
    /// Sessions among them that were reported early, because they changed.
    private var reported: Set<UInt64> = []

    init(upTo last: UInt64) { self.last = last }

    /// Returns the next session to report; `nil` if all have been reported.
    mutating func next(of sessions: SessionList) -> Session? {
        while let session = sessions.after(after).first(where: { _ in true }), session.number <= last {
            after = session.number
            if reported.isEmpty || reported.remove(session.number) == nil { return session }
        }
        return nil
    }

    /// Returns the changes to report for a session that changes. An opening that will be reported in its turn is
    /// omitted.
    mutating func changes(_ change: SessionChange, of session: Session) -> [SessionChange] {
        guard session.number > after, session.number <= last, !reported.contains(session.number) else {
            return [change]
        }
        if change == .opened { return [] }
        reported.insert(session.number)
        return [.opened, change]
    }
}

/// Reports the existing sessions to a plugin process that was started after others: one session at a time, within the
/// plugin's share of the loop. Loop thread only.
public final class SessionReport: StepJob {
    let session: Session? = nil
    private var unreported: UnreportedSessions
    private let sessions: SessionStore
    private let report: (Session) -> Bool
    private let done: () -> Void

    init(
        _ sessions: SessionStore, _ report: @escaping (Session) -> Bool, done: @escaping () -> Void
    ) {
        self.sessions = sessions
        unreported = UnreportedSessions(upTo: sessions.lastNumber)
        self.report = report
        self.done = done
    }

    func step(until budget: StepBudget) -> StepOutcome {
        while let next = unreported.next(of: sessions.list), report(next) {
            if budget.isSpent { return .unfinished }
        }
        done()
        return .done
    }

    /// Returns the changes to report for a session that changes during the report.
    public func changes(_ change: SessionChange, of session: Session) -> [SessionChange] {
        unreported.changes(change, of: session)
    }
}

extension PluginInstance {
    /// Creates a report of the existing sessions.
    ///
    /// - Parameters:
    ///   - report: Called with each session. Returns false if the process has ended; then the report ends.
    ///   - done: Called at the end of the report.
    public func sessionReport(
        _ report: @escaping (Session) -> Bool, done: @escaping () -> Void
    ) -> SessionReport {
        SessionReport(directory.sessions, report, done: done)
    }

    /// Begins a report. It may be complete when this returns.
    public func begin(_ report: SessionReport) { calls.steps.begin(report, for: account) }
}
