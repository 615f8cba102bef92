import HTTPRules
import TaskKit

/// A change in a container's own jar.
struct ReplicaChange: Sendable {
    /// The key of the cookie.
    var key: Cookie.Key
    /// The new cookie; `nil` if it was removed.
    var cookie: Cookie?
    /// The version of the cookie that the container had received; 0 for none.
    var base: UInt64
}

/// The answer to a container whose change was not applied.
struct ReplicaRefusal: Sendable {
    var key: Cookie.Key
    /// `conflict`, `pinned`, or the reason why the cookie is refused.
    var reason: String
    /// The current cookie in the store; `nil` if there is none.
    var current: CookieJar.Stored?
}

/// The rules for applying a container's changes to a jar, so that both end with the same cookies.
enum Applying {
    /// Applies changes in their order.
    ///
    /// - Returns: The changes that were not applied.
    static func apply(_ changes: [ReplicaChange], to jar: inout CookieJar, at now: UnixTime) -> [ReplicaRefusal] {
        changes.compactMap { change in
            reason(against: change, &jar, at: now).map { reason in
                ReplicaRefusal(key: change.key, reason: reason, current: jar.cookie(change.key))
            }
        }
    }

    /// Applies a change; returns the reason why it was not applied, or `nil` if it was.
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
        // A container must not change the properties that the cookie's owner has set.
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
