/// A change of a cookie, with the version of the store that it created.
public struct CookieChange: Hashable, Sendable {
    /// The reason why a cookie was removed.
    public enum Cause: String, Hashable, Sendable {
        /// It was removed, directly or by a line with an expiry in the past.
        case deleted
        /// It has expired.
        case expired
        /// There were too many cookies.
        case evicted
    }

    /// The kind of a change.
    public enum Kind: Hashable, Sendable {
        /// The cookie was added or changed.
        case set(Cookie)
        /// The cookie was removed.
        case removed(Cookie.Key, Cause)
    }

    /// The version of the store that the change created.
    public let version: UInt64
    /// The change.
    public let kind: Kind
    /// Whether the cookie is hidden from scripts; the change is then hidden from them too.
    public let httpOnly: Bool

    /// Creates a change.
    ///
    /// - Parameters:
    ///   - version: The version that it created.
    ///   - kind: The change.
    ///   - httpOnly: Whether a removed cookie was hidden from scripts. Ignored for a cookie that was set, which
    ///     contains this itself.
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

/// The removals that a store keeps for clients that request the changes since a version. The oldest are discarded.
struct CookieRemovals: Sendable {
    /// The maximum number of removals that are kept: three times the number of cookies in a store.
    static let maximum = 10_000

    /// The removals by version; the oldest valid one is at `start`.
    private var removals: [CookieChange] = []
    private var start = 0
    /// The version of the last discarded removal. A client with an earlier version must start again.
    private(set) var forgotten: UInt64

    /// Creates an empty list.
    ///
    /// - Parameter forgotten: The version up to which removals are unknown.
    init(forgotten: UInt64) { self.forgotten = forgotten }

    /// Adds a removal. Its version must be higher than those of all earlier ones.
    ///
    /// - Parameter change: The removal.
    mutating func append(_ change: CookieChange) {
        removals.append(change)
        guard removals.count - start > Self.maximum else { return }
        forgotten = removals[start].version
        start += 1
    }

    /// Frees the memory of discarded removals if there are many.
    mutating func tidy() {
        guard start > Self.maximum else { return }
        removals.removeFirst(start)
        start = 0
    }

    /// The current state, to which `undo` can return until the next `tidy`.
    var mark: Mark { Mark(count: removals.count, start: start, forgotten: forgotten) }

    /// A state of the list of removals.
    struct Mark {
        fileprivate let count: Int
        fileprivate let start: Int
        fileprivate let forgotten: UInt64
    }

    /// Removes everything that was added since a mark.
    mutating func undo(to mark: Mark) {
        removals.removeLast(removals.count - mark.count)
        (start, forgotten) = (mark.start, mark.forgotten)
    }

    /// Returns the removals after a version.
    ///
    /// - Parameter version: The version.
    func since(_ version: UInt64) -> [CookieChange] {
        Array(removals[start...].reversed().prefix { $0.version > version }.reversed())
    }
}
