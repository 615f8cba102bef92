import TaskKit

/// Who watches which table, and who is still being sent what came before.
///
/// Lives in the store's engine, on the thread of the lane of commits: a watch begins between two transactions, so that
/// every change is either in its replay or sent live, never both, never neither.
final class WatchRegistry {
    /// The replay of a watch that asked for past changes. Until it has caught up, new changes reach the watch through
    /// it as well.
    struct Replay {
        /// Distinguishes a watch's replay from that of an earlier watch of the same session and table.
        var number: UInt64
        /// What the session said it knows.
        var since: Int64
        /// Everything up to this version has been sent.
        var position: Int64
        /// Keys that were sent and changed again since: those changes are no news of the key.
        var toldBefore: Set<ExactText> = []
        /// A failure of the storage interrupted it; it goes on when the store works again.
        var isStalled = false
    }

    private struct Watch {
        /// The session named the namespace: its events name it too, for it may watch several.
        var namesNamespace: Bool
        var replay: Replay?
    }

    private var watches: [Place: [SessionID: Watch]] = [:]
    private var placesOfSessions: [SessionID: Set<Place>] = [:]
    private var quota = WatchQuota()
    private var lastReplay: UInt64 = 0

    // MARK: Watches

    /// Begins a watch, in place of an earlier one of the same session and table.
    ///
    /// - Parameter since: Begin with what changed after this version; nil: with what changes from now on.
    /// - Returns: The replay to carry out; nil: none.
    /// - Throws: `quota.exceeded`.
    func add(_ watcher: Watcher, _ place: Place, namesNamespace: Bool, since: Int64?) throws(BridgeError) -> ReplayID? {
        let session = watcher.session
        let known = placesOfSessions[session, default: []]
        if !known.contains(place) {
            try quota.take(watcher, watched: known.count)
            placesOfSessions[session, default: []].insert(place)
        }
        guard let since else {
            watches[place, default: [:]][session] = Watch(namesNamespace: namesNamespace)
            return nil
        }
        lastReplay += 1
        let replay = Replay(number: lastReplay, since: since, position: since)
        watches[place, default: [:]][session] = Watch(namesNamespace: namesNamespace, replay: replay)
        return ReplayID(session: session, user: watcher.uid, place: place, number: lastReplay)
    }

    func remove(_ session: SessionID, _ place: Place) {
        watches[place]?[session] = nil
        if watches[place]?.isEmpty == true { watches[place] = nil }
        if placesOfSessions[session]?.remove(place) != nil { quota.release(session) }
        if placesOfSessions[session]?.isEmpty == true { placesOfSessions[session] = nil }
    }

    /// The session is gone.
    func remove(_ session: SessionID) {
        for place in placesOfSessions[session, default: []] { remove(session, place) }
        quota.forget(session)
    }

    /// The uid that a session which watches something is of.
    func uid(of session: SessionID) -> UInt32? { quota.uid(of: session) }

    /// The watches of a session: what it watches, how far its replay has come where one is under way, and whether it
    /// named the namespace.
    func all(of session: SessionID) -> [(place: Place, position: Int64?, namesNamespace: Bool)] {
        placesOfSessions[session, default: []].compactMap { place in
            watches[place]?[session].map { (place, $0.replay?.position, $0.namesNamespace) }
        }
    }

    /// The tables that are watched.
    var places: [Place] { Array(watches.keys) }

    var isEmpty: Bool { watches.isEmpty && placesOfSessions.isEmpty && quota.isEmpty }

    // MARK: Live changes

    /// Sends changes that were just committed to those who watch.
    func notify(_ changes: [Change], _ sink: some WatchSink) {
        if watches.isEmpty { return }
        for change in changes {
            guard let sessions = watches[change.place] else { continue }
            for namesNamespace in [false, true] {
                let live = sessions.filter { $1.replay == nil && $1.namesNamespace == namesNamespace }
                if live.isEmpty { continue }
                sink.notify(RecordChanged(change, namesNamespace: namesNamespace), to: live.keys.sorted())
            }
            for (session, watch) in sessions where watch.replay != nil {
                watches[change.place]?[session]?.replay?.note(change)
            }
        }
    }

    /// Notifies those who watch a table that it was replaced as a whole, at a version of its namespace. Replays end:
    /// what they would have sent is no longer known.
    func expire(_ place: Place, at version: Int64, _ sink: some WatchSink) {
        let sessions = watches[place, default: [:]]
        for namesNamespace in [false, true] {
            let receivers = sessions.filter { $1.namesNamespace == namesNamespace }.keys.sorted()
            if receivers.isEmpty { continue }
            let namespace = namesNamespace ? place.namespace.text : nil
            sink.notify(CursorExpired(table: place.table.text, version: version, namespace: namespace), to: receivers)
        }
        for session in sessions.keys { watches[place]?[session]?.replay = nil }
    }

    // MARK: Replays

    /// A replay; one whose watch ended or began anew is no longer found.
    struct ReplayID: Hashable, Sendable {
        var session: SessionID
        /// The session's uid.
        var user: UInt32
        var place: Place
        var number: UInt64
    }

    func replay(_ id: ReplayID) -> Replay? {
        guard let replay = watches[id.place]?[id.session]?.replay, replay.number == id.number else { return nil }
        return replay
    }

    /// Sends the next changes of a replay, and ends it where they were the last.
    ///
    /// - Parameters:
    ///   - missed: What follows the replay's position, in order.
    ///   - isLast: Nothing follows: from here on the watch is live.
    func notify(_ missed: [RecordReader.Missed], of id: ReplayID, isLast: Bool, _ sink: some WatchSink) {
        guard var watch = watches[id.place]?[id.session], var replay = watch.replay, replay.number == id.number else {
            return
        }
        for one in missed {
            let change = Change(
                place: id.place, key: one.key, version: one.version, kind: replay.kind(of: one), previousVersion: 0)
            sink.notify(RecordChanged(change, namesNamespace: watch.namesNamespace), to: [id.session])
        }
        replay.position = missed.last?.version ?? replay.position
        watch.replay = isLast ? nil : replay
        watches[id.place]?[id.session] = watch
    }

    /// Marks a replay that a failure of the storage interrupted.
    func stall(_ id: ReplayID) {
        if replay(id) != nil { watches[id.place]?[id.session]?.replay?.isStalled = true }
    }

    /// The interrupted replays, to be carried on now.
    func takeStalled() -> [ReplayID] {
        var stalled: [ReplayID] = []
        for (place, sessions) in watches {
            for (session, watch) in sessions {
                guard let replay = watch.replay, replay.isStalled else { continue }
                watches[place]?[session]?.replay?.isStalled = false
                // Who watches is known by its uid.
                let user = quota.uid(of: session) ?? place.namespace.uid
                stalled.append(ReplayID(session: session, user: user, place: place, number: replay.number))
            }
        }
        return stalled
    }

    /// Whether a replay in the namespace still needs its deletions.
    func isReplaying(_ namespace: Namespace) -> Bool {
        watches.contains { place, sessions in
            place.namespace == namespace && sessions.values.contains { $0.replay != nil }
        }
    }
}

extension WatchRegistry.Replay {
    /// Takes notice of a change that happens while the replay is under way, and will be sent by it.
    mutating func note(_ change: Change) {
        switch change.kind {
        case .update:
            if change.previousVersion > since, change.previousVersion <= position { toldBefore.insert(change.key) }
        case .create, .delete:
            toldBefore.remove(change.key)
        }
    }

    /// What a change is to the watcher: news of a key that it does not know, or of one that it does.
    func kind(of missed: RecordReader.Missed) -> Change.Kind {
        guard let created = missed.created else { return .delete }
        return created > since && !toldBefore.contains(missed.key) ? .create : .update
    }
}
