/// The traffic that a session watches. Absent conditions match everything.
struct TrafficFilter {
    /// The tasks whose calls match: one name, or all names with a prefix.
    var task: EventPattern?
    /// The session whose calls and received events match.
    var session: UInt64?
    /// The user whose sessions' calls and received events match.
    var uid: UInt32?
    /// The maximum number of bytes shown of each payload, from 1 to ``TrafficMask/maximumBytes``.
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

    /// Restores a filter of the previous daemon; `nil` if its pattern is invalid, so that the session does not see more
    /// than before.
    init?(_ record: TrafficRecord) {
        let task = record.task.map(EventPattern.init)
        if let task, task == nil { return nil }
        self.init(
            task: task ?? nil, session: record.session, uid: record.uid,
            payloadBytes: min(max(1, record.payloadBytes ?? TrafficMask.usualBytes), TrafficMask.maximumBytes))
    }

    /// The record for the next daemon.
    var record: TrafficRecord {
        TrafficRecord(task: task?.text, session: session, uid: uid, payloadBytes: payloadBytes)
    }

    /// Whether a call of this task matches. `caller` is `nil` if the daemon or a plugin calls in its own name.
    func matches(task name: String, of caller: Session?) -> Bool {
        if let task, !task.matches(name) { return false }
        return matches(caller)
    }

    /// Whether an event matches. Events belong to no task.
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
    /// The number of lines sent to it since output was last written.
    var linesInTurn = 0
    /// The number of bytes of these lines.
    var bytesInTurn = 0
}

/// The traffic that a session watches: the options of `bridge.monitor`.
public struct TrafficRecord: Codable, Sendable, Equatable {
    /// A task's name, or a prefix of names followed by `*`.
    public var task: String?
    /// A session's number.
    public var session: UInt64?
    /// A user.
    public var uid: UInt32?
    /// The maximum number of bytes shown of a payload; `nil` for the default.
    public var payloadBytes: Int?
}
