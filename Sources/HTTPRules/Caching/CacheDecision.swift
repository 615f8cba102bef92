/// What is done with a request: RFC 9111, section 4, under the policy of the request.
public struct CacheDecision: Hashable, Sendable {
    /// What is done.
    public enum Action: Hashable, Sendable {
        /// The store answers.
        case answer(StoredAnswer)
        /// The store answers immediately; then the server is asked, for the store alone.
        case answerAndRevalidate(StoredAnswer, CacheLoad)
        /// The server is asked.
        case load(CacheLoad)
        /// The store was to answer, and cannot: 504 in HTTP, RFC 9111, section 5.2.1.7.
        case miss
    }

    /// What is done.
    public let action: Action
    /// What was found out about the store.
    public let steps: CacheSteps

    /// The decision about a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - stored: All that is stored of its URL, in any order.
    ///   - now: The time.
    public init(for request: CacheRequest, stored: [StoredResponse], at now: UnixTime) {
        let lookup = CacheLookup(request: request, stored: stored, now: now)
        steps = lookup.steps
        action = lookup.action
    }
}

/// The three steps of a look into the store: does something exist, has it expired, has it changed. Nil: not asked.
public struct CacheSteps: Hashable, Sendable {
    /// Whether a response is stored that fits the request.
    public var exists: Bool?
    /// Whether it is no longer fresh.
    public var hasExpired: Bool?
    /// Whether the server has another one.
    public var hasChanged: Bool?

    /// Steps.
    ///
    /// - Parameters:
    ///   - exists: Whether a response is stored that fits the request.
    ///   - hasExpired: Whether it is no longer fresh.
    ///   - hasChanged: Whether the server has another one.
    public init(exists: Bool? = nil, hasExpired: Bool? = nil, hasChanged: Bool? = nil) {
        self.exists = exists
        self.hasExpired = hasExpired
        self.hasChanged = hasChanged
    }
}

/// What of a store concerns a request.
private struct CacheLookup {
    let request: CacheRequest
    let stored: [StoredResponse]
    let now: UnixTime
    /// The response that the request selects: RFC 9111, section 4.1.
    let selected: StoredResponse?
    /// What of it answers the request; nil where bytes are missing.
    let answer: StoredAnswer?

    init(request: CacheRequest, stored: [StoredResponse], now: UnixTime) {
        self.request = request
        self.stored = stored
        self.now = now
        let isOpen = request.canBeAnsweredFromStore && !request.avoidsStore
        selected = isOpen ? Self.select(from: stored, for: request) : nil
        answer = selected.flatMap { StoredAnswer($0, to: request) }
    }

    /// The newest of those that fit, and of several of one second the one that came last: RFC 9111, section 4.1.
    private static func select(from stored: [StoredResponse], for request: CacheRequest) -> StoredResponse? {
        stored.filter { $0.selecting.fits(request.fields) }
            .max { ($0.date, $0.receivedAt) < ($1.date, $1.receivedAt) }
    }

    var steps: CacheSteps {
        switch request.policy {
        case .reloadIgnoringLocal, .reloadIgnoringLocalAndRemote, .noStore: CacheSteps()
        default: CacheSteps(exists: selected != nil, hasExpired: selected.map { !$0.isFresh(at: now) })
        }
    }

    var action: CacheDecision.Action {
        switch request.policy {
        case .useProtocol: useProtocol
        case .returnElseLoad: answer.map { .answer($0) } ?? load(.unconditional)
        case .returnDontLoad: answer.map { .answer($0) } ?? .miss
        case .reloadRevalidating: load(.conditional)
        case .reloadIgnoringLocal, .reloadIgnoringLocalAndRemote, .noStore: load(.unconditional)
        }
    }

    /// RFC 9111, section 4.
    private var useProtocol: CacheDecision.Action {
        let use = selected.map { StoredUse(of: $0, for: request.directives, at: now) }
        if let answer {
            switch use {
            case .fresh, .stale: return .answer(answer)
            case .staleWhileRevalidate where request.directives.isOnlyIfCached: return .answer(answer)
            case .staleWhileRevalidate: return .answerAndRevalidate(answer, conditionalLoad(isBehind: true))
            case .afterValidation, nil: break
            }
        }
        return request.directives.isOnlyIfCached ? .miss : load(.conditional)
    }

    private enum Manner { case conditional, unconditional }

    private func load(_ manner: Manner) -> CacheDecision.Action {
        switch manner {
        case .conditional where request.canBeAnsweredFromStore && !request.avoidsStore:
            .load(conditionalLoad(isBehind: false))
        case .conditional, .unconditional: .load(CacheLoad(unconditional: request))
        }
    }

    private func conditionalLoad(isBehind: Bool) -> CacheLoad {
        // A HEAD is not worth a validation: what it brings freshens what is stored.
        if request.method == "HEAD" {
            if isBehind { return CacheLoad(validating: nil, others: [], request: request, isBehind: true) }
            return CacheLoad(unconditional: request, selected: answer == nil ? nil : selected)
        }
        if let selected, answer == nil, let load = CacheLoad(resuming: selected, request: request) { return load }
        let others = stored.lazy
            .filter { $0.id != selected?.id && $0.entityTag != nil && StoredAnswer($0, to: request) != nil }
            .prefix(CacheLoad.maximumTags)
        return CacheLoad(
            validating: answer == nil ? nil : selected, others: Array(others), request: request, isBehind: isBehind)
    }
}
