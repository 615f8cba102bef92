import HTTPRules
import TaskKit

/// A change that a container has seen in its own jar.
struct ReplicaChange: Sendable {
    /// The key of the cookie.
    var key: Cookie.Key
    /// What it has become; nil: it is gone.
    var cookie: Cookie?
    /// The version of the cookie that the container knew; 0: none.
    var base: UInt64
}

/// What a container gets where its change is not taken.
struct ReplicaRefusal: Sendable {
    var key: Cookie.Key
    /// `conflict`, `pinned`, or why the cookie is refused.
    var reason: String
    /// The cookie as it is here; nil: there is none.
    var current: CookieJar.Stored?
}

/// The rules by which a jar takes what a container has changed, so that both end at the same cookies.
enum Applying {
    /// Applies changes in their order.
    ///
    /// - Returns: Those that are not taken.
    static func apply(_ changes: [ReplicaChange], to jar: inout CookieJar, at now: UnixTime) -> [ReplicaRefusal] {
        changes.compactMap { change in
            reason(against: change, &jar, at: now).map { reason in
                ReplicaRefusal(key: change.key, reason: reason, current: jar.cookie(change.key))
            }
        }
    }

    /// Why a change is not taken; nil: it is.
    private static func reason(
        against change: ReplicaChange, _ jar: inout CookieJar, at now: UnixTime
    ) -> String? {
        let current = jar.cookie(change.key)
        guard var cookie = change.cookie else {
            guard let current else { return nil }
            if current.cookie.pin { return "pinned" }
            if current.version > change.base { return "conflict" }
            jar.delete(change.key)
            return nil
        }
        // What its owner has decided about a cookie is not the container's to change.
        cookie.persist = current?.cookie.persist ?? false
        cookie.pin = current?.cookie.pin ?? false
        cookie.sourceSecure = current?.cookie.sourceSecure ?? cookie.sourceSecure
        if let current {
            if cookie.isSame(as: current.cookie) { return nil }
            if current.version > change.base { return "conflict" }
        } else if change.base > 0 {
            return "conflict"
        }
        do throws(CookieRefusal) {
            try jar.set(cookie, at: now)
            return nil
        } catch {
            return error.reason.name
        }
    }
}
