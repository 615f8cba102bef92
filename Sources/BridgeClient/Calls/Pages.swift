public import BridgeJSON

extension BridgeClient {
    /// Calls a task that answers a table in pages, such as `bridge.sessions`, until the table is complete.
    ///
    /// - Parameters:
    ///   - list: The member that goes on from page to page: an array, or a string.
    ///   - timeout: How long to wait for each page.
    /// - Returns: The first page with the whole list in it, and without a cursor.
    /// - Throws: As `call(_:options:session:timeout:)`.
    public func callPages(
        _ task: String, options: JSONObject = [:], list: String, timeout: Duration? = nil
    ) async throws(BridgeError) -> JSON {
        let first = try await call(task, options: .object(options), timeout: timeout)
        guard var result = first.objectValue, var cursor = first["cursor"] else { return first }
        var elements = first[list]?.arrayValue ?? []
        var text = first[list]?.stringValue
        var options = options
        while true {
            options["cursor"] = cursor
            let page = try await call(task, options: .object(options), timeout: timeout)
            elements += page[list]?.arrayValue ?? []
            text = text.map { $0 + (page[list]?.stringValue ?? "") }
            // A page that ends where the one before ended would never come to an end.
            guard let next = page["cursor"], next != cursor else { break }
            cursor = next
        }
        result["cursor"] = nil
        result[list] = text.map(JSON.string) ?? .array(elements)
        return .object(result)
    }
}
