import HTTPRules
import TaskKit

/// A listener that the store of the next daemon continues, so that no change is missed in between.
struct SavedListener: Codable, Sendable {
    var uid: UInt32?
    var profile: String?
    /// The version up to which the session has received the changes.
    var version: UInt64?
    var replica: String?
    /// The origin of a page; `nil` for a program of the user.
    var page: String?
    var showsSecrets: Bool?
}

extension CookieEngine {
    /// Returns the listeners of these sessions.
    mutating func saved(of sessions: [SessionID]) -> [SessionID: [SavedListener]] {
        var saved: [SessionID: [SavedListener]] = [:]
        for session in sessions {
            for listener in listeners.all(of: session) {
                guard let version = try? store.read(listener.profile, { jar, _ in jar.version }) else { continue }
                var one = SavedListener(
                    uid: listener.uid, profile: listener.profile.name, version: max(version, listener.from),
                    replica: listener.replica)
                if case .page(let page) = listener.view { one.page = page.origin.text }
                one.showsSecrets = listener.view.showsSecrets
                saved[session, default: []].append(one)
            }
        }
        return saved
    }

    /// Continues saved listeners.
    ///
    /// - Returns: The sessions that cannot continue, because their later changes are no longer stored.
    mutating func restore(_ saved: [SessionID: [SavedListener]], _ suffixes: SuffixHolder) -> [SessionID] {
        var lost: [SessionID] = []
        for (session, all) in saved where !all.allSatisfy({ restore($0, of: session, suffixes) }) {
            _ = listeners.remove(session)
            lost.append(session)
        }
        return lost
    }

    private mutating func restore(_ one: SavedListener, of session: SessionID, _ suffixes: SuffixHolder) -> Bool {
        guard let uid = one.uid, let name = one.profile, let version = one.version,
            let profile = try? ProfileID(uid: uid, naming: name)
        else { return false }
        var view = CookieView.local(showsSecrets: one.showsSecrets ?? false)
        if let text = one.page {
            guard let origin = try? WebOrigin(text), let page = suffixes.page(origin) else { return false }
            view = .page(page)
        }
        do throws(BridgeError) {
            let (now, changes) = try store.read(profile) { jar, now throws(BridgeError) in
                guard let changes = jar.changes(since: version) else {
                    throw .cursorExpired(since: version, oldest: jar.forgotten, version: jar.version)
                }
                return (now, changes)
            }
            let listener = Listener(
                session: session, uid: uid, profile: profile, view: view, replica: one.replica, from: version)
            try begin(listener, missed: changes, at: now)
            return true
        } catch {
            return false
        }
    }
}
