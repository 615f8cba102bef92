import HTTPRules
import TaskKit

/// The rules for redirects: their target, and the request to it.
enum Redirects {
    /// The maximum number of redirects that are followed.
    static let maximum = 20

    /// The fields that describe a body.
    private static let bodyFields: Set<String> = [
        "content-encoding", "content-language", "content-location", "content-type", "content-length",
    ]
    /// Words in the names of fields that hold secrets.
    private static let secretWords = [
        "auth", "cookie", "credential", "csrf", "key", "password", "secret", "session", "signature", "token", "xsrf",
    ]

    /// Returns the target URL of a redirect.
    ///
    /// - Throws: `http.protocol`, if the redirect has no valid target or several; `http.refused`.
    static func target(of head: ResponseHead, from url: WebURL, _ settings: FetchSettings) throws(BridgeError) -> WebURL
    {
        let locations = Set(head.headers.values(named: "Location"))
        guard let location = locations.first, locations.count == 1, let bytes = FieldText.encode(location) else {
            throw .brokenProtocol("the server sent several redirect targets, or an invalid one")
        }
        let target: WebURL
        do throws(AddressRefusal) { target = try url.redirected(to: bytes) } catch {
            if error.reason == .scheme {
                throw .refused(.scheme, "the redirect leads to another scheme than http or https: \(error)", host: nil)
            }
            throw .brokenProtocol("the server redirects to something that is not a URL: \(error)")
        }
        guard url.scheme == .http || target.scheme == .https || settings.allowsDowngrade else {
            throw .refused(
                .downgrade, "the redirect leads from https to http; see the setting downgrade", host: target.host)
        }
        return target
    }

    /// Changes a request to the one that a redirect requires (Fetch, "HTTP-redirect fetch").
    ///
    /// - Throws: `http.body_used`.
    static func apply(_ status: Int, to target: WebURL, _ hop: inout Hop) throws(BridgeError) {
        let isSeeOther = status == 303 && !["GET", "HEAD"].contains(hop.method)
        if isSeeOther || (status == 301 || status == 302) && hop.method == "POST" {
            hop.method = "GET"
            hop.body?.stop()
            hop.body = nil
            hop.headers.removeAll { bodyFields.contains($0.name.lowercased()) }
        }
        if let body = hop.body, !body.rewind() { throw .bodyUsed }
        if hop.url.origin != target.origin { hop.headers.removeAll { isSecret($0.name) } }
        hop.url = target
    }

    /// Returns whether a field may hold a secret for one origin.
    static func isSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return secretWords.contains { name.contains($0) }
    }
}
