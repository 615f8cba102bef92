import HTTPRules
import TaskKit

/// A profile in memory.
struct Profile: Sendable {
    var jar: CookieJar
    /// The number of its row; nil: it has none yet, or is kept in memory only.
    var row: Int64?
    /// Whether a container was attached whose end has not been settled.
    var isAttended = false
    /// When cookies were used that are not written yet.
    var accessed: [Cookie.Key: UnixTime] = [:]
    /// The cookies that were seeded, by the names of the seeds.
    var seeds: [String: Set<Cookie.Key>] = [:]
    /// When it was used last, as a number that grows.
    var lastUse: UInt64 = 0
}

/// Changes that a call has made to a profile.
struct ProfileChanges: Sendable {
    var profile: ProfileID
    /// In their order.
    var changes: [CookieChange]
    /// The container's session that made them; nil: nobody is left out who is sent them.
    var writer: SessionID?
    /// What the container wrote, nil for a removal: it needs no word of what became just that.
    var written: [Cookie.Key: Cookie?] = [:]
}
