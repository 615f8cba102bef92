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
    }

    private var listeners: [ProfileID: [Slot: Listener]] = [:]
    private var profiles: [SessionID: Set<ProfileID>] = [:]
    private var counts: [UInt32: Int] = [:]

    /// The number of listeners.
    var count: Int { counts.values.reduce(0, +) }

    /// Adds a listener. It replaces an earlier one of the same session, profile and kind.
    ///
    /// - Throws: `quota.exceeded`.
    mutating func add(_ listener: Listener) throws(BridgeError) {
        try check(listener)
        let slot = Slot(session: listener.session, isReplica: listener.replica != nil)
        if listeners[listener.profile, default: [:]].updateValue(listener, forKey: slot) == nil {
            counts[listener.uid, default: 0] += 1
        }
        profiles[listener.session, default: []].insert(listener.profile)
    }

    /// Checks that a listener may be added.
    ///
    /// - Throws: `quota.exceeded`.
    func check(_ listener: Listener) throws(BridgeError) {
        let slot = Slot(session: listener.session, isReplica: listener.replica != nil)
        if listeners[listener.profile]?[slot] != nil { return }
        if profiles[listener.session, default: []].count >= Self.maximumOfSession {
            throw .overQuota(
                "cookie_watches", Self.maximumOfSession, of: "session \(listener.session)",
                "\(Self.maximumOfSession) watches of cookies: stop one first")
        }
        if counts[listener.uid, default: 0] >= Self.maximumOfUser {
            throw .overQuota(
                "cookie_watches", Self.maximumOfUser, of: "uid \(listener.uid)",
                "\(Self.maximumOfUser) watches of cookies: stop one first")
        }
    }

    /// Removes a session's watch of a profile, or its container.
    mutating func remove(_ session: SessionID, _ profile: ProfileID, isReplica: Bool = false) {
        guard let ended = listeners[profile]?.removeValue(forKey: Slot(session: session, isReplica: isReplica)) else {
            return
        }
        counts[ended.uid] = counts[ended.uid].flatMap { $0 > 1 ? $0 - 1 : nil }
        if listeners[profile]?.isEmpty == true { listeners[profile] = nil }
        let rest = listeners[profile]?.keys.contains { $0.session == session } ?? false
        if !rest { profiles[session]?.remove(profile) }
        if profiles[session]?.isEmpty == true { profiles[session] = nil }
    }

    /// Removes all listeners of a session.
    ///
    /// - Returns: The profiles to which the session was attached as a container.
    mutating func remove(_ session: SessionID) -> [ProfileID] {
        let profiles = profiles[session] ?? []
        let attached = profiles.filter { listeners[$0]?[Slot(session: session, isReplica: true)] != nil }
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
}
