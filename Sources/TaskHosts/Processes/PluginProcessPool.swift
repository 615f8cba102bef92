import BridgeJSON
import EventLoop
import Logging
import TaskRuntime

/// The processes of a plugin of which each works for one caller at a time: started ahead, given away, cleaned, given
/// back, replaced when they are worn. Loop thread only.
///
/// Who has which is ``PluginProcessLeases``; this sees to it that there are enough of them.
@LoopActor
final class PluginProcessPool {
    private let settings: PoolSettings
    private let leases: PluginProcessLeases
    /// Owns this; nil once it is over, when a process that was on its way may still report.
    private weak var supervisor: PluginProcessSupervisor?
    private var starting = 0
    /// Of those, the ones that have no process yet.
    private var due = 0
    /// Processes whose callers have gone, and that work on.
    private var overdue: [ObjectIdentifier: LoopTimer] = [:]
    private var recycled = 0
    private var isFillDue = false
    /// Runs while there are more processes than there are to be at any time.
    private var thriftTimer: LoopTimer?
    /// Processes that were started before this take no further calls once they are free: they go by another
    /// configuration.
    private var stale: Set<ObjectIdentifier> = []

    init(_ settings: PoolSettings, _ supervisor: PluginProcessSupervisor) {
        self.settings = settings
        self.supervisor = supervisor
        leases = PluginProcessLeases(per: settings.per)
        leases.lacking = { [weak self] in LoopActor.assumeIsolated { self?.fillSoon() } }
        leases.leased = { [weak host = supervisor.host] in host?.instance?.roomWasMade(forCallsOf: $0) }
        supervisor.host.leases = leases
    }

    var status: PoolStatus {
        var status = PoolStatus(minimum: settings.minimum, maximum: settings.maximum, per: settings.per.rawValue)
        (status.reusable, status.inUse, status.starting) = (leases.reusable.count, leases.inUseCount, starting)
        (status.warmStarts, status.coldStarts, status.recycled) = (leases.warmStarts, leases.coldStarts, recycled)
        return status
    }

    // MARK: Enough of them

    /// A process that is ready is the next caller's.
    func add(_ member: PluginProcessMember) {
        member.link.becameIdle = { [weak self, weak member] in
            LoopActor.assumeIsolated {
                if let self, let member { self.becameIdle(member) }
            }
        }
        member.link.callerLeft = { [weak self, weak member] in
            LoopActor.assumeIsolated {
                if let self, let member { self.callerLeft(member) }
            }
        }
        leases.add(member.link)
        supervisor?.host.instance?.roomWasMade()
        if memberCount > settings.minimum, thriftTimer == nil { shrink() }
    }

    private var members: [PluginProcessMember] { supervisor?.members ?? [] }
    /// Those that are there, on their way, or about to be started.
    private var memberCount: Int { members.count + due }

    private func member(of link: PluginProcessLink) -> PluginProcessMember? { members.first { $0.link === link } }

    /// Ends, again and again, those that have not been needed since the last time, down to those that are to be there.
    private func shrink() {
        leases.beginPeriod()
        thriftTimer = LoopTimer { [weak self] in
            guard let self else { return }
            close()
            let count = min(leases.minimumReusable, memberCount - settings.minimum)
            for link in leases.reusable.prefix(max(0, count)) {
                if let member = member(of: link) { supervisor?.retire(member) }
            }
            if memberCount > settings.minimum { shrink() }
        }
        thriftTimer?.schedule(after: settings.idle)
    }

    /// Nothing is started or ended any longer.
    func close() {
        thriftTimer?.close()
        thriftTimer = nil
    }

    /// The plugin is no longer known.
    func end() {
        close()
        for timer in overdue.values { timer.close() }
        overdue = [:]
    }

    /// Starts as many as are to be there.
    ///
    /// - Throws: `plugin.unavailable`, where one does not start.
    func prewarm() async throws(BridgeError) {
        let missing = settings.minimum - memberCount
        guard missing > 0 else { return }
        starting += missing
        due += missing
        let starts = (0..<missing).map { _ in Task { @LoopActor in await startOne(isWaitedFor: false) } }
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

    /// Starts what is missing: for those who wait, and of those that are to be there at any time.
    func fill() {
        guard let supervisor, supervisor.mayStart, let instance = supervisor.host.instance else { return }
        let waiting = settings.per == .call ? instance.waitingCount : instance.waitingSessionCount
        // Calls wait without asking for a process while there is none at all: one has to be there to take them.
        let minimum = max(settings.minimum, instance.state == .restarting ? 1 : 0)
        let wanted = max(minimum - memberCount, waiting - starting - leases.reusable.count)
        let count = min(wanted, settings.maximum - memberCount)
        guard count > 0 else { return }
        starting += count
        due += count
        for index in 0..<count {
            Task { @LoopActor in _ = await startOne(isWaitedFor: index < waiting) }
        }
    }

    private func startOne(isWaitedFor: Bool) async -> Bool {
        // Within this turn it is among the members, or it does not come.
        due -= 1
        let member = await supervisor?.startAnother(isWaitedFor: isWaitedFor)
        defer { starting -= 1 }
        guard let member, let supervisor else { return false }
        if supervisor.host.instance?.state == .restarting {
            supervisor.noteRestart()
        } else {
            await withCheckedContinuation { reported in
                supervisor.host.reportSessions(to: member.link) { reported.resume() }
            }
        }
        guard self.member(of: member.link) != nil else { return false }
        add(member)
        return true
    }

    // MARK: From one caller to the next

    private func becameIdle(_ member: PluginProcessMember) {
        guard member.link.isLeased, !leases.isKept(member.link) else { return }
        recycle(member)
    }

    /// A session has gone: another one may have what it had.
    func end(_ session: UInt64) {
        guard let link = leases.end(session), let member = member(of: link) else { return }
        if link.isIdle { recycle(member) } else { expectIdle(member) }
    }

    /// No caller waits any longer for a call that the process works on.
    private func callerLeft(_ member: PluginProcessMember) {
        if !leases.isKept(member.link) { expectIdle(member) }
    }

    /// A process that is no longer needed by a call or a session gets some time to come to an end with what it does;
    /// then another takes its place.
    private func expectIdle(_ member: PluginProcessMember) {
        let id = ObjectIdentifier(member)
        guard overdue[id] == nil, let supervisor else { return }
        let timeout = supervisor.timeout
        overdue[id] = LoopTimer { [weak self, weak member] in
            guard let self else { return }
            overdue.removeValue(forKey: id)?.close()
            guard let member, member.link.isLeased else { return }
            supervisor.log.logger.warning(
                """
                a process of the plugin \(supervisor.name) works on \(timeout) after its caller has gone: \
                it is replaced
                """
            )
            leases.remove(member.link)
            replace(member)
        }
        overdue[id]?.schedule(after: timeout)
    }

    private func recycle(_ member: PluginProcessMember) {
        leases.remove(member.link)
        overdue.removeValue(forKey: ObjectIdentifier(member))?.close()
        guard !isWorn(member) else { return replace(member) }
        member.clean { [weak self, weak member] in
            guard let self, let member, !member.process.isEndExpected else { return }
            guard !stale.contains(ObjectIdentifier(member)) else { return replace(member) }
            leases.add(member.link)
            supervisor?.host.instance?.roomWasMade()
        }
    }

    private func isWorn(_ member: PluginProcessMember) -> Bool {
        stale.contains(ObjectIdentifier(member)) || member.link.uses >= settings.maximumUses
            || member.grownBytes > settings.growthBytes
    }

    private func replace(_ member: PluginProcessMember) {
        recycled += 1
        supervisor?.retire(member)
        fill()
    }

    /// The configuration is another, of which the process that is asked about the plugin is notified: the others are
    /// replaced once they are free.
    func replaceOthers() {
        let others = members.filter { $0.link !== supervisor?.host.current }
        stale = Set(others.map { ObjectIdentifier($0) })
        for member in others where leases.reusable.contains(where: { $0 === member.link }) {
            leases.remove(member.link)
            replace(member)
        }
    }

    /// That process is no longer there.
    func forget(_ member: PluginProcessMember) {
        leases.remove(member.link)
        stale.remove(ObjectIdentifier(member))
        overdue.removeValue(forKey: ObjectIdentifier(member))?.close()
    }
}
