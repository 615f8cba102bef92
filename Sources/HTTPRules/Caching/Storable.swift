/// Whether a response may be stored, by a private cache: RFC 9111, section 3.
public enum Storable {
    /// Why a response is not stored.
    public enum Refusal: Hashable, Sendable {
        /// Responses to this method are not stored.
        case method
        /// The status is none of a last response, or answers conditions of the request, or is not known to the store.
        case status
        /// The request asked not to.
        case requestNoStore
        /// The response asked not to.
        case responseNoStore
        /// No later request would be known to fit: `Vary: *`.
        case vary
        /// A piece of a body whose place is not given.
        case range
        /// Neither the status nor a directive permits it.
        case noPermission
    }

    /// Why a response may not be stored; nil where it may. A request with `Authorization` makes no difference: the
    /// store is private.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - request: Its request.
    ///   - isContentOfURL: Whether `Content-Location` names the URL that was asked for: then a response to POST that
    ///     says how long it is fresh may be stored for GET (RFC 9110, section 9.3.3).
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
