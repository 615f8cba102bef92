import HTTPRules
import TaskKit

/// A session that receives the changes of a profile.
struct Listener: Sendable {
    var session: SessionID
    var uid: UInt32
    var profile: ProfileID
    var view: CookieView
    /// The name under which a container is attached; `nil` for a watch.
    var replica: String?
    /// The version up to which the session has received the changes.
    var from: UInt64
}

/// The listeners of all profiles: for each session and profile, at most one watch and one container.
struct Listeners: Sendable {
    /// The maximum number of profiles of a session. Pages use one profile, and containers a few.
    static let maximumOfSession = 64
    /// The maximum number of listeners of a uid.
    static let maximumOfUser = 4096

    private struct Slot: Hashable {
        var session: SessionID
        var isReplica: Bool

        init(_ session: SessionID, isReplica: Bool) { (self.session, self.isReplica) = (session, isReplica) }
        init(_ listener: Listener) { self.init(listener.session, isReplica: listener.replica != nil) }
    }

    private struct Place: Hashable {
        var profile: ProfileID
        var uid: UInt32
        var slot: Slot

        init(_ listener: Listener) { (profile, uid, slot) = (listener.profile, listener.uid, Slot(listener)) }
    }

    private var listeners: [ProfileID: [Slot: Listener]] = [:]
    private var profiles: [SessionID: Set<ProfileID>] = [:]
    private var counts: [UInt32: Int] = [:]
    /// The places of listeners that begin after the current commit.
    private var reserved: Set<Place> = []

    /// The number of listeners.
    var count: Int { counts.values.reduce(0, +) }

    /// Adds a listener. It replaces an earlier one of the same session, profile and kind.
    ///
    /// - Throws: `quota.exceeded`.
    mutating func add(_ listener: Listener) throws(BridgeError) {
        try check(Place(listener))
        insert(listener)
    }

    /// Reserves the place of a listener that begins after the current commit. The listeners of calls that share a
    /// commit are counted together.
    ///
    /// - Throws: `quota.exceeded`.
    mutating func reserve(_ listener: Listener) throws(BridgeError) {
        let place = Place(listener)
        if !reserved.contains(place) { try check(place) }
        reserved.insert(place)
    }

    /// Adds a listener whose place was reserved.
    ///
    /// - Returns: Whether it was added; false if it was removed since.
    mutating func addReserved(_ listener: Listener) -> Bool {
        guard reserved.contains(Place(listener)) else { return false }
        insert(listener)
        return true
    }

    /// Removes the reservations after a commit.
    mutating func endReservations() { reserved = [] }

    private mutating func insert(_ listener: Listener) {
        if listeners[listener.profile, default: [:]].updateValue(listener, forKey: Slot(listener)) == nil {
            counts[listener.uid, default: 0] += 1
        }
        profiles[listener.session, default: []].insert(listener.profile)
    }

    private func contains(_ place: Place) -> Bool { listeners[place.profile]?[place.slot] != nil }

    private func check(_ listener: Place) throws(BridgeError) {
        if contains(listener) { return }
        let (session, begun) = (listener.slot.session, reserved.filter { !contains($0) })
        let begunProfiles = begun.filter { $0.slot.session == session }.map(\.profile)
        if profiles[session, default: []].union(begunProfiles).count >= Self.maximumOfSession {
            throw .overQuota(
                "cookie_watches", Self.maximumOfSession, of: "session \(session)",
                "\(Self.maximumOfSession) watches of cookies: stop one first")
        }
        if counts[listener.uid, default: 0] + begun.count(where: { $0.uid == listener.uid }) >= Self.maximumOfUser {
            throw .overQuota(
                "cookie_watches", Self.maximumOfUser, of: "uid \(listener.uid)",
                "\(Self.maximumOfUser) watches of cookies: stop one first")
        }
    }

    /// Removes a session's watch of a profile, or its container, also one that begins after the current commit.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    mutating func remove(_ session: SessionID, _ profile: ProfileID, isReplica: Bool = false) -> Bool {
        let slot = Slot(session, isReplica: isReplica)
        let isReserved = reserved.contains { $0.profile == profile && $0.slot == slot }
        if isReserved { reserved = reserved.filter { $0.profile != profile || $0.slot != slot } }
        guard let ended = listeners[profile]?.removeValue(forKey: slot) else { return isReserved }
        counts[ended.uid] = counts[ended.uid].flatMap { $0 > 1 ? $0 - 1 : nil }
        if listeners[profile]?.isEmpty == true { listeners[profile] = nil }
        let rest = listeners[profile]?.keys.contains { $0.session == session } ?? false
        if !rest { profiles[session]?.remove(profile) }
        if profiles[session]?.isEmpty == true { profiles[session] = nil }
        return true
    }

    /// Removes all listeners of a session.
    ///
    /// - Returns: The profiles to which the session was attached as a container.
    mutating func remove(_ session: SessionID) -> [ProfileID] {
        let profiles = profiles[session] ?? []
        let attached = profiles.filter { listeners[$0]?[Slot(session, isReplica: true)] != nil }
        for profile in profiles {
            remove(session, profile, isReplica: false)
            remove(session, profile, isReplica: true)
        }
        return Array(attached)
    }

    /// Returns the listeners of a profile.
    func all(of profile: ProfileID) -> [Listener] { listeners[profile].map { Array($0.values) } ?? [] }

    /// Returns the listeners of a session.
    func all(of session: SessionID) -> [Listener] {
        (profiles[session] ?? []).flatMap { all(of: $0) }.filter { $0.session == session }
    }

    /// Returns whether a container is attached to a profile.
    func hasReplica(_ profile: ProfileID) -> Bool {
        listeners[profile]?.keys.contains { $0.isReplica } ?? false
    }

    /// Returns whether a container is attached to a profile, or will be after the current commit.
    func willHaveReplica(_ profile: ProfileID) -> Bool {
        hasReplica(profile) || reserved.contains { $0.profile == profile && $0.slot.isReplica }
    }
}
