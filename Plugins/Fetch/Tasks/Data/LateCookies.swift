import Synchronization
import TaskKit

/// Cookies of responses that came after the call was over, such as that of a validation for which nobody waits: what
/// stores them is done on behalf of a call. The next fetch of the same caller stores them first. Any thread.
final class LateCookies: Sendable {
    /// Bytes of a user's; the oldest go.
    static let maximumBytes = 64 << 10
    /// How long they are kept.
    static let maximumAge = Duration.seconds(600)

    /// Whose they are: others may have other rights.
    private struct Owner: Hashable {
        let uid: UInt32
        let origin: String

        init(_ caller: Caller) { (uid, origin) = (caller.uid, caller.origin) }
    }

    private struct Entry {
        let owner: Owner
        /// The options of `cookies.put`.
        let options: JSON
        let byteCount: Int
        let since: ContinuousClock.Instant
    }

    /// In the order in which they came.
    private let entries = Mutex<[Entry]>([])

    /// Keeps the options of a call of `cookies.put` that could not be made.
    func add(_ options: JSON, of caller: Caller, at now: ContinuousClock.Instant = .now) {
        let entry = Entry(owner: Owner(caller), options: options, byteCount: options.text.utf8.count, since: now)
        guard entry.byteCount <= Self.maximumBytes else { return }
        entries.withLock { entries in
            entries.removeAll { now - $0.since > Self.maximumAge }
            entries.append(entry)
            var left = Self.maximumBytes
            var kept: [Entry] = []
            for one in entries.reversed() {
                if one.owner.uid == caller.uid { left -= one.byteCount }
                if one.owner.uid != caller.uid || left >= 0 { kept.append(one) }
            }
            entries = kept.reversed()
        }
    }

    /// What is to be stored for a caller, the oldest first. It is theirs from now on.
    func take(of caller: Caller, at now: ContinuousClock.Instant = .now) -> [JSON] {
        entries.withLock { entries in
            guard !entries.isEmpty else { return [] }
            let owner = Owner(caller)
            let taken = entries.filter { $0.owner == owner && now - $0.since <= Self.maximumAge }
            entries.removeAll { $0.owner == owner }
            return taken.map(\.options)
        }
    }

    /// Forgets those of a user.
    func removeAll(of uid: UInt32) { entries.withLock { $0.removeAll { $0.owner.uid == uid } } }
}
