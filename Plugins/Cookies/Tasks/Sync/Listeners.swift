import HTTPRules
import TaskKit

/// A session that is sent the changes of a profile.
struct Listener: Sendable {
    var session: SessionID
    var uid: UInt32
    var profile: ProfileID
    var view: CookieView
    /// The name under which a container is attached; nil: the session watches.
    var replica: String?
    /// What came up to this version is known.
    var from: UInt64
}

/// Who is sent the changes of which profiles: one watch, and one container, of a session for each profile.
struct Listeners: Sendable {
    /// The most of a session. Pages have one profile, containers a few.
    static let maximumOfSession = 64
    /// The most of the sessions of a uid.
    static let maximumOfUser = 4096

    private struct Slot: Hashable {
        var session: SessionID
        var isReplica: Bool
    }

    private var listeners: [ProfileID: [Slot: Listener]] = [:]
    private var profiles: [SessionID: Set<ProfileID>] = [:]
    private var counts: [UInt32: Int] = [:]

    /// How many there are.
    var count: Int { counts.values.reduce(0, +) }

    /// Adds one, in place of an earlier one of its session.
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

    /// Whether one more may be added.
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

    /// Ends a session's watch of a profile.
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

    /// Ends all of a session.
    ///
    /// - Returns: The profiles whose container it was.
    mutating func remove(_ session: SessionID) -> [ProfileID] {
        let profiles = profiles[session] ?? []
        let attached = profiles.filter { listeners[$0]?[Slot(session: session, isReplica: true)] != nil }
        for profile in profiles {
            remove(session, profile, isReplica: false)
            remove(session, profile, isReplica: true)
        }
        return Array(attached)
    }

    /// Those of a profile.
    func all(of profile: ProfileID) -> [Listener] { listeners[profile].map { Array($0.values) } ?? [] }

    /// Those of a session.
    func all(of session: SessionID) -> [Listener] {
        (profiles[session] ?? []).flatMap { all(of: $0) }.filter { $0.session == session }
    }

    /// Whether a container is attached to a profile.
    func hasReplica(_ profile: ProfileID) -> Bool {
        listeners[profile]?.keys.contains { $0.isReplica } ?? false
    }
}
