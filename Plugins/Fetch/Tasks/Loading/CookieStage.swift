import HTTPRules
import TaskKit

/// The cookies that a fetch sends and stores.
struct CookieUse: Sendable {
    enum Credentials: String, Codable, Sendable, CaseIterable {
        /// No cookies.
        case omit
        /// The cookies of the page's own site. For a local session: those of the first request's site.
        case sameSite = "same-site"
        /// All cookies that the cookie rules permit.
        case include
    }

    var credentials = Credentials.omit
    /// The user's cookie profile.
    var profile = ProfileName.standard
    /// The page's origin, or for a local session the origin of the first request; `nil` if the page has no web origin.
    var home: WebOrigin?
    /// Whether a page makes the request, not a program of the user.
    var isPage = false

    /// Returns the default for a fetch without cookie options.
    static func standard(_ url: WebURL, _ reach: Reach) -> CookieUse {
        CookieUse(
            credentials: reach.isPage ? .sameSite : .include, home: reach.isPage ? reach.pageOrigin : url.origin,
            isPage: reach.isPage)
    }

    /// Returns whether cookies are sent to a URL.
    func isMeant(for url: WebURL, _ reach: Reach) -> Bool {
        // A page without a web origin has no cookies.
        guard let home else { return false }
        return switch credentials {
        case .omit: false
        case .include: true
        case .sameSite: reach.isSameSite(home, url.origin)
        }
    }
}

/// Adds the cookies of the caller's user to a request, and stores those of its response. Each redirect requests cookies
/// again.
struct CookieStage: HopStage {
    let late: LateCookies
    let cookieless: CookielessHosts

    func load(_ hop: Hop, _ context: LoadContext, _ next: HopWay) async throws(BridgeError) -> HopResponse {
        guard let cookies = HopCookies(hop, context) else { return try await next.load(hop, context) }
        let caller = context.call.caller
        for options in late.take(of: caller) where await !HopCookies.put(options, context.call) {
            late.add(options, of: caller)
        }
        var hop = hop
        if let header = try await header(cookies), !hop.headers.append(name: "Cookie", value: header) {
            throw BridgeError(.internal, "the cookies for \(hop.url.host) are not a header field")
        }
        let response = try await next.load(hop, context)
        let clears = response.mayClearSiteData(hop) && ClearSiteData(response.head.headers).clearsCookies
        if let options = await cookies.put(response.head.headers, clears: clears) { late.add(options, of: caller) }
        return response
    }

    /// Returns the value of the field `Cookie`; `nil` if there are no cookies for this request.
    private func header(_ cookies: HopCookies) async throws(BridgeError) -> String? {
        guard let place = cookies.place else { return try await cookies.take().header }
        let mark = cookieless.mark
        if cookieless.contains(place, at: mark) { return nil }
        let (header, isCookieless) = try await cookies.take()
        if isCookieless { cookieless.note(place, at: mark) }
        return header
    }
}

/// The cookies of one hop. The plugin Cookies stores them; without it there are none.
struct HopCookies: Sendable {
    /// The maximum number of `Set-Cookie` fields that are read from a response: the limit of `cookies.put`.
    static let maximumLines = 200

    private let call: Call
    private let url: WebURL
    private let method: String
    private let use: CookieUse

    /// Creates the cookies of a hop; `nil` if none are sent or stored.
    init?(_ hop: Hop, _ context: LoadContext) {
        (call, url, method, use) = (context.call, hop.url, hop.method, context.request.cookies)
        // A caller that sets the field itself uses its own cookies.
        guard use.isMeant(for: url, context.reach), !hop.headers.contains(named: "Cookie") else { return nil }
    }

    /// The key in ``CookielessHosts``; `nil` for a private profile, for which each request must call Cookies. A private
    /// profile ends with the last session that has requested its cookies.
    var place: CookielessHosts.Place? {
        guard !use.profile.isPrivate else { return nil }
        return .init(uid: call.caller.uid, profile: use.profile.text, host: url.host.text)
    }

    /// The request as the options of `cookies.take`.
    private var request: JSON {
        var request: JSONObject = [
            "url": .string(url.text), "method": .string(method), "profile": .string(use.profile.text),
        ]
        if use.isPage { request["site"] = use.home.map { .string($0.text) } }
        return .object(request)
    }

    /// Calls Cookies.
    ///
    /// - Returns: The value of the field `Cookie`, or `nil` if there are no cookies for this request. Also whether
    ///   there are no cookies for its host at all.
    /// - Throws: The error of `cookies.take`, because a request without its cookies would be a different request.
    func take() async throws(BridgeError) -> (header: String?, isCookieless: Bool) {
        let answer: JSON
        do throws(BridgeError) { answer = try await call.call("cookies.take", request) } catch {
            if error.code == .taskNotFound { return (nil, false) }
            throw error
        }
        var bytes = answer["header"]?.stringValue.map { Array($0.utf8) }
        if let text = answer["headerBase64"]?.stringValue {
            bytes = Array(text.utf8).withUnsafeBytes { Base64Coding.decode($0) }
        }
        guard let bytes, !bytes.isEmpty else { return (nil, answer["cookieless"] == true) }
        return (FieldText.decode(bytes), false)
    }

    /// Stores the cookies of a response. A failure is only logged, because the response has already arrived.
    ///
    /// - Parameters:
    ///   - headers: The fields of the response.
    ///   - clears: Whether the cookies of its site are removed first.
    /// - Returns: The options to store with a later call, because this one has ended; `nil` if nothing is left to
    ///   store.
    @discardableResult
    func put(_ headers: HeaderList, clears: Bool = false) async -> JSON? {
        let lines = headers.values(named: "Set-Cookie").prefix(Self.maximumLines).compactMap { FieldText.encode($0) }
        guard !lines.isEmpty || clears else { return nil }
        var options: JSONObject = ["request": request]
        if clears { options["clear"] = true }
        let texts = lines.compactMap { String(validating: $0, as: UTF8.self) }
        if texts.count == lines.count {
            options["lines"] = .array(texts.map { .string($0) })
        } else {
            options["linesBase64"] = .array(lines.map { .string(JSON.base64($0)) })
        }
        return await Self.put(.object(options), call) ? nil : .object(options)
    }

    /// Calls `cookies.put` on behalf of a call.
    ///
    /// - Returns: False if that call has ended.
    static func put(_ options: JSON, _ call: Call) async -> Bool {
        do throws(BridgeError) {
            let _: JSON = try await call.call("cookies.put", options)
        } catch {
            if error.code == .callCancelled { return false }
            guard error.code != .taskNotFound else { return true }
            call.log.warning("cookies of a response are not stored: \(error.code)")
        }
        return true
    }
}
