import TaskKit

extension WatchRegistry {
    /// Begins a watch at the state that `records` reads.
    ///
    /// - Returns: The namespace's version from which the watch is live, and the replay of earlier changes, which must
    ///   begin after the caller's answer was sent; `nil` if there is none.
    /// - Throws: `cursor.expired` if `since` is before the oldest version of the feed or after its last one;
    ///   `quota.exceeded`.
    func begin(
        _ watcher: Watcher, _ path: TablePath, namesNamespace: Bool, since: Int64?, _ records: RecordReader
    ) throws -> (version: Int64, replay: ReplayID?) {
        let feed = try records.feedState(of: path.namespace)
        if let since, !(feed.oldest...feed.version).contains(since) {
            throw BridgeError.cursorExpired(since: since, oldest: feed.oldest, version: feed.version)
        }
        let replay = try add(watcher, path, namesNamespace: namesNamespace, since: since)
        return (feed.version, replay)
    }

    /// Sends the next page of a replay.
    ///
    /// - Returns: Whether there are more pages.
    func sendNextPage(of id: ReplayID, _ records: RecordReader, _ sink: some WatchSink) throws -> Bool {
        guard let replay = replay(id) else { return false }
        let missed = try records.missed(after: replay.position, in: id.path, limit: Limits.replayPageEvents)
        let isLast = missed.count < Limits.replayPageEvents
        notify(missed, of: id, isLast: isLast, sink)
        return !isLast
    }
}
