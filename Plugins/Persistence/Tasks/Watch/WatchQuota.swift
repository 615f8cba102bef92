import TaskKit

/// The session that watches, and its user.
struct Watcher {
    var session: SessionID
    var uid: UInt32
    /// Whether it is a local session of root or of the daemon's own user.
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

/// The limits of watches per session and per uid: each watch costs memory in the daemon.
struct WatchQuota {
    private var uids: [SessionID: UInt32] = [:]
    private var counts: [UInt32: Int] = [:]

    /// Counts one more watch.
    ///
    /// - Parameter watched: The number of tables that the session watches already.
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
