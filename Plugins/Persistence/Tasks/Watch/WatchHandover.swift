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

extension StoreAccess {
    /// The watches of these sessions.
    func keepWatches(of sessions: [SessionID]) throws -> [SessionID: [SavedWatch]] {
        // A namespace may be watched by thousands.
        var versions: [Namespace: Int64] = [:]
        var kept: [SessionID: [SavedWatch]] = [:]
        for session in sessions {
            for watch in watches.all(of: session) {
                let namespace = watch.place.namespace
                let live = try versions[namespace] ?? records.feedState(of: namespace).version
                versions[namespace] = live
                kept[session, default: []].append(
                    SavedWatch(
                        uid: namespace.uid, origin: namespace.origin, table: watch.place.table,
                        since: watch.position ?? live, namesNamespace: watch.namesNamespace ? true : nil,
                        watcher: watches.uid(of: session)))
            }
        }
        return kept
    }

    /// Goes on with a session's watches.
    ///
    /// - Returns: The replays to carry out; nil: one of the watches cannot go on, for what came since is forgotten.
    func restoreWatches(_ kept: [SavedWatch], of session: SessionID) throws -> [WatchRegistry.ReplayID]? {
        var replays: [WatchRegistry.ReplayID] = []
        for watch in kept {
            let namespace = Namespace(uid: watch.uid, origin: watch.origin.text)
            do {
                // Trusted, so that what was within the quota stays.
                let watcher = Watcher(session: session, uid: watch.watcher ?? watch.uid, isTrusted: true)
                let begun = try self.watch(
                    watcher, Place(namespace: namespace, table: watch.table),
                    namesNamespace: watch.namesNamespace == true, since: watch.since)
                if let replay = begun.replay { replays.append(replay) }
            } catch is BridgeError {
                watches.remove(session)
                return nil
            }
        }
        return replays
    }
}

extension Store {
    /// The watches of these sessions, for the next daemon.
    func keepWatches(of sessions: [SessionID]) async throws -> [SessionID: [SavedWatch]] {
        try await withAccess { try $0.keepWatches(of: sessions) }
    }

    /// Goes on with watches of the daemon before.
    ///
    /// - Returns: The sessions that cannot go on.
    func restoreWatches(_ kept: [SessionID: [SavedWatch]]) async throws -> [SessionID] {
        noteWatchers(kept.keys)
        let (replays, lost) = try await withAccess { access in
            var replays: [WatchRegistry.ReplayID] = []
            var lost: [SessionID] = []
            for (session, watches) in kept {
                if let begun = try access.restoreWatches(watches, of: session) {
                    replays += begun
                } else {
                    lost.append(session)
                }
            }
            return (replays, lost)
        }
        replays.forEach(replay)
        return lost
    }
}
