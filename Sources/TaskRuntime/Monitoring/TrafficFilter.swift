/// Which traffic a session watches. Conditions that are absent hold for everything.
struct TrafficFilter {
    /// The calls of one task, or of all whose names begin so.
    var task: EventPattern?
    /// Only what this session calls, or is sent as an event.
    var session: UInt64?
    /// The same for all sessions of a user.
    var uid: UInt32?
    /// As much as is shown of each payload, from 1 to ``TrafficMask/maximumBytes``.
    var payloadBytes: Int

    init(
        task: EventPattern? = nil, session: UInt64? = nil, uid: UInt32? = nil,
        payloadBytes: Int = TrafficMask.usualBytes
    ) {
        self.payloadBytes = payloadBytes
        self.task = task
        self.session = session
        self.uid = uid
    }

    /// What a session watched in the daemon before; nil where its pattern is none, so that it does not come to see
    /// more.
    init?(_ record: TrafficRecord) {
        let task = record.task.map(EventPattern.init)
        if let task, task == nil { return nil }
        self.init(
            task: task ?? nil, session: record.session, uid: record.uid,
            payloadBytes: min(max(1, record.payloadBytes ?? TrafficMask.usualBytes), TrafficMask.maximumBytes))
    }

    /// What the next daemon has to know of it.
    var record: TrafficRecord {
        TrafficRecord(task: task?.text, session: session, uid: uid, payloadBytes: payloadBytes)
    }

    /// Whether a call of this task by this session is watched; nil: the daemon or a plugin calls in its own name.
    func matches(task name: String, of caller: Session?) -> Bool {
        if let task, !task.matches(name) { return false }
        return matches(caller)
    }

    /// Whether an event is watched. It is no part of any task.
    func matchesEvent(to receivers: [Session]) -> Bool {
        guard task == nil else { return false }
        return session == nil && uid == nil || receivers.contains { matches($0) }
    }

    func matches(_ caller: Session?) -> Bool {
        if let session, caller?.number != session { return false }
        if let uid, caller?.peer.uid != uid { return false }
        return true
    }
}

/// A session that watches traffic.
struct TrafficWatcher {
    let session: Session
    var filter: TrafficFilter
    /// Lines that it was sent since output was last written.
    var linesInTurn = 0
    /// Their bytes.
    var bytesInTurn = 0
}

/// Which traffic a session watches: the options of `bridge.monitor`.
public struct TrafficRecord: Codable, Sendable, Equatable {
    /// A task's name, or the beginning of names with `*` behind it.
    public var task: String?
    /// A session's number.
    public var session: UInt64?
    /// A user.
    public var uid: UInt32?
    /// As much as is shown of a payload; nil: as much as usual.
    public var payloadBytes: Int?
}
