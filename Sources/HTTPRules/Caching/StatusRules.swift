/// The properties of status codes that matter for caching: RFC 9110, section 15.
enum StatusRules {
    /// Returns whether a response with this code is the final one for its request.
    static func isFinal(_ status: Int) -> Bool { status >= 200 && status <= 599 }

    /// Returns whether a response concerns the conditions or the range of its request, and is wrong for a request
    /// without them: not modified, precondition failed, range not satisfiable.
    static func answersConditions(_ status: Int) -> Bool { [304, 412, 416].contains(status) }

    /// Returns whether a response may have an estimated lifetime without specifying one: RFC 9110, section 15.1.
    static func isHeuristicallyCacheable(_ status: Int) -> Bool {
        [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501].contains(status)
    }

    /// Returns whether the caching rules of the code are implemented here: RFC 9111, section 5.2.2.3. Those of 206 and
    /// 304 are in ``ContentRange`` and ``CacheLoad``.
    static func isUnderstood(_ status: Int) -> Bool {
        switch status {
        case 200...206, 300...305, 307, 308, 400...417, 421, 422, 426, 428, 429, 431, 451, 500...505, 511: true
        default: false
        }
    }

    /// Returns whether a server failed, so that a stale response may be better: RFC 5861, section 4.
    static func isFailure(_ status: Int) -> Bool { [500, 502, 503, 504].contains(status) }
}
