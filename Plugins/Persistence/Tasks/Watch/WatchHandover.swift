import TaskKit

/// A watch as the next daemon's store goes on with it: nothing that is committed between the two is missed, and nothing
/// is sent twice.
struct SavedWatch: Codable, Sendable, Equatable {
    /// The namespace's user id and origin.
    var uid: UInt32
    var origin: ExactText
    var table: ExactText
    /// Everything up to this version has been sent.
    var since: Int64
    /// The session named the namespace.
    var namesNamespace: Bool?
    /// The session's user id; nil, as older daemons have it: the namespace's.
    var watcher: UInt32?
}

extension WatchRegistry {
    /// The watches of these sessions.
    func saved(of sessions: [SessionID], _ records: RecordReader) throws -> [SessionID: [SavedWatch]] {
        // A namespace may be watched by thousands.
        var versions: [Namespace: Int64] = [:]
        var saved: [SessionID: [SavedWatch]] = [:]
        for session in sessions {
            for watch in all(of: session) {
                let namespace = watch.path.namespace
                let live = try versions[namespace] ?? records.feedState(of: namespace).version
                versions[namespace] = live
                saved[session, default: []].append(
                    SavedWatch(
                        uid: namespace.uid, origin: namespace.origin, table: watch.path.table,
                        since: watch.position ?? live, namesNamespace: watch.namesNamespace ? true : nil,
                        watcher: uid(of: session)))
            }
        }
        return saved
    }

    /// Goes on with a session's watches.
    ///
    /// - Returns: The replays to carry out; nil: one of the watches cannot go on, for what came since is forgotten.
    func restore(_ saved: [SavedWatch], of session: SessionID, _ records: RecordReader) throws -> [ReplayID]? {
        var replays: [ReplayID] = []
        for watch in saved {
            let namespace = Namespace(uid: watch.uid, origin: watch.origin.text)
            do {
                // Trusted, so that what was within the quota stays.
                let watcher = Watcher(session: session, uid: watch.watcher ?? watch.uid, isTrusted: true)
                let begun = try begin(
                    watcher, TablePath(namespace: namespace, table: watch.table),
                    namesNamespace: watch.namesNamespace == true, since: watch.since, records)
                if let replay = begun.replay { replays.append(replay) }
            } catch is BridgeError {
                remove(session)
                return nil
            }
        }
        return replays
    }
}
