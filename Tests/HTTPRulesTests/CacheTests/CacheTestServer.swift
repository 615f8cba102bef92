import HTTPRules
import TestSupport

/// The server of the suite cache-tests, in memory. It answers as the test specifies and records the requests.
final class CacheTestServer: CacheTestOrigin {
    /// A received request, and the fields of its answer that the client must receive.
    struct Seen {
        var number: Int
        var method: String
        var fields: HeaderList
        var kept: [(name: String, value: String)]
    }

    /// The time. Tests advance it.
    var now: UnixTime
    /// The received requests, in their order.
    private(set) var seen: [Seen] = []
    private var requests: [CacheTest.Request]
    /// The body of a response for which the test specifies none.
    let name: String

    init(_ test: CacheTest, now: UnixTime) {
        requests = test.requests
        name = test.id
        self.now = now
    }

    /// Answers a request. Returns `nil` if it closes the connection instead.
    func answer(method: String, url: String, fields: HeaderList) throws -> CacheTestAnswer? {
        guard let number = fields.first(named: "Req-Num").flatMap({ Int($0) }) else { throw TestFailure("no Req-Num") }
        if let pause = requests[number - 1].values["response_pause"].flatMap({ Int64($0) }) { now.seconds += pause }
        let status = status(of: number, fields)
        var answer = HeaderList()
        for (name, value) in [
            ("Server-Base-Url", url), ("Server-Request-Count", "\(seen.count + 1)"),
            ("Client-Request-Count", "\(number)"), ("Server-Now", "\(now.seconds)"),
        ] { try answer.put(name, value) }
        var kept: [(name: String, value: String)] = []
        for (index, field) in requests[number - 1].responseFields.enumerated() {
            let text = Self.text(of: field.name, field.value, base: url, in: requests[number - 1], now: now)
            requests[number - 1].responseFields[index].value = .text(text)
            try answer.put(field.name, text)
            guard field.isKept else { continue }
            kept.removeAll { $0.name == field.name }
            kept.append((field.name, answer.values(named: field.name).joined(separator: ", ")))
        }
        if !answer.contains(named: "Content-Type") { try answer.put("Content-Type", "text/plain") }
        if !answer.contains(named: "Date") { try answer.put("Date", HTTPDate.format(now)) }
        seen.append(Seen(number: number, method: method, fields: fields, kept: kept))
        try answer.put("Request-Numbers", seen.map { "\($0.number)" }.joined(separator: " "))
        if requests[number - 1].has("disconnect") { return nil }
        let body = try body(of: number, status: status, method: method, &answer)
        return CacheTestAnswer(status: status, fields: answer, body: body)
    }

    /// Returns the body, cut at `Content-Length` as on a connection.
    private func body(of number: Int, status: Int, method: String, _ fields: inout HeaderList) throws -> [UInt8] {
        guard status != 204, status != 304, method != "HEAD" else { return [] }
        let given = requests[number - 1].values["response_body"] ?? "null"
        let body = Array((given == "null" ? name : given).utf8)
        if let length = fields.first(named: "Content-Length").flatMap({ Int($0) }) { return Array(body.prefix(length)) }
        if !fields.contains(named: "Transfer-Encoding") { try fields.put("Content-Length", "\(body.count)") }
        return body
    }

    /// Returns the test's status. If the request must revalidate: 304 if its condition matches, otherwise 999.
    private func status(of number: Int, _ fields: HeaderList) -> Int {
        let request = requests[number - 1]
        let status = request.values["response_status"].flatMap { Int($0) } ?? 200
        guard request.values["expected_type"]?.hasSuffix("validated") == true, number > 1 else { return status }
        let last = requests[number - 2].responseFields
        func sent(_ name: String) -> String? {
            guard case .text(let text) = last.last(where: { $0.name.lowercased() == name })?.value else { return nil }
            return text
        }
        let isDate = sent("last-modified").map { $0 == fields.combined(named: "If-Modified-Since") } ?? false
        let isTag = sent("etag").map { $0 == fields.combined(named: "If-None-Match") } ?? false
        return isDate || isTag ? 304 : 999
    }

    /// Returns a value as text. In date fields numbers are dates; locations are below the URL if the test requests it.
    static func text(
        of name: String, _ value: CacheTest.Value, base: String, in request: CacheTest.Request, now: UnixTime
    ) -> String {
        switch value {
        case .seconds(let seconds):
            let isDate = ["date", "expires", "last-modified", "if-modified-since", "if-unmodified-since"]
            guard isDate.contains(name.lowercased()) else { return "\(seconds)" }
            return HTTPDate.format(UnixTime(seconds: now.seconds + seconds))
        case .text(let text):
            let isPlace = ["location", "content-location"].contains(name.lowercased())
            guard isPlace, request.has("magic_locations") else { return text }
            return text.isEmpty ? base : "\(base)/\(text)"
        }
    }
}

extension HeaderList {
    /// Adds a field. Throws an error if the field is invalid.
    mutating func put(_ name: String, _ value: String) throws {
        guard append(name: name, value: value) else { throw TestFailure("the field \(name): \(value)") }
    }
}
