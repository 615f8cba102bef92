/// The stored responses that a request invalidates: RFC 9111, section 4.4.
public struct Invalidation: Hashable, Sendable {
    /// References to other URLs, as received in `Location` and `Content-Location`. The owner of the request's URL must
    /// resolve them, and must ignore those of another origin.
    public let references: [String]

    /// Determines what is invalidated in addition to the URL of the request; `nil` if not even that URL is.
    ///
    /// - Parameters:
    ///   - method: The method of the request. Methods that are known to be safe invalidate nothing.
    ///   - response: The response to it. Only a success or a redirect invalidates.
    public init?(method: String, response: NetworkResponse) {
        guard !["GET", "HEAD", "OPTIONS", "TRACE"].contains(method), (200...399).contains(response.status) else {
            return nil
        }
        references = [FieldName.location, FieldName.contentLocation].compactMap { response.fields.first(named: $0) }
    }
}
