import HTTPRules

/// Returns fields with these names and values.
func fields(_ pairs: (String, String)...) -> HeaderList {
    HeaderList(pairs.compactMap { HeaderField(name: $0.0, value: $0.1) })
}

/// 6 November 1994, 08:49:37.
let november1994 = UnixTime(seconds: 784_111_777)

extension UnixTime {
    /// Returns the moment this number of seconds later.
    func later(_ seconds: Int64) -> UnixTime { UnixTime(seconds: self.seconds + seconds) }
}

/// Returns a stored response to GET that was requested and received in the same second, by default `november1994`.
func stored(
    id: Int64 = 1, status: Int = 200, _ fields: HeaderList, request: HeaderList = HeaderList(),
    at receivedAt: UnixTime = november1994, body: HeldBytes = .complete(length: 10)
) -> StoredResponse {
    let selecting = SelectingFields(Vary(fields), request: request) ?? SelectingFields(text: "")
    guard let selecting else { preconditionFailure("an empty text is one of no fields") }
    return StoredResponse(
        id: id, status: status, fields: fields, selecting: selecting, requestedAt: receivedAt, receivedAt: receivedAt,
        body: body)
}

/// Returns a response of a server that was requested and received in the same second.
func response(_ status: Int = 200, _ fields: HeaderList, at receivedAt: UnixTime = november1994) -> NetworkResponse {
    NetworkResponse(status: status, fields: fields, requestedAt: receivedAt, receivedAt: receivedAt)
}

/// Returns a GET request.
func get(_ fields: HeaderList = HeaderList(), _ policy: CachePolicy = .useProtocol) -> CacheRequest {
    CacheRequest(fields: fields, policy: policy)
}
