import DurableDatabase
import Synchronization
import TaskKit

/// The hosts for which users have no cookies: `cookies.take` has reported that, and no cookie was set since. This saves
/// a call to the plugin Cookies through the daemon, which takes longer than the rest of a short request. Any thread.
final class CookielessHosts: Sendable {
    /// The maximum number of entries of all users. One more removes all others.
    static let maximum = 1024

    /// The user and profile of the cookies, and the host.
    struct Place: Hashable, Sendable {
        let uid: UInt32
        let profile: String
        let host: String
    }

    private struct State {
        var file: ChangeMark?
        /// The change mark at which ``places`` is valid.
        var mark: UInt64?
        var places: Set<Place> = []
    }

    private let state = Mutex(State())

    /// Begins to store entries.
    ///
    /// - Parameter directory: The directory of the database of Cookies.
    func open(in directory: String) { state.withLock { $0.file = ChangeMark(of: "\(directory)/cookies.sqlite") } }

    /// The current change mark of the database. The caller reads it before it calls Cookies, and records it with the
    /// answer; `nil` if no answer can be stored.
    var mark: UInt64? { state.withLock { $0.file }?.value }

    /// Returns whether there are no cookies for a place.
    ///
    /// - Parameter mark: The current mark.
    func contains(_ place: Place, at mark: UInt64?) -> Bool {
        guard let mark else { return false }
        return state.withLock { $0.mark == mark && $0.places.contains(place) }
    }

    /// Records that there are no cookies for a place.
    ///
    /// - Parameter mark: The mark that was read before the call to Cookies.
    func note(_ place: Place, at mark: UInt64?) {
        guard let mark else { return }
        state.withLock { state in
            if state.mark != mark || state.places.count >= Self.maximum { state.places = [] }
            state.mark = mark
            state.places.insert(place)
        }
    }
}
