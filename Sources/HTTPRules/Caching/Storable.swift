/// The rules that decide whether a private cache may store a response: RFC 9111, section 3.
public enum Storable {
    /// The reason why a response is not stored.
    public enum Refusal: Hashable, Sendable {
        /// Responses to this method are not stored.
        case method
        /// The status is not that of a final response, or answers conditions of the request, or is unknown to the
        /// store.
        case status
        /// The request forbids it.
        case requestNoStore
        /// The response forbids it.
        case responseNoStore
        /// No later request could match: `Vary: *`.
        case vary
        /// The response is a part of a body without its place.
        case range
        /// Neither the status nor a directive permits it.
        case noPermission
    }

    /// Returns the reason why a response must not be stored; `nil` if it may be stored. `Authorization` in a request
    /// makes no difference, because the store is private.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - request: Its request.
    ///   - isContentOfURL: Whether `Content-Location` names the requested URL. A response to POST that specifies its
    ///     lifetime may then be stored for GET (RFC 9110, section 9.3.3).
    public static func refusal(
        of response: NetworkResponse, to request: CacheRequest, isContentOfURL: Bool = false
    ) -> Refusal? {
        let directives = ResponseDirectives(response.fields)
        if request.avoidsStore { return .requestNoStore }
        guard isStorable(request.method, response, directives, isContentOfURL) else { return .method }
        guard StatusRules.isFinal(response.status), !StatusRules.answersConditions(response.status) else {
            return .status
        }
        if directives.mustUnderstand {
            guard StatusRules.isUnderstood(response.status) else { return .status }
        } else if directives.isNoStore {
            return .responseNoStore
        }
        if Vary(response.fields) == .everything { return .vary }
        if response.status == 206, ContentRange(response.fields)?.range == nil { return .range }
        let isPermitted =
            directives.isPublic || directives.isPrivate || directives.maxAge != nil
            || response.fields.contains(named: FieldName.expires)
            || StatusRules.isHeuristicallyCacheable(response.status)
        return isPermitted ? nil : .noPermission
    }

    private static func isStorable(
        _ method: String, _ response: NetworkResponse, _ directives: ResponseDirectives, _ isContentOfURL: Bool
    ) -> Bool {
        switch method {
        case "GET": true
        case "POST":
            isContentOfURL && response.status == 200
                && (directives.maxAge != nil || response.fields.contains(named: FieldName.expires))
        default: false
        }
    }
}
