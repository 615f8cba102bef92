import DurableDatabase
import GRDB
import HTTPRules
import TaskKit

/// The cookies of all users: jars in memory, and a database with the committed state.
///
/// Calls change jars, and `commit` writes their changes in one transaction. If it fails, `abandon` discards the changed
/// jars, which are read again at their next use. Every method may wait for the disk.
struct CookieStore: Sendable {
    /// The maximum number of profiles that are kept in memory. The least recently used ones are dropped and read again.
    static let loadedProfiles = 64

    let settings: CookieSettings
    let clocks: CookieClocks
    let suffixes: PublicSuffixList
    let file: PrivateDatabase
    /// The change mark that shows other plugins that cookies were set.
    let mark: ChangeMark
    var connection: ReopenableConnection<DatabaseQueue, DatabaseFailure>
    let log: @Sendable (String) -> Void
    var profiles: [ProfileID: Profile] = [:]
    /// The profiles of recently used uids by name, with the bytes of their cookies.
    var sizes: [UInt32: [String: Int]] = [:]
    var uses: UInt64 = 0
    /// The uncommitted changes in their order.
    var pending: [ProfileChanges] = []
    /// The profiles that were first attached to a container, or whose last container's end was settled, since the last
    /// commit.
    var attendance: Set<ProfileID> = []
    /// The seeds that have changed since the last commit.
    var seeded: [ProfileID: Set<String>] = [:]
    /// The rows of profiles without cookies that will be deleted to make room for others.
    var emptied: [Int64] = []

    /// Opens the file, and removes the session cookies of an earlier boot.
    ///
    /// - Parameter log: Receives messages for the operator.
    /// - Throws: `storage.full`, `storage.failed`, with a message for the operator.
    init(
        path: String, settings: CookieSettings, clocks: CookieClocks, suffixes: PublicSuffixList,
        log: @escaping @Sendable (String) -> Void
    ) throws(BridgeError) {
        (self.settings, self.clocks, self.suffixes, self.log) = (settings, clocks, suffixes, log)
        file = PrivateDatabase(path: path, contents: "the cookies", label: "cookies") { CookieSchema.migrator }
        mark = ChangeMark(of: path)
        do {
            connection = try file.open()
            // Something may have changed while the store was closed, such as the public suffix list.
            try mark.change()
        } catch { throw BridgeError(forOperator: error) }
        try endEarlierBoots()
    }

    /// The current time.
    var now: UnixTime { clocks.wall() }

    /// The number of cookies in memory.
    var loadedCookies: Int { profiles.values.reduce(0) { $0 + $1.jar.count } }

    // MARK: Reading

    /// Calls `body` with the jar of a profile. A profile that does not exist has an empty jar at version 0.
    mutating func read<T>(
        _ id: ProfileID, _ body: (CookieJar, UnixTime) throws(BridgeError) -> T
    ) throws(BridgeError) -> T {
        guard try load(id) else { return try body(CookieJar(suffixes: suffixes), now) }
        return try body(profiles[id]?.jar ?? CookieJar(suffixes: suffixes), now)
    }

    /// Returns whether a profile has a cookie of the host's registrable domain, or of the host itself if it has none.
    /// No other cookies are sent to the host.
    mutating func hasCookies(_ id: ProfileID, near host: Host) throws(BridgeError) -> Bool {
        guard try load(id) else { return false }
        return profiles[id]?.jar.hasCookies(near: host) ?? false
    }

    /// Returns the cookies of a profile that are sent with a request or visible to a script. They count as used.
    mutating func cookies(of id: ProfileID, for context: CookieContext) throws(BridgeError) -> [Cookie] {
        guard try load(id) else { return [] }
        let now = now
        let cookies = profiles[id]?.jar.cookies(for: context, at: now) ?? []
        if !id.isPrivate { for cookie in cookies { profiles[id]?.accessed[cookie.key] = now } }
        return cookies
    }

    // MARK: Changes

    /// Changes a profile, and creates it if it does not exist. If `body` throws, nothing is changed.
    ///
    /// - Throws: `quota.exceeded`, and the errors of `body`.
    @discardableResult mutating func write<T>(
        _ id: ProfileID, by writer: SessionID? = nil, _ written: [Cookie.Key: Cookie?] = [:],
        _ body: (inout CookieJar, UnixTime) throws(BridgeError) -> T
    ) throws(BridgeError) -> T {
        let isThere = try load(id)
        let now = now
        let surplus = isThere ? nil : try surplus(beside: id)
        // The profile is taken out of the dictionary, so that it has a single reference and is changed in place.
        var profile =
            profiles.removeValue(forKey: id)
            ?? Profile(jar: CookieJar(suffixes: suffixes, version: Self.firstVersion(now)))
        let before = profile.jar.sizeBytes
        let (result, changes): (T, [CookieChange])
        do throws(BridgeError) {
            (result, changes) = try profile.jar.transaction { jar throws(BridgeError) in
                let result = try body(&jar, now)
                try checkSize(of: id, jar.sizeBytes, before: before)
                return result
            }
        } catch {
            if isThere { profiles[id] = profile }
            throw error
        }
        guard !changes.isEmpty else {
            if isThere { profiles[id] = profile }
            return result
        }
        for case let change in changes where isRemoval(change) { profile.accessed[change.key] = nil }
        profiles[id] = profile
        if let surplus { remove(surplus) }
        sizes[id.uid, default: [:]][id.name] = profile.jar.sizeBytes
        pending.append(ProfileChanges(profile: id, changes: changes, writer: writer, written: written))
        return result
    }

    private func isRemoval(_ change: CookieChange) -> Bool {
        if case .removed = change.kind { true } else { false }
    }

    /// Returns a version that is greater than all versions of an earlier profile of the same name, which clients may
    /// remember.
    private static func firstVersion(_ now: UnixTime) -> UInt64 { UInt64(clamping: now.seconds) &* 1000 }

    /// Returns the seeds of a profile, with the keys of their cookies.
    mutating func seeds(of id: ProfileID) throws(BridgeError) -> [String: Set<Cookie.Key>] {
        try load(id) ? profiles[id]?.seeds ?? [:] : [:]
    }

    /// Records the cookies that a seed has set, or removes the seed if there are none.
    mutating func setSeed(_ seed: String, _ keys: Set<Cookie.Key>, of id: ProfileID) {
        guard profiles[id] != nil else { return }
        profiles[id]?.seeds[seed] = keys.isEmpty ? nil : keys
        if !id.isPrivate { seeded[id, default: []].insert(seed) }
    }

    /// Records whether a container is attached whose end has not been settled.
    mutating func attend(_ id: ProfileID, _ isAttended: Bool) {
        guard profiles[id].map({ $0.isAttended != isAttended }) ?? false else { return }
        profiles[id]?.isAttended = isAttended
        if !id.isPrivate { attendance.insert(id) }
    }

    /// Removes the session cookies of a profile, except those that outlive the session.
    mutating func endSession(of id: ProfileID) throws(BridgeError) {
        guard try load(id) else { return }
        try write(id) { jar, _ throws(BridgeError) in
            jar.delete(.expired) { $0.expires == nil && !$0.persist }
        }
        attend(id, false)
    }

    /// Removes a profile that is kept only in memory.
    mutating func drop(_ id: ProfileID) {
        guard id.isPrivate else { return }
        profiles[id] = nil
        sizes[id.uid]?[id.name] = nil
    }

    // MARK: Quotas

    /// Returns the profile without cookies that must be removed when another one is created; `nil` if there is room for
    /// both.
    private mutating func surplus(beside id: ProfileID) throws(BridgeError) -> ProfileID? {
        let names = sizes[id.uid] ?? [:]
        guard names.count >= settings.uidProfiles, names[id.name] == nil else { return nil }
        guard let empty = names.first(where: { $0.value == 0 })?.key else {
            throw .overQuota(
                "cookie_profiles", settings.uidProfiles, of: "uid \(id.uid)",
                "\(settings.uidProfiles) profiles of cookies: remove the cookies of one first")
        }
        let other = ProfileID(stored: empty, of: id.uid)
        // Loaded for the number of its row: `remove` must not fail.
        _ = try load(other)
        return other
    }

    /// Removes a profile without cookies.
    private mutating func remove(_ empty: ProfileID) {
        if let row = profiles[empty]?.row { emptied.append(row) }
        profiles[empty] = nil
        sizes[empty.uid]?[empty.name] = nil
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
