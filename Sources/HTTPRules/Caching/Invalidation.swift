/// What a request makes wrong in the store: RFC 9111, section 4.4.
public struct Invalidation: Hashable, Sendable {
    /// References to other URLs, as they came in `Location` and `Content-Location`. Who has the URL of the request
    /// resolves them, and leaves alone what is of another origin.
    public let references: [String]

    /// What becomes wrong beside the URL of the request; nil where that does not either.
    ///
    /// - Parameters:
    ///   - method: The method of the request: those that are known to be safe make nothing wrong.
    ///   - response: The response to it: only one that says success or leads elsewhere counts.
    public init?(method: String, response: NetworkResponse) {
        guard !["GET", "HEAD", "OPTIONS", "TRACE"].contains(method), (200...399).contains(response.status) else {
            return nil
        }
        references = [FieldName.location, FieldName.contentLocation].compactMap { response.fields.first(named: $0) }
    }
}
