import TaskKit

/// The watches of the sessions, and the replays of past changes.
///
/// Part of the store's engine, on the thread of the lane of commits: a watch begins between two transactions, so that
/// every change is either in its replay or sent live, never both, never neither.
final class WatchRegistry {
    /// The replay of a watch that requested past changes. Until it has caught up, it also sends the new changes.
    struct Replay {
        /// Distinguishes a watch's replay from that of an earlier watch of the same session and table.
        var number: UInt64
        /// The version that the session stated.
        var since: Int64
        /// Everything up to this version has been sent.
        var position: Int64
        /// Keys that were sent as created and changed again since: the new change must be sent as an update.
        var notifiedBefore: Set<ExactText> = []
        /// Whether a failure of the storage interrupted it. It continues when the store works again.
        var isStalled = false
    }

    private struct Watch {
        /// Whether the session named the namespace. Its events then name it too, because the session may watch several.
        var namesNamespace: Bool
        var replay: Replay?
    }

    private var watches: [TablePath: [SessionID: Watch]] = [:]
    private var tablePathsOfSessions: [SessionID: Set<TablePath>] = [:]
    private var quota = WatchQuota()
    private var lastReplay: UInt64 = 0
    /// The number of running replays of each namespace, looked up for each deletion that may be removed.
    private var replays: [Namespace: Int] = [:]

    // MARK: Watches

    /// Begins a watch, in place of an earlier one of the same session and table.
    ///
    /// - Parameter since: The version after which changes are sent; `nil` for changes from now on.
    /// - Returns: The replay to execute; `nil` if there is none.
    /// - Throws: `quota.exceeded`.
    func add(
        _ watcher: Watcher, _ path: TablePath, namesNamespace: Bool, since: Int64?
    ) throws(BridgeError) -> ReplayID? {
        let session = watcher.session
        let known = tablePathsOfSessions[session, default: []]
        if !known.contains(path) {
            try quota.take(watcher, watched: known.count)
            tablePathsOfSessions[session, default: []].insert(path)
        }
        guard let since else {
            set(Watch(namesNamespace: namesNamespace), of: session, path)
            return nil
        }
        lastReplay += 1
        let replay = Replay(number: lastReplay, since: since, position: since)
        set(Watch(namesNamespace: namesNamespace, replay: replay), of: session, path)
        return ReplayID(session: session, user: watcher.uid, path: path, number: lastReplay)
    }

    func remove(_ session: SessionID, _ path: TablePath) {
        set(nil, of: session, path)
        if tablePathsOfSessions[session]?.remove(path) != nil { quota.release(session) }
        if tablePathsOfSessions[session]?.isEmpty == true { tablePathsOfSessions[session] = nil }
    }

    /// Sets or removes a watch, and counts its replay.
    private func set(_ watch: Watch?, of session: SessionID, _ path: TablePath) {
        let former = watches[path]?[session]
        if watch != nil || former != nil { watches[path, default: [:]][session] = watch }
        if watches[path]?.isEmpty == true { watches[path] = nil }
        let (began, ended) = (watch?.replay != nil, former?.replay != nil)
        guard began != ended else { return }
        let count = replays[path.namespace, default: 0] + (began ? 1 : -1)
        replays[path.namespace] = count > 0 ? count : nil
    }

    /// Removes the watches of a closed session.
    func remove(_ session: SessionID) {
        for path in tablePathsOfSessions[session, default: []] { remove(session, path) }
        quota.forget(session)
    }

    /// Returns the uid of a session that has watches; `nil` for other sessions.
    func uid(of session: SessionID) -> UInt32? { quota.uid(of: session) }

    /// Returns the watches of a session: the table, the position of a running replay, and whether the session named the
    /// namespace.
    func all(of session: SessionID) -> [(path: TablePath, position: Int64?, namesNamespace: Bool)] {
        tablePathsOfSessions[session, default: []].compactMap { path in
            watches[path]?[session].map { (path, $0.replay?.position, $0.namesNamespace) }
        }
    }

    /// The watched tables.
    var tablePaths: [TablePath] { Array(watches.keys) }

    var isEmpty: Bool { watches.isEmpty && tablePathsOfSessions.isEmpty && quota.isEmpty && replays.isEmpty }

    // MARK: Live changes

    /// Sends changes that were just committed to the watchers.
    func notify(_ changes: [Change], _ sink: some WatchSink) {
        if watches.isEmpty { return }
        for change in changes {
            guard let sessions = watches[change.path] else { continue }
            for namesNamespace in [false, true] {
                let live = sessions.filter { $1.replay == nil && $1.namesNamespace == namesNamespace }
                if live.isEmpty { continue }
                sink.notify(RecordChanged(change, namesNamespace: namesNamespace), to: live.keys.sorted())
            }
            for (session, watch) in sessions where watch.replay != nil {
                watches[change.path]?[session]?.replay?.note(change)
            }
        }
    }

    /// Notifies the watchers of a table that it was replaced as a whole, at a version of its namespace. Replays end,
    /// because the changes that they would have sent are no longer stored.
    func expire(_ path: TablePath, at version: Int64, _ sink: some WatchSink) {
        let sessions = watches[path, default: [:]]
        for namesNamespace in [false, true] {
            let receivers = sessions.filter { $1.namesNamespace == namesNamespace }.keys.sorted()
            if receivers.isEmpty { continue }
            let namespace = namesNamespace ? path.namespace.text : nil
            sink.notify(CursorExpired(table: path.table.text, version: version, namespace: namespace), to: receivers)
        }
        for (session, watch) in sessions where watch.replay != nil {
            set(Watch(namesNamespace: watch.namesNamespace), of: session, path)
        }
    }

    // MARK: Replays

    /// Identifies a replay. It becomes invalid when the watch ends or begins again.
    struct ReplayID: Hashable, Sendable {
        var session: SessionID
        /// The session's uid.
        var user: UInt32
        var path: TablePath
        var number: UInt64
    }

    func replay(_ id: ReplayID) -> Replay? {
        guard let replay = watches[id.path]?[id.session]?.replay, replay.number == id.number else { return nil }
        return replay
    }

    /// Sends the next changes of a replay, and ends it if they were the last.
    ///
    /// - Parameters:
    ///   - missed: The changes after the replay's position, in order.
    ///   - isLast: Whether no more changes follow, so that the watch is live from now on.
    func notify(_ missed: [RecordReader.Missed], of id: ReplayID, isLast: Bool, _ sink: some WatchSink) {
        guard var watch = watches[id.path]?[id.session], var replay = watch.replay, replay.number == id.number else {
            return
        }
        for one in missed {
            let change = Change(
                path: id.path, key: one.key, version: one.version, kind: replay.kind(of: one), previousVersion: 0)
            sink.notify(RecordChanged(change, namesNamespace: watch.namesNamespace), to: [id.session])
        }
        replay.position = missed.last?.version ?? replay.position
        watch.replay = isLast ? nil : replay
        set(watch, of: id.session, id.path)
    }

    /// Marks a replay that a failure of the storage interrupted.
    func stall(_ id: ReplayID) {
        if replay(id) != nil { watches[id.path]?[id.session]?.replay?.isStalled = true }
    }

    /// Returns the interrupted replays, which must continue now.
    func takeStalled() -> [ReplayID] {
        var stalled: [ReplayID] = []
        for (path, sessions) in watches {
            for (session, watch) in sessions {
                guard let replay = watch.replay, replay.isStalled else { continue }
                watches[path]?[session]?.replay?.isStalled = false
                // Every session that watches has a uid in the quota.
                let user = quota.uid(of: session) ?? path.namespace.uid
                stalled.append(ReplayID(session: session, user: user, path: path, number: replay.number))
            }
        }
        return stalled
    }

    /// Whether a replay in the namespace still needs its deletions.
    func isReplaying(_ namespace: Namespace) -> Bool { replays[namespace] != nil }
}

extension WatchRegistry.Replay {
    /// Records a change that happens during the replay, which will send it.
    mutating func note(_ change: Change) {
        switch change.kind {
        case .update:
            if change.previousVersion > since, change.previousVersion <= position { notifiedBefore.insert(change.key) }
        case .create, .delete:
            notifiedBefore.remove(change.key)
        }
    }

    /// Returns the kind of a change for the watcher: a creation if the watcher does not have the key, else an update or
    /// a deletion.
    func kind(of missed: RecordReader.Missed) -> Change.Kind {
        guard let created = missed.created else { return .delete }
        return created > since && !notifiedBefore.contains(missed.key) ? .create : .update
    }
}
