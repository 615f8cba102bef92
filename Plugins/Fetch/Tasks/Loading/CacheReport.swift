import HTTPRules

/// The store's part in a response: the member `cache` of the result.
struct CacheReport: Sendable {
    enum State: String, Sendable, CaseIterable {
        /// The response came from the store and was fresh.
        case fresh
        /// The response came from the store and was no longer fresh.
        case stale
        /// The server has confirmed the stored response.
        case revalidated
        /// The store had no matching response.
        case miss
        /// The store was not used.
        case bypass
    }

    var state: State
    /// The age in seconds; `nil` if the response does not come from the store.
    var age: Int64?
    var steps = CacheSteps()
    /// Whether the response is stored, or is being stored while its body arrives.
    var isStored = false
}
