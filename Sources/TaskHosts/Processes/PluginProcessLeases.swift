import TaskRuntime

/// Which of a pool's processes are reusable, and who has which of the others. Loop thread only.
final class PluginProcessLeases {
    let per: PoolSettings.Lease
    /// The one that was given back last is given away next: what it needs is in the caches, and the others may be
    /// ended.
    private(set) var reusable: [PluginProcessLink] = []
    private var bySession: [UInt64: PluginProcessLink] = [:]
    private(set) var inUseCount = 0
    /// Called when a call found none.
    var lacking: (() -> Void)?
    /// Called when a session gets a process.
    var leased: ((UInt64) -> Void)?
    /// The fewest that were reusable at any time since ``beginPeriod()``: so many more than needed there were.
    private(set) var minimumReusable = 0
    private(set) var warmStarts = 0
    private(set) var coldStarts = 0

    init(per: PoolSettings.Lease) { self.per = per }

    /// A process is reusable.
    func add(_ link: PluginProcessLink) { reusable.append(link) }

    /// A process is no longer there, or no longer there for others.
    func remove(_ link: PluginProcessLink) {
        reusable.removeAll { $0 === link }
        guard link.isLeased else { return }
        link.isLeased = false
        inUseCount -= 1
        if let session = bySession.first(where: { $0.value === link })?.key { bySession[session] = nil }
    }

    /// From here on it is counted how many are not needed.
    func beginPeriod() { minimumReusable = reusable.count }

    /// Whether there is one for a call.
    func room(for call: Call) -> HostRoom {
        if let link = lease(of: call) { return link.hasUnread ? .unread : .free }
        if !reusable.isEmpty { return .free }
        lacking?()
        return .full
    }

    /// The process that works on a call, from now on its caller's; nil: there is none.
    func take(for call: Call) -> PluginProcessLink? {
        if let link = lease(of: call) { return link }
        guard let link = reusable.popLast() else { return nil }
        minimumReusable = min(minimumReusable, reusable.count)
        link.isLeased = true
        link.uses += 1
        inUseCount += 1
        if link.isColdStart { coldStarts += 1 } else { warmStarts += 1 }
        link.isColdStart = false
        if per == .session, let session = call.session {
            bySession[session.number] = link
            leased?(session.number)
        }
        return link
    }

    private func lease(of call: Call) -> PluginProcessLink? {
        guard per == .session, let session = call.session else { return nil }
        return bySession[session.number]
    }

    /// A session has gone.
    ///
    /// - Returns: the process that it had.
    func end(_ session: UInt64) -> PluginProcessLink? { bySession.removeValue(forKey: session) }

    /// Whether a session has it still.
    func isKept(_ link: PluginProcessLink) -> Bool { bySession.contains { $0.value === link } }
}
