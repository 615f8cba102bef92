import HTTPRules

/// What the store had to do with a response: the member `cache` of the result.
struct CacheReport: Sendable {
    enum State: String, Sendable, CaseIterable {
        /// It came from the store, and was fresh.
        case fresh
        /// It came from the store, and was not fresh any more.
        case stale
        /// The server has confirmed what was stored.
        case revalidated
        /// The store had nothing that fits.
        case miss
        /// The store was not asked.
        case bypass
    }

    var state: State
    /// How old it is, in seconds; nil: it has just come.
    var age: Int64?
    var steps = CacheSteps()
    /// Whether it is stored, or is being stored as its body comes.
    var isStored = false
}
