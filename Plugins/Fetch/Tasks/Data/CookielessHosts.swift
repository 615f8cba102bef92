import DurableDatabase
import Synchronization
import TaskKit

/// The hosts for which users have no cookies: `cookies.take` has said so, and no cookie was set since. A call through
/// the daemon to the plugin Cookies takes more than the rest of a short request. Any thread.
final class CookielessHosts: Sendable {
    /// How many are kept, of all users; one more begins again.
    static let maximum = 1024

    /// Whose cookies, and for which host.
    struct Place: Hashable, Sendable {
        let uid: UInt32
        let profile: String
        let host: String
    }

    private struct State {
        var file: ChangeMark?
        /// The mark under which ``places`` holds.
        var mark: UInt64?
        var places: Set<Place> = []
    }

    private let state = Mutex(State())

    /// Begins to keep them.
    ///
    /// - Parameter directory: Where Cookies has its database.
    func open(in directory: String) { state.withLock { $0.file = ChangeMark(of: "\(directory)/cookies.sqlite") } }

    /// What is noted with an answer of Cookies, read before that is asked for; nil: no answer can be kept.
    var mark: UInt64? { state.withLock { $0.file }?.value }

    /// Whether there are no cookies for a place.
    ///
    /// - Parameter mark: The mark as it is now.
    func contains(_ place: Place, at mark: UInt64?) -> Bool {
        guard let mark else { return false }
        return state.withLock { $0.mark == mark && $0.places.contains(place) }
    }

    /// Notes that there are none.
    ///
    /// - Parameter mark: The mark as it was before Cookies was asked.
    func note(_ place: Place, at mark: UInt64?) {
        guard let mark else { return }
        state.withLock { state in
            if state.mark != mark || state.places.count >= Self.maximum { state.places = [] }
            state.mark = mark
            state.places.insert(place)
        }
    }
}
