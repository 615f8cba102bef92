import HTTPRules
import TaskKit

/// The rules for the methods and header fields that a caller may set.
struct RequestCheck {
    /// Fields that libcurl and this plugin set, in lower case.
    private static let own: Set<String> = [
        "host", "connection", "content-length", "transfer-encoding", "te", "trailer", "upgrade", "expect", "keep-alive",
        "http2-settings",
    ]
    /// Fields that pages must not set (Fetch, "forbidden request-header").
    private static let forbidden: Set<String> = [
        "accept-charset", "accept-encoding", "access-control-request-headers", "access-control-request-method",
        "access-control-request-private-network", "cookie", "cookie2", "date", "dnt", "origin", "referer", "set-cookie",
        "via",
    ]
    /// Fields that name another method. That method must not be a forbidden one.
    private static let methodFields: Set<String> = ["x-http-method", "x-http-method-override", "x-method-override"]
    /// Methods for proxies, and methods that return a request's secrets.
    private static let forbiddenMethods: Set<String> = ["CONNECT", "TRACE", "TRACK"]
    /// The maximum length of a method in bytes.
    private static let maximumMethodBytes = 32
    /// Methods that are accepted in any case (Fetch, "normalize").
    private static let normalized: Set<String> = ["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH"]

    /// Whether the caller is a page.
    let isPage: Bool

    /// Returns the method that a text names.
    ///
    /// - Throws: If the text is not a method, or the method is forbidden.
    static func method(_ text: String) throws(JSONMismatch) -> String {
        let upper = text.uppercased()
        guard HeaderField.isName(text), text.utf8.count <= maximumMethodBytes, !forbiddenMethods.contains(upper) else {
            throw JSONMismatch(
                path: "$.method", expected: "a method, such as GET", got: "an invalid or forbidden one")
        }
        return normalized.contains(upper) ? upper : text
    }

    /// Returns the checked fields of a request.
    ///
    /// - Throws: `options.invalid`, if a field is invalid or must not be set; `http.too_large`.
    func fields(_ pairs: [(name: String, value: String)]) throws(BridgeError) -> HeaderList {
        var headers = HeaderList()
        for (index, pair) in pairs.enumerated() {
            let path = "$.headers[\(index)]"
            guard let field = HeaderField(name: pair.name, value: pair.value) else {
                throw .invalidOption(
                    path, expected: "a token as the name and a value without CR, LF and NUL, in ISO 8859-1",
                    got: "something else")
            }
            guard isAllowed(field) else {
                throw .invalidOption(path, expected: "a field that callers may set", got: JSON.string(pair.name).text)
            }
            headers.append(field)
        }
        let (lines, bytes) = (HeaderList.maximumLines, HeaderList.maximumBytes)
        guard headers.count <= lines, headers.byteCount <= bytes else {
            throw .tooLarge(
                .headers, limit: Int64(headers.count > lines ? lines : bytes),
                "the request has more than \(lines) headers, or more than \(bytes) bytes of them")
        }
        return headers
    }

    private func isAllowed(_ field: HeaderField) -> Bool {
        let name = field.name.lowercased()
        if Self.own.contains(name) || name.hasPrefix("proxy-") { return false }
        guard isPage else { return true }
        if name.hasPrefix("sec-") || Self.forbidden.contains(name) { return false }
        guard Self.methodFields.contains(name) else { return true }
        let methods = FieldScanner.members(of: field.value)
        return !methods.contains { Self.forbiddenMethods.contains($0.uppercased()) }
    }
}
