import HTTPRules
import TaskKit

/// A profile in memory.
struct Profile: Sendable {
    var jar: CookieJar
    /// The number of its row; `nil` if it has none yet or is kept only in memory.
    var row: Int64?
    /// Whether a container was attached whose end has not been settled.
    var isAttended = false
    /// The times of use of cookies that are not written yet.
    var accessed: [Cookie.Key: UnixTime] = [:]
    /// The seeded cookies by the names of the seeds.
    var seeds: [String: Set<Cookie.Key>] = [:]
    /// The last use, as an increasing number.
    var lastUse: UInt64 = 0
}

/// The changes that a call has made to a profile.
struct ProfileChanges: Sendable {
    var profile: ProfileID
    /// The changes in their order.
    var changes: [CookieChange]
    /// The session of the container that made the changes; `nil` if no container made them.
    var writer: SessionID?
    /// The cookies that the container wrote, with `nil` for a removal. Changes with exactly this result are not sent to
    /// it.
    var written: [Cookie.Key: Cookie?] = [:]
}
