import BridgeJSON
import EventLoop
import Logging
import TaskRuntime

/// The processes of a plugin of which each works for one caller at a time: started ahead, given away, cleaned, given
/// back, replaced when they are worn. Loop thread only.
///
/// What is done when is decided by ``PluginPoolState``; this does it.
@LoopActor
final class PluginProcessPool {
    private let settings: PoolSettings
    private let state: PluginPoolState<PluginProcessLink>
    /// Owns this; nil once it is over, when a process that was on its way may still report.
    private weak var supervisor: PluginProcessSupervisor?
    private var isFillDue = false
    /// Set for the next moment of the state.
    private var timer: LoopTimer?
    private var timerMoment: MonotonicInstant?

    init(_ settings: PoolSettings, _ supervisor: PluginProcessSupervisor) {
        self.settings = settings
        self.supervisor = supervisor
        state = PluginPoolState(settings, timeout: supervisor.timeout) { link in
            link.streamHolder.movedAt.map { MonotonicInstant(nanoseconds: $0.nanoseconds) }
        }
        supervisor.host.leases = PluginProcessLeases(state, supervisor.host) { [weak self] in
            LoopActor.assumeIsolated { self?.fillSoon() }
        }
    }

    var status: PoolStatus { state.status }

    private var members: [PluginProcessMember] { supervisor?.members ?? [] }

    private func member(of link: PluginProcessLink) -> PluginProcessMember? { members.first { $0.link === link } }

    // MARK: Enough of them

    /// A process that is ready is the next caller's.
    ///
    /// - Parameter isCold: whether it was started because a call waited.
    func add(_ member: PluginProcessMember, isCold: Bool = false) {
        member.link.becameIdle = { [weak self, weak member] in
            LoopActor.assumeIsolated {
                if let self, let member { self.becameIdle(member) }
            }
        }
        member.link.tookEnd = { [weak self, weak member] in
            LoopActor.assumeIsolated {
                if let self, let member { self.tookEnd(member) }
            }
        }
        member.link.callerLeft = { [weak self, weak member] in
            LoopActor.assumeIsolated {
                if let self, let member { self.expectIdle(member) }
            }
        }
        state.add(member.link, isCold: isCold, of: members.count, at: EventLoop.now)
        supervisor?.host.instance?.roomWasMade()
        setTimer()
    }

    /// Starts as many as are to be there.
    ///
    /// - Throws: `plugin.unavailable`, where one does not start.
    func prewarm() async throws(BridgeError) {
        let starts = (0..<state.missing(of: members.count)).map { _ in
            Task { @LoopActor in await startOne(isWaitedFor: false) }
        }
        var started = true
        for start in starts where await !start.value { started = false }
        if !started { throw BridgeError(.pluginUnavailable, "not all processes of its pool could be started") }
    }

    /// Several calls find none in one turn: what they need is looked at when all of them wait.
    private func fillSoon() {
        guard !isFillDue else { return }
        isFillDue = true
        Task { @LoopActor in
            isFillDue = false
            fill()
        }
    }

    /// Starts what is missing.
    func fill() {
        guard let supervisor, supervisor.mayStart, let instance = supervisor.host.instance else { return }
        let waiting = waitingCount
        let count = state.missing(for: waiting, of: members.count, isNeeded: instance.state == .restarting)
        for index in 0..<count {
            Task { @LoopActor in _ = await startOne(isWaitedFor: index < waiting) }
        }
        setTimer()
    }

    /// How many calls wait, or sessions, where each keeps its process.
    private var waitingCount: Int {
        guard let instance = supervisor?.host.instance else { return 0 }
        return settings.per == .call ? instance.waitingCount : instance.waitingSessionCount
    }

    private func startOne(isWaitedFor: Bool) async -> Bool {
        // Within this turn it is among the members, or it does not come.
        state.began()
        let member = await supervisor?.startAnother()
        defer { state.ended() }
        guard let member, let supervisor else { return false }
        if supervisor.host.instance?.state == .restarting {
            supervisor.noteRestart()
        } else {
            await withCheckedContinuation { reported in
                supervisor.host.reportSessions(to: member.link) { reported.resume() }
            }
        }
        guard self.member(of: member.link) != nil else { return false }
        add(member, isCold: isWaitedFor)
        return true
    }

    // MARK: From one caller to the next

    private func becameIdle(_ member: PluginProcessMember) {
        guard let step = state.becameIdle(member.link, grownBytes: member.grownBytes) else { return }
        setTimer()
        switch step {
        case .workOn: break
        case .replace: replace(member)
        case .clean:
            member.clean { [weak self, weak member] in
                if let self, let member, !member.process.isEndExpected { self.cleaned(member) }
            }
        }
    }

    private func cleaned(_ member: PluginProcessMember) {
        switch state.cleaned(member.link) {
        case .replace: replace(member)
        case nil: supervisor?.host.instance?.roomWasMade()
        case .clean, .workOn: setTimer()
        }
    }

    private func tookEnd(_ member: PluginProcessMember) {
        state.tookEnd(member.link)
        setTimer()
    }

    /// A session has gone: another one may have what it had.
    func end(_ session: UInt64) {
        guard let link = state.end(session), let member = member(of: link) else { return }
        // First: a process that works on nothing may still hold ends of streams.
        expectIdle(member)
        if link.isIdle { becameIdle(member) }
    }

    /// No caller waits any longer for what the process works on.
    private func expectIdle(_ member: PluginProcessMember) {
        state.callerLeft(member.link, at: EventLoop.now)
        setTimer()
    }

    /// The state has forgotten the process: another takes its place.
    private func replace(_ member: PluginProcessMember) {
        supervisor?.retire(member)
        fill()
    }

    /// It works on, and is ended all the same. Its streams break immediately: they are not waited for any longer.
    private func replace(_ link: PluginProcessLink, which reason: String) {
        guard let supervisor, let member = member(of: link) else { return }
        supervisor.host.runtime.leaveStreams(of: link.streamHolder)
        supervisor.log.logger.warning("a process of the plugin \(supervisor.name) \(reason): it is replaced")
        replace(member)
    }

    /// The configuration is another, of which the process that is asked about the plugin is notified: the others are
    /// replaced once they are free.
    func replaceOthers() {
        let others = members.map(\.link).filter { $0 !== supervisor?.host.current }
        for link in state.makeStale(others) { if let member = member(of: link) { replace(member) } }
    }

    /// That process is no longer there.
    func forget(_ member: PluginProcessMember) {
        state.remove(member.link)
        setTimer()
    }

    // MARK: Time

    private func setTimer() {
        let moment = state.nextMoment
        guard moment != timerMoment else { return }
        timer?.close()
        timer = nil
        timerMoment = moment
        guard let moment else { return }
        timer = LoopTimer { [weak self] in self?.expire() }
        timer?.schedule(after: max(.zero, moment - EventLoop.now))
    }

    private func expire() {
        guard let supervisor else { return }
        let expired = state.expire(of: members.count, waiting: waitingCount, at: EventLoop.now)
        timer?.close()
        (timer, timerMoment) = (nil, nil)
        setTimer()
        for link in expired.overdue { replace(link, which: "works on \(supervisor.timeout) after its caller has gone") }
        for link in expired.stalled {
            replace(link, which: "holds a stream that has stood still for \(supervisor.timeout), while calls wait")
        }
        for link in expired.needless { if let member = member(of: link) { supervisor.retire(member) } }
    }

    /// The plugin is no longer known.
    func end() {
        state.close()
        setTimer()
    }
}
