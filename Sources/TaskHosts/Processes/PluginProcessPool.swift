import BridgeJSON
import EventLoop
import Logging
import TaskRuntime

/// The processes of a plugin that each work for one caller at a time. They are started ahead, assigned, cleaned,
/// released, and replaced after long use. Loop thread only.
///
/// ``PluginPoolState`` makes the decisions; this carries them out.
@LoopActor
final class PluginProcessPool {
    private let settings: PoolSettings
    private let state: PluginPoolState<PluginProcessLink>
    /// The owner of this; `nil` after its end, when a starting process may still report.
    private weak var supervisor: PluginProcessSupervisor?
    private var isFillDue = false
    /// The timer for ``PluginPoolState/nextMoment``; `nil` if nothing is due.
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

    // MARK: Number of processes

    /// Adds a process that is ready for the next caller.
    ///
    /// - Parameter isCold: Whether it was started because a call waited.
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

    /// Starts the minimum number of processes.
    ///
    /// - Throws: `plugin.unavailable` if one does not start.
    func prewarm() async throws(BridgeError) {
        let starts = (0..<state.missing(of: members.count)).map { _ in
            Task { @LoopActor in await startOne(isWaitedFor: false) }
        }
        var started = true
        for start in starts where await !start.value { started = false }
        if !started { throw BridgeError(.pluginUnavailable, "not all processes of its pool could be started") }
    }

    /// Starts missing processes later. Several calls of one turn may lack a process; the number is computed when all of
    /// them wait.
    private func fillSoon() {
        guard !isFillDue else { return }
        isFillDue = true
        Task { @LoopActor in
            isFillDue = false
            fill()
        }
    }

    /// Starts the missing processes.
    func fill() {
        guard let supervisor, supervisor.mayStart, let instance = supervisor.host.instance else { return }
        let waiting = waitingCount
        let count = state.missing(for: waiting, of: members.count, isNeeded: instance.state == .restarting)
        for index in 0..<count {
            Task { @LoopActor in _ = await startOne(isWaitedFor: index < waiting) }
        }
        setTimer()
    }

    /// The number of waiting calls; the number of waiting sessions if each session keeps its process.
    private var waitingCount: Int {
        guard let instance = supervisor?.host.instance else { return 0 }
        return settings.per == .call ? instance.waitingCount : instance.waitingSessionCount
    }

    private func startOne(isWaitedFor: Bool) async -> Bool {
        // Before this turn ends, the process is among the members, or its start has failed.
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

    // MARK: Change of callers

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

    /// Releases the process of a session that has ended.
    func end(_ session: UInt64) {
        guard let link = state.end(session), let member = member(of: link) else { return }
        // This comes first, because a process without calls may still hold ends of streams.
        expectIdle(member)
        if link.isIdle { becameIdle(member) }
    }

    /// Notes that no caller waits for the work of the process any more.
    private func expectIdle(_ member: PluginProcessMember) {
        state.callerLeft(member.link, at: EventLoop.now)
        setTimer()
    }

    /// Retires a process that the state has removed, and starts another one if needed.
    private func replace(_ member: PluginProcessMember) {
        supervisor?.retire(member)
        fill()
    }

    /// Replaces a process that still works. Its ends of streams are closed immediately.
    private func replace(_ link: PluginProcessLink, which reason: String) {
        guard let supervisor, let member = member(of: link) else { return }
        supervisor.host.runtime.leaveStreams(of: link.streamHolder)
        supervisor.log.logger.warning("a process of the plugin \(supervisor.name) \(reason): it is replaced")
        replace(member)
    }

    /// Replaces all processes except the current one after a change of the configuration, each once it is free. The
    /// current one has been given the new configuration.
    func replaceOthers() {
        let others = members.map(\.link).filter { $0 !== supervisor?.host.current }
        for link in state.makeStale(others) { if let member = member(of: link) { replace(member) } }
    }

    /// Removes a process that has ended or was retired.
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
        for link in expired.overdue {
            replace(link, which: "still works \(supervisor.timeout) after its caller has disconnected")
        }
        for link in expired.stalled {
            replace(link, which: "holds a stream without progress for \(supervisor.timeout), while calls wait")
        }
        for link in expired.needless { if let member = member(of: link) { supervisor.retire(member) } }
    }

    /// Ends the pool of a plugin that is removed.
    func end() {
        state.close()
        setTimer()
    }
}
