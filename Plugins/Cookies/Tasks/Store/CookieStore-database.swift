import DurableDatabase
import GRDB
import HTTPRules
import TaskKit

// The store's reads from its database and writes to it.
extension CookieStore {
    /// Loads a profile into memory, and returns whether it exists.
    mutating func load(_ id: ProfileID) throws(BridgeError) -> Bool {
        uses += 1
        if profiles[id] == nil {
            if sizes[id.uid] == nil {
                sizes[id.uid] = try perform { queue in
                    try queue.read { try CookieRows(database: $0).profiles(of: id.uid) }
                }
            }
            guard !id.isPrivate, sizes[id.uid]?[id.name] != nil else { return false }
            profiles[id] = try stored(id)
        }
        profiles[id]?.lastUse = uses
        return profiles[id] != nil
    }

    private mutating func stored(_ id: ProfileID) throws(BridgeError) -> Profile? {
        let suffixes = suffixes
        return try perform { queue in
            try queue.read { database in
                let rows = CookieRows(database: database)
                guard let row = try rows.profile(id) else { return nil }
                let jar = CookieJar(
                    suffixes: suffixes, stored: try rows.cookies(of: row.id), version: row.version,
                    removals: try rows.removals(of: row.id), forgotten: row.pruned)
                return Profile(
                    jar: jar, row: row.id, isAttended: row.isAttended, seeds: try rows.seeds(of: row.id))
            }
        }
    }

    /// Whether there are uncommitted changes.
    var hasPending: Bool { pending.contains { !$0.profile.isPrivate } || !changedOtherwise.isEmpty || !emptied.isEmpty }

    /// The profiles with changes other than cookies.
    private var changedOtherwise: Set<ProfileID> { attendance.union(seeded.keys) }

    /// Writes the changes in one transaction, which is on the disk when this returns.
    ///
    /// - Throws: `storage.full`, `storage.failed`, for callers; the log contains more.
    mutating func commit() throws(BridgeError) {
        guard hasPending else { return }
        try noteSet()
        let (pending, attendance, seeded, emptied) = (pending, attendance, seeded, emptied)
        let boot = clocks.boot()
        let ids = changedOtherwise.union(pending.map(\.profile).filter { !$0.isPrivate })
        var changed = profiles.filter { ids.contains($0.key) }
        try perform { queue in
            try queue.write { database in
                let rows = CookieRows(database: database)
                for row in emptied { try database.execute(sql: "DELETE FROM profile WHERE id = ?", arguments: [row]) }
                for (id, profile) in changed where profile.row == nil {
                    changed[id]?.row = try rows.insert(id, version: profile.jar.version, boot: boot)
                }
                for change in pending {
                    guard let profile = changed[change.profile], let row = profile.row else { continue }
                    try rows.write(
                        change.changes, to: row, version: profile.jar.version, pruned: profile.jar.forgotten)
                }
                for (id, profile) in changed {
                    guard let row = profile.row else { continue }
                    try rows.write(accessed: profile.accessed, in: row)
                    for seed in seeded[id] ?? [] {
                        try rows.write(seed: seed, profile.seeds[seed] ?? [], of: row)
                    }
                    if attendance.contains(id) {
                        try rows.write(boot: boot, isAttended: profile.isAttended, of: row)
                    }
                }
            }
        }
        for (id, profile) in changed {
            profiles[id]?.row = profile.row
            profiles[id]?.accessed = [:]
        }
        settle()
    }

    /// Changes the mark if a cookie is set, so that readers of the mark that remember a host without cookies ask again.
    private func noteSet() throws(BridgeError) {
        let isSet = pending.contains { change in
            !change.profile.isPrivate && change.changes.contains { if case .set = $0.kind { true } else { false } }
        }
        guard isSet else { return }
        do throws(DatabaseFailure) { try mark.change() } catch { throw noted(error) }
    }

    /// Discards the changes that could not be committed.
    ///
    /// - Returns: The profiles whose changes were discarded.
    mutating func abandon() -> Set<ProfileID> {
        let failed = changedOtherwise.union(pending.map(\.profile).filter { !$0.isPrivate })
        for id in failed {
            profiles[id] = nil
            sizes[id.uid] = sizes[id.uid]?.filter { ProfileID(stored: $0.key, of: id.uid).isPrivate }
        }
        for uid in Set(failed.map(\.uid)) { forgetSizes(of: uid) }
        settle()
        return failed
    }

    /// Reads the sizes of the durable profiles of a uid again, and keeps those in memory. If that fails, they are read
    /// at their next use.
    private mutating func forgetSizes(of uid: UInt32) {
        sizes[uid] = nil
        guard let stored = try? perform({ queue in try queue.read { try CookieRows(database: $0).profiles(of: uid) } })
        else { return }
        sizes[uid] = stored
        for (id, profile) in profiles where id.uid == uid { sizes[uid]?[id.name] = profile.jar.sizeBytes }
    }

    private mutating func settle() {
        pending = []
        attendance = []
        seeded = [:]
        emptied = []
    }

    /// Writes the times of use of cookies, and drops the least recently used profiles from memory.
    mutating func tidy() throws(BridgeError) {
        let used = profiles.filter { !$0.value.accessed.isEmpty && $0.value.row != nil }
        if !used.isEmpty {
            try perform { queue in
                try queue.write { database in
                    for profile in used.values {
                        guard let row = profile.row else { continue }
                        try CookieRows(database: database).write(accessed: profile.accessed, in: row)
                    }
                }
            }
            for id in used.keys { profiles[id]?.accessed = [:] }
        }
        let durable = profiles.filter { !$0.key.isPrivate }.sorted { $0.value.lastUse < $1.value.lastUse }
        for (id, _) in durable.dropLast(Self.loadedProfiles) { profiles[id] = nil }
    }

    /// Whether some times of use are not written yet, or too many profiles are in memory.
    var isUntidy: Bool {
        profiles.count > Self.loadedProfiles || profiles.values.contains { !$0.accessed.isEmpty }
    }

    /// Writes the remaining changes, and closes the file.
    mutating func close() {
        // Acknowledged changes are already on the disk.
        try? tidy()
        try? connection.take()?.close()
    }

    /// Removes the session cookies of an earlier boot of the machine.
    mutating func endEarlierBoots() throws(BridgeError) {
        let boot = clocks.boot()
        let earlier = try perform { queue in
            try queue.read { try CookieRows(database: $0).unsettled(boot: boot) }
        }
        for id in earlier where try isOfEarlierBoot(id, boot) {
            try endSession(of: id)
            attendance.insert(id)
            try commit()
            profiles[id] = nil
        }
    }

    private mutating func isOfEarlierBoot(_ id: ProfileID, _ boot: String) throws(BridgeError) -> Bool {
        try perform { queue in try queue.read { try CookieRows(database: $0).profile(id)?.boot != boot } }
    }

    /// Returns the profiles that had a container when the plugin ended.
    mutating func attended() throws(BridgeError) -> [ProfileID] {
        let boot = clocks.boot()
        return try perform { queue in try queue.read { try CookieRows(database: $0).unsettled(boot: boot) } }
    }

    private mutating func perform<T>(_ body: (DatabaseQueue) throws -> T) throws(BridgeError) -> T {
        let queue: DatabaseQueue
        do throws(DatabaseFailure) {
            queue = try connection.usable()
        } catch {
            throw noted(error)
        }
        do throws(DatabaseFailure) {
            return try file.explaining { try body(queue) }
        } catch {
            try? connection.fail(error, next: file.next(after: queue))?.close()
            throw noted(error)
        }
    }

    /// Logs the failure, and returns the error for callers.
    private func noted(_ failure: DatabaseFailure) -> BridgeError {
        log(failure.description)
        return BridgeError(failure)
    }
}
