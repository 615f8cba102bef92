/// The decision about a request: RFC 9111, section 4, under the policy of the request.
public struct CacheDecision: Hashable, Sendable {
    /// The action for a request.
    public enum Action: Hashable, Sendable {
        /// The store answers the request.
        case answer(StoredAnswer)
        /// The store answers immediately; afterwards the request is sent to the server to update the store.
        case answerAndRevalidate(StoredAnswer, CacheLoad)
        /// The request is sent to the server.
        case load(CacheLoad)
        /// Only the store may answer, and it cannot: 504 in HTTP, RFC 9111, section 5.2.1.7.
        case miss
    }

    /// The action.
    public let action: Action
    /// The state of the store for this request.
    public let steps: CacheSteps

    /// Decides about a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - stored: All stored responses of its URL, in any order.
    ///   - now: The time.
    public init(for request: CacheRequest, stored: [StoredResponse], at now: UnixTime) {
        let lookup = CacheLookup(request: request, stored: stored, now: now)
        steps = lookup.steps
        action = lookup.action
    }
}

/// The three steps of a lookup in the store: whether a response exists, has expired, and has changed. `nil` for a step
/// that was not made.
public struct CacheSteps: Hashable, Sendable {
    /// Whether a response that matches the request is stored.
    public var exists: Bool?
    /// Whether it is not fresh any more.
    public var hasExpired: Bool?
    /// Whether the server has a different response.
    public var hasChanged: Bool?

    /// Creates steps.
    ///
    /// - Parameters:
    ///   - exists: Whether a response that matches the request is stored.
    ///   - hasExpired: Whether it is not fresh any more.
    ///   - hasChanged: Whether the server has a different response.
    public init(exists: Bool? = nil, hasExpired: Bool? = nil, hasChanged: Bool? = nil) {
        self.exists = exists
        self.hasExpired = hasExpired
        self.hasChanged = hasChanged
    }
}

/// A lookup of a request in a store.
private struct CacheLookup {
    let request: CacheRequest
    let stored: [StoredResponse]
    let now: UnixTime
    /// The response that the request selects: RFC 9111, section 4.1.
    let selected: StoredResponse?
    /// The answer from that response; `nil` if bytes are missing.
    let answer: StoredAnswer?

    init(request: CacheRequest, stored: [StoredResponse], now: UnixTime) {
        self.request = request
        self.stored = stored
        self.now = now
        let isOpen = request.canBeAnsweredFromStore && !request.avoidsStore
        selected = isOpen ? Self.select(from: stored, for: request) : nil
        answer = selected.flatMap { StoredAnswer($0, to: request) }
    }

    /// Returns the newest matching response; of several with the same second, the one that arrived last: RFC 9111,
    /// section 4.1.
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

    /// The action by RFC 9111, section 4.
    private var useProtocol: CacheDecision.Action {
        let use = selected.map { StoredUse(of: $0, for: request.directives, at: now) }
        if let answer {
            switch use {
            case .fresh, .stale: return .answer(answer)
            case .staleWhileRevalidate where request.directives.isOnlyIfCached: return .answer(answer)
            case .staleWhileRevalidate: return .answerAndRevalidate(answer, conditionalLoad(isBackground: true))
            case .afterValidation, nil: break
            }
        }
        return request.directives.isOnlyIfCached ? .miss : load(.conditional)
    }

    private enum Manner { case conditional, unconditional }

    private func load(_ manner: Manner) -> CacheDecision.Action {
        switch manner {
        case .conditional where request.canBeAnsweredFromStore && !request.avoidsStore:
            .load(conditionalLoad(isBackground: false))
        case .conditional, .unconditional: .load(CacheLoad(unconditional: request))
        }
    }

    private func conditionalLoad(isBackground: Bool) -> CacheLoad {
        // A HEAD is not validated: its response updates the stored responses anyway.
        if request.method == "HEAD" {
            if isBackground { return CacheLoad(validating: nil, others: [], request: request, isBackground: true) }
            return CacheLoad(unconditional: request, selected: answer == nil ? nil : selected)
        }
        if let selected, answer == nil, let load = CacheLoad(resuming: selected, request: request) { return load }
        let others = stored.lazy
            .filter { $0.id != selected?.id && $0.entityTag != nil && StoredAnswer($0, to: request) != nil }
            .prefix(CacheLoad.maximumTags)
        return CacheLoad(
            validating: answer == nil ? nil : selected, others: Array(others), request: request,
            isBackground: isBackground)
    }
}
