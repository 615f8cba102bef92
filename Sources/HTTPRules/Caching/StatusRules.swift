/// What caching has to know of status codes: RFC 9110, section 15.
enum StatusRules {
    /// Whether the response to this code is the last of its request.
    static func isFinal(_ status: Int) -> Bool { status >= 200 && status <= 599 }

    /// Whether a response is about conditions or the range of its request, and wrong for a request without them:
    /// not modified, precondition failed, range not satisfiable.
    static func answersConditions(_ status: Int) -> Bool { [304, 412, 416].contains(status) }

    /// Whether a response is fresh for a while though it says nothing of it: RFC 9110, section 15.1.
    static func isHeuristicallyCacheable(_ status: Int) -> Bool {
        [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
    }

    /// Whether the code's rules of caching are known here: RFC 9111, section 5.2.2.3. 206 and 304 are, in
    /// ``ContentRange`` and ``CacheLoad``.
    static func isUnderstood(_ status: Int) -> Bool {
        switch status {
        case 200...206, 300...305, 307, 308, 400...417, 421, 422, 426, 428, 429, 431, 451, 500...505, 511: true
        default: false
        }
    }

    /// Whether a server failed, so that something stale may be better: RFC 5861, section 4.
    static func isFailure(_ status: Int) -> Bool { [500, 502, 503, 504].contains(status) }
}
