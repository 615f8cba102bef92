/// What has become of a cookie, and in which version of its store.
public struct CookieChange: Hashable, Sendable {
    /// Why a cookie is gone.
    public enum Cause: String, Hashable, Sendable {
        /// Somebody removed it, or a line with an end in the past did.
        case deleted
        /// It has ended.
        case expired
        /// There were too many.
        case evicted
    }

    /// The change.
    public enum Kind: Hashable, Sendable {
        /// It is there, new or changed.
        case set(Cookie)
        /// It is gone.
        case removed(Cookie.Key, Cause)
    }

    /// The version of the store that the change made.
    public let version: UInt64
    /// The change.
    public let kind: Kind
    /// Whether the cookie is one that scripts do not see: then they do not see the change either.
    public let httpOnly: Bool

    /// A change.
    ///
    /// - Parameters:
    ///   - version: The version that it made.
    ///   - kind: The change.
    ///   - httpOnly: Whether a cookie that was removed is one that scripts do not see; of one that is there, it says so
    ///     itself.
    public init(version: UInt64, kind: Kind, httpOnly: Bool = false) {
        self.version = version
        self.kind = kind
        if case .set(let cookie) = kind { self.httpOnly = cookie.httpOnly } else { self.httpOnly = httpOnly }
    }

    /// The key of the cookie.
    public var key: Cookie.Key {
        switch kind {
        case .set(let cookie): cookie.key
        case .removed(let key, _): key
        }
    }
}

/// The removals that a store remembers for those who ask what has changed. The oldest are forgotten.
struct CookieRemovals: Sendable {
    /// The most that are remembered: three times what a store holds.
    static let maximum = 10_000

    /// The removals by version, at `start` the oldest that counts.
    private var removals: [CookieChange] = []
    private var start = 0
    /// The version of the last removal that is forgotten; who knows an earlier one must begin again.
    private(set) var forgotten: UInt64

    /// No removals.
    ///
    /// - Parameter forgotten: The version before which nothing is known.
    init(forgotten: UInt64) { self.forgotten = forgotten }

    /// Adds a removal, of a higher version than all before.
    ///
    /// - Parameter change: The removal.
    mutating func append(_ change: CookieChange) {
        removals.append(change)
        guard removals.count - start > Self.maximum else { return }
        forgotten = removals[start].version
        start += 1
    }

    /// Lets go of what is forgotten, where it is much.
    mutating func tidy() {
        guard start > Self.maximum else { return }
        removals.removeFirst(start)
        start = 0
    }

    /// How many removals there are, to which `undo` can go back until the next `tidy`.
    var mark: Mark { Mark(count: removals.count, start: start, forgotten: forgotten) }

    /// What a list of removals was.
    struct Mark {
        fileprivate let count: Int
        fileprivate let start: Int
        fileprivate let forgotten: UInt64
    }

    /// Takes out what was added since a mark.
    mutating func undo(to mark: Mark) {
        removals.removeLast(removals.count - mark.count)
        (start, forgotten) = (mark.start, mark.forgotten)
    }

    /// The removals after a version.
    ///
    /// - Parameter version: The version.
    func since(_ version: UInt64) -> [CookieChange] {
        Array(removals[start...].reversed().prefix { $0.version > version }.reversed())
    }
}
