/// The permitted use of a stored response, fresh or stale, without validation: RFC 9111, sections 4.2.4 and 5.2.1, and
/// RFC 5861.
public enum StoredUse: Hashable, Sendable {
    /// The response is fresh.
    case fresh
    /// The response is stale, and the request accepts it.
    case stale
    /// The response is stale, and may be used while it is revalidated in the background.
    case staleWhileRevalidate
    /// The response must be validated before use.
    case afterValidation

    /// Determines the permitted use of a stored response.
    ///
    /// - Parameters:
    ///   - stored: The response.
    ///   - directives: The directives of the request.
    ///   - now: The time.
    public init(of stored: StoredResponse, for directives: RequestDirectives, at now: UnixTime) {
        let age = stored.age(at: now)
        let lifetime = stored.freshness.lifetime
        if stored.directives.noCache == .response || directives.isNoCache {
            self = .afterValidation
        } else if lifetime > age {
            self = Self.isEnough(age: age, lifetime: lifetime, stored, directives) ? .fresh : .afterValidation
        } else {
            self = Self.ofStale(age: age, staleness: age - lifetime, stored, directives)
        }
    }

    /// Returns whether a fresh response is fresh enough for a request: RFC 9111, sections 5.2.1.1 and 5.2.1.3. An
    /// immutable response is valid while it is fresh: RFC 8246.
    private static func isEnough(
        age: Duration, lifetime: Duration, _ stored: StoredResponse, _ directives: RequestDirectives
    ) -> Bool {
        if let minFresh = directives.minFresh, lifetime < age + minFresh { return false }
        guard let maxAge = directives.maxAge, !stored.directives.isImmutable else { return true }
        return age <= maxAge
    }

    /// Returns the permitted use of a stale response. `max-stale` in a request does not override a restriction of the
    /// response: RFC 9111, section 5.2.2.2.
    private static func ofStale(
        age: Duration, staleness: Duration, _ stored: StoredResponse, _ directives: RequestDirectives
    ) -> StoredUse {
        if stored.directives.mustRevalidate || directives.minFresh != nil { return .afterValidation }
        switch directives.maxStale {
        case .unlimited: return .stale
        case .upTo(let limit) where staleness <= limit: return .stale
        case .upTo, nil: break
        }
        if let maxAge = directives.maxAge, age > maxAge { return .afterValidation }
        guard let window = stored.directives.staleWhileRevalidate, staleness <= window else { return .afterValidation }
        return .staleWhileRevalidate
    }

    /// Returns whether a stored response may answer because the server cannot: the connection failed, or the status is
    /// 500, 502, 503 or 504. RFC 5861, section 4: only if the response or the request permits it.
    ///
    /// - Parameters:
    ///   - stored: The response.
    ///   - directives: The directives of the request.
    ///   - now: The time.
    public static func isAllowedAfterFailure(
        of stored: StoredResponse, for directives: RequestDirectives, at now: UnixTime
    ) -> Bool {
        let isForbidden =
            stored.directives.noCache == .response || stored.directives.mustRevalidate || directives.isNoCache
        let windows = [stored.directives.staleIfError, directives.staleIfError].compactMap { $0 }
        guard !isForbidden, let window = windows.max() else { return false }
        return stored.age(at: now) - stored.freshness.lifetime <= window
    }
}
