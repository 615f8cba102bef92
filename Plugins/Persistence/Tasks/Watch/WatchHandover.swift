import TaskKit

/// A watch that the next daemon's store continues. No change that is committed in between is missed, and none is sent
/// twice.
struct SavedWatch: Codable, Sendable, Equatable {
    /// The namespace's user id and origin.
    var uid: UInt32
    var origin: ExactText
    var table: ExactText
    /// Everything up to this version has been sent.
    var since: Int64
    /// Whether the session named the namespace; `nil` if not.
    var namesNamespace: Bool?
    /// The session's user id; `nil`, from older daemons, for that of the namespace.
    var watcher: UInt32?
}

extension WatchRegistry {
    /// Returns the watches of these sessions.
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

    /// Continues a session's watches.
    ///
    /// - Returns: The replays to execute; `nil` if one of the watches cannot continue, because changes since then were
    ///   removed from the feed.
    func restore(_ saved: [SavedWatch], of session: SessionID, _ records: RecordReader) throws -> [ReplayID]? {
        var replays: [ReplayID] = []
        for watch in saved {
            let namespace = Namespace(uid: watch.uid, origin: watch.origin.text)
            do {
                // Trusted, so that watches that were within the quota are restored.
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
