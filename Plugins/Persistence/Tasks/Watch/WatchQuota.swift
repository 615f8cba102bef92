import TaskKit

/// Who watches: a session, and whose it is.
struct Watcher {
    var session: SessionID
    var uid: UInt32
    /// A local session of root or of the daemon's own user.
    var isTrusted: Bool

    init(_ caller: Caller) {
        self.init(session: caller.session, uid: caller.uid, isTrusted: caller.isTrusted)
    }

    init(session: SessionID, uid: UInt32, isTrusted: Bool) {
        self.session = session
        self.uid = uid
        self.isTrusted = isTrusted
    }
}

/// How many tables a session watches, and how many all sessions of a uid do: each costs memory in the daemon.
struct WatchQuota {
    private var uids: [SessionID: UInt32] = [:]
    private var counts: [UInt32: Int] = [:]

    /// One more.
    ///
    /// - Parameter watched: How many the session watches already.
    /// - Throws: `quota.exceeded`.
    mutating func take(_ watcher: Watcher, watched: Int) throws(BridgeError) {
        guard watched < Limits.watchesPerSession else {
            throw Self.exceeded(Limits.watchesPerSession, of: "session \(watcher.session)")
        }
        let limit = Limits.watchesPerUser * (watcher.isTrusted ? Limits.trustedFactor : 1)
        guard counts[watcher.uid, default: 0] < limit else { throw Self.exceeded(limit, of: "uid \(watcher.uid)") }
        uids[watcher.session] = watcher.uid
        counts[watcher.uid, default: 0] += 1
    }

    mutating func release(_ session: SessionID) {
        guard let uid = uids[session], let count = counts[uid] else { return }
        counts[uid] = count > 1 ? count - 1 : nil
    }

    mutating func forget(_ session: SessionID) { uids[session] = nil }

    var isEmpty: Bool { uids.isEmpty && counts.isEmpty }

    func uid(of session: SessionID) -> UInt32? { uids[session] }

    private static func exceeded(_ limit: Int, of whom: String) -> BridgeError {
        BridgeError(
            .quotaExceeded, "\(whom) may watch \(limit) tables: stop one of its watches first",
            data: ["quota": "watches", "limit": .number(JSONNumber(limit)), "of": .string(whom)])
    }
}
