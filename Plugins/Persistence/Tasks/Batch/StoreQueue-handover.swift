import TaskKit

extension StoreQueue {
    /// Returns the watches of these sessions, for the next daemon.
    func keepWatches(of sessions: [SessionID]) async throws -> [SessionID: [SavedWatch]] {
        try await withAccess { try $0.watches.saved(of: sessions, $0.records) }
    }

    /// Restores the watches of the previous daemon.
    ///
    /// - Returns: The sessions whose watches cannot continue.
    func restoreWatches(_ kept: [SessionID: [SavedWatch]]) async throws -> [SessionID] {
        noteWatchers(kept.keys)
        let (replays, lost) = try await withAccess { access in
            var replays: [WatchRegistry.ReplayID] = []
            var lost: [SessionID] = []
            for (session, watches) in kept {
                if let begun = try access.watches.restore(watches, of: session, access.records) {
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
