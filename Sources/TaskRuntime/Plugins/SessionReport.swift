/// The sessions that a plugin, or one of its processes, has not heard of since it was started.
struct UnreportedSessions {
    /// Those with numbers from here on, up to the last one that there was then.
    private var after: UInt64 = 0
    private let last: UInt64
    /// Those among them that it has heard of all the same.
    private var reported: Set<UInt64> = []

    init(upTo last: UInt64) { self.last = last }

    /// The next session to be reported; nil: all have been.
    mutating func next(of sessions: SessionList) -> Session? {
        while let session = sessions.behind(after).first(where: { _ in true }), session.number <= last {
            after = session.number
            if reported.isEmpty || reported.remove(session.number) == nil { return session }
        }
        return nil
    }

    /// What is to be reported of a session that changes: nothing of an opening that is reported in its turn.
    mutating func changes(_ change: SessionChange, of session: Session) -> [SessionChange] {
        guard session.number > after, session.number <= last, !reported.contains(session.number) else {
            return [change]
        }
        if change == .opened { return [] }
        reported.insert(session.number)
        return [.opened, change]
    }
}

/// Reports the sessions that there are to one process of a plugin that has come after others: a session at a time,
/// within the plugin's share of the loop. Loop thread only.
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

    /// What is to be reported of a session that changes meanwhile.
    public func changes(_ change: SessionChange, of session: Session) -> [SessionChange] {
        unreported.changes(change, of: session)
    }
}

extension PluginInstance {
    /// Makes a report of the sessions that there are.
    ///
    /// - Parameters:
    ///   - report: is called with each; false: the process is gone, and the report ends.
    ///   - done: is called at the end of the report.
    public func sessionReport(
        _ report: @escaping (Session) -> Bool, done: @escaping () -> Void
    ) -> SessionReport {
        SessionReport(directory.sessions, report, done: done)
    }

    /// Begins a report. It may be done when this returns.
    public func begin(_ report: SessionReport) { calls.steps.begin(report, for: account) }
}
