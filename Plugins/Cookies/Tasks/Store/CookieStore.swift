import DurableDatabase
import GRDB
import HTTPRules
import TaskKit

/// The cookies of all users: jars in memory, over a database that has what was committed.
///
/// Calls change jars; `commit` writes what they changed, in one transaction. Where it fails, `abandon` forgets the jars
/// that were changed, which are read anew when they are next used. Every method may wait for the disk.
struct CookieStore: Sendable {
    /// How many profiles are kept in memory; those used least recently are read anew.
    static let loadedProfiles = 64

    let settings: CookieSettings
    let clocks: CookieClocks
    private let suffixes: PublicSuffixList
    private let file: CookieFile
    private var connection: ReopenableConnection<DatabaseQueue, BridgeError>
    private let log: @Sendable (String) -> Void
    private var profiles: [ProfileID: Profile] = [:]
    /// The names of the profiles of the uids of late, with the bytes of their cookies.
    private var sizes: [UInt32: [String: Int]] = [:]
    private var uses: UInt64 = 0
    /// What is not committed yet, in the order in which it was done.
    private(set) var pending: [ProfileChanges] = []
    /// Profiles whose container was attached, or has gone, since the last commit.
    private var attendance: Set<ProfileID> = []
    /// The seeds that have changed.
    private var seeded: [ProfileID: Set<String>] = [:]
    /// Rows of profiles that have no cookies, and make room for others.
    private var emptied: [Int64] = []

    /// Opens the file, and ends the cookies of sessions of an earlier boot.
    ///
    /// - Parameter log: Gets sentences for the operator.
    /// - Throws: `storage.full`, `storage.failed`, with a sentence for the operator.
    init(
        path: String, settings: CookieSettings, clocks: CookieClocks, suffixes: PublicSuffixList,
        log: @escaping @Sendable (String) -> Void
    ) throws(BridgeError) {
        (self.settings, self.clocks, self.suffixes, self.log) = (settings, clocks, suffixes, log)
        file = CookieFile(path: path)
        connection = try file.open()
        try endEarlierBoots()
    }

    /// The time.
    var now: UnixTime { clocks.wall() }

    /// The cookies in memory.
    var loadedCookies: Int { profiles.values.reduce(0) { $0 + $1.jar.count } }

    // MARK: Reading

    /// Looks into a profile. One that does not exist is empty, at version 0.
    mutating func read<T>(
        _ id: ProfileID, _ body: (CookieJar, UnixTime) throws(BridgeError) -> T
    ) throws(BridgeError) -> T {
        guard try load(id) else { return try body(CookieJar(suffixes: suffixes), now) }
        return try body(profiles[id]?.jar ?? CookieJar(suffixes: suffixes), now)
    }

    /// The cookies of a profile that go to a request or that a script sees; they count as used.
    mutating func cookies(of id: ProfileID, for context: CookieContext) throws(BridgeError) -> [Cookie] {
        guard try load(id) else { return [] }
        let now = now
        let cookies = profiles[id]?.jar.cookies(for: context, at: now) ?? []
        if !id.isPrivate { for cookie in cookies { profiles[id]?.accessed[cookie.key] = now } }
        return cookies
    }

    // MARK: Changes

    /// Changes a profile, which is made where it does not exist. Where `body` throws, nothing is changed.
    ///
    /// - Throws: `quota.exceeded`, and what `body` throws.
    @discardableResult mutating func write<T>(
        _ id: ProfileID, by writer: SessionID? = nil, _ written: [Cookie.Key: Cookie?] = [:],
        _ body: (inout CookieJar, UnixTime) throws(BridgeError) -> T
    ) throws(BridgeError) -> T {
        let isThere = try load(id)
        let now = now
        if !isThere { try makeRoom(for: id) }
        let before = profiles[id] ?? Profile(jar: CookieJar(suffixes: suffixes, version: Self.firstVersion(now)))
        var profile = before
        let result = try body(&profile.jar, now)
        guard profile.jar.version > before.jar.version else {
            if isThere { profiles[id] = profile }
            return result
        }
        try checkSize(of: id, profile.jar.sizeBytes, before: before.jar.sizeBytes)
        guard let changes = profile.jar.changes(since: before.jar.version) else {
            throw BridgeError(.storageFailed, "too many cookies were removed by one call")
        }
        for case let change in changes where isRemoval(change) { profile.accessed[change.key] = nil }
        profiles[id] = profile
        sizes[id.uid, default: [:]][id.name] = profile.jar.sizeBytes
        pending.append(ProfileChanges(profile: id, changes: changes, writer: writer, written: written))
        return result
    }

    private func isRemoval(_ change: CookieChange) -> Bool {
        if case .removed = change.kind { true } else { false }
    }

    /// Greater than all versions of an earlier profile of that name, of which others may know.
    private static func firstVersion(_ now: UnixTime) -> UInt64 { UInt64(clamping: now.seconds) &* 1000 }

    /// The seeds of a profile: the keys of their cookies.
    mutating func seeds(of id: ProfileID) throws(BridgeError) -> [String: Set<Cookie.Key>] {
        try load(id) ? profiles[id]?.seeds ?? [:] : [:]
    }

    /// Notes which cookies a seed has set; without any it is forgotten.
    mutating func setSeed(_ seed: String, _ keys: Set<Cookie.Key>, of id: ProfileID) {
        guard profiles[id] != nil else { return }
        profiles[id]?.seeds[seed] = keys.isEmpty ? nil : keys
        if !id.isPrivate { seeded[id, default: []].insert(seed) }
    }

    /// A container is attached, or the end of the last one is settled.
    mutating func attend(_ id: ProfileID, _ isAttended: Bool) {
        guard profiles[id].map({ $0.isAttended != isAttended }) ?? false else { return }
        profiles[id]?.isAttended = isAttended
        if !id.isPrivate { attendance.insert(id) }
    }

    /// Ends the cookies of a session, but for those that outlive it.
    mutating func endSession(of id: ProfileID) throws(BridgeError) {
        guard try load(id) else { return }
        try write(id) { jar, _ throws(BridgeError) in
            jar.delete(.expired) { $0.expires == nil && !$0.persist }
        }
        attend(id, false)
    }

    /// Forgets a profile that is kept in memory only.
    mutating func drop(_ id: ProfileID) {
        guard id.isPrivate else { return }
        profiles[id] = nil
        sizes[id.uid]?[id.name] = nil
    }

    // MARK: Quotas

    private mutating func makeRoom(for id: ProfileID) throws(BridgeError) {
        let names = sizes[id.uid] ?? [:]
        guard names.count >= settings.uidProfiles, names[id.name] == nil else { return }
        guard let empty = names.first(where: { $0.value == 0 })?.key else {
            throw .overQuota(
                "cookie_profiles", settings.uidProfiles, of: "uid \(id.uid)",
                "\(settings.uidProfiles) profiles of cookies: remove the cookies of one first")
        }
        let other = ProfileID(stored: empty, of: id.uid)
        if try load(other), let row = profiles[other]?.row { emptied.append(row) }
        profiles[other] = nil
        sizes[id.uid]?[empty] = nil
    }

    private func checkSize(of id: ProfileID, _ bytes: Int, before: Int) throws(BridgeError) {
        guard bytes > before else { return }
        let others = (sizes[id.uid] ?? [:]).reduce(0) { $0 + ($1.key == id.name ? 0 : $1.value) }
        guard others + bytes > settings.uidBytes else { return }
        throw .overQuota(
            "cookie_bytes", settings.uidBytes, of: "uid \(id.uid)",
            "\(settings.uidBytes) bytes of cookies: remove some first")
    }
}

// MARK: The database

extension CookieStore {
    /// Whether there is the profile, which is in memory then.
    private mutating func load(_ id: ProfileID) throws(BridgeError) -> Bool {
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

    /// Whether something waits to be committed.
    var hasPending: Bool { pending.contains { !$0.profile.isPrivate } || !changedOtherwise.isEmpty || !emptied.isEmpty }

    /// Profiles of which something else than a cookie has changed.
    private var changedOtherwise: Set<ProfileID> { attendance.union(seeded.keys) }

    /// Writes what was changed, in one transaction that is on the disk when this returns.
    ///
    /// - Throws: `storage.full`, `storage.failed`, for callers; the log has more.
    mutating func commit() throws(BridgeError) {
        guard hasPending else { return }
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

    /// Forgets what could not be committed.
    ///
    /// - Returns: The profiles that are what they were before.
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

    /// The durable profiles of a uid are counted anew when they are next asked for; those in memory are kept.
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

    /// Writes when cookies were used, and lets go of profiles that are used least.
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

    /// Whether cookies were used whose time is not written yet, or more profiles are in memory than are kept there.
    var isUntidy: Bool {
        profiles.count > Self.loadedProfiles || profiles.values.contains { !$0.accessed.isEmpty }
    }

    /// Writes what is left, and closes the file.
    mutating func close() {
        // What was acknowledged is on the disk already.
        try? tidy()
        try? connection.take()?.close()
    }

    /// Ends the cookies of sessions of an earlier boot of the machine.
    private mutating func endEarlierBoots() throws(BridgeError) {
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

    /// The profiles that had a container when the plugin ended.
    mutating func attended() throws(BridgeError) -> [ProfileID] {
        let boot = clocks.boot()
        return try perform { queue in try queue.read { try CookieRows(database: $0).unsettled(boot: boot) } }
    }

    private mutating func perform<T>(_ body: (DatabaseQueue) throws -> T) throws(BridgeError) -> T {
        let queue: DatabaseQueue
        do throws(BridgeError) {
            queue = try connection.usable()
        } catch {
            log(error.message)
            throw error.withoutDetails
        }
        do throws(BridgeError) {
            return try file.explaining { try body(queue) }
        } catch {
            try? connection.fail(error, next: file.next(after: queue))?.close()
            log(error.message)
            throw error.withoutDetails
        }
    }
}
