import Synchronization
import TaskKit

/// The cookies of responses that arrived after their call had ended, such as the response to a background validation.
/// Storing cookies requires an open call, so the next fetch of the same caller stores them first. Any thread.
final class LateCookies: Sendable {
    /// The maximum number of bytes of a user. The oldest entries are removed.
    static let maximumBytes = 64 << 10
    /// The maximum age of an entry.
    static let maximumAge = Duration.seconds(600)

    /// The owner of an entry. Sessions of other origins may have other rights.
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

    /// The entries in the order of their arrival.
    private let entries = Mutex<[Entry]>([])

    /// Stores the options of a call of `cookies.put` that could not be made.
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

    /// Removes and returns the options for a caller, the oldest first.
    func take(of caller: Caller, at now: ContinuousClock.Instant = .now) -> [JSON] {
        entries.withLock { entries in
            guard !entries.isEmpty else { return [] }
            let owner = Owner(caller)
            let taken = entries.filter { $0.owner == owner && now - $0.since <= Self.maximumAge }
            entries.removeAll { $0.owner == owner }
            return taken.map(\.options)
        }
    }

    /// Removes the entries of a user.
    func removeAll(of uid: UInt32) { entries.withLock { $0.removeAll { $0.owner.uid == uid } } }
}
