import HTTPRules
import TaskKit

// The cookies of requests: cookies.header and .script for programs, .take and .put for the plugin that makes requests.

/// `cookies.header`
struct HeaderTask: CookieTask {
    static let name = "cookies.header"
    static let summary = "Returns the header Cookie for a request, HttpOnly cookies included."
    static let settings = TaskSettings(permission: CookieService.secrets, isPrivate: true)

    struct Request: Decodable, Sendable {
        var profile: String?
        var url: String
        var method: String?
        var site: String?
        var navigation: Bool?
    }

    let service: CookieService

    func perform(
        _ request: Request, _ visitor: CookieVisitor, _ engine: inout CookieEngine
    ) throws(BridgeError) -> CookieOutcome {
        let profile = try visitor.profile(named: request.profile)
        let context = try RequestContext(
            url: request.url, method: request.method, site: request.site, navigation: request.navigation
        ).context(engine)
        let cookies = try engine.store.cookies(of: profile, for: context)
        var answer = JSONObject()
        let (member, text) = ByteText.member("header", CookieMatch.header(cookies))
        answer[member] = text
        answer["names"] = .array(
            cookies.map { cookie in
                let (_, name) = ByteText.member("name", cookie.name)
                return name
            })
        return CookieOutcome(.object(answer), of: profile)
    }
}

/// `cookies.script`
struct ScriptTask: CookieTask {
    static let name = "cookies.script"
    static let summary = "Returns a script for the start of a page, which sets the cookies that the page lacks."

    static let settings = TaskSettings(isPrivate: true)

    struct Request: Decodable, Sendable {
        var profile: String?
        var url: String
    }

    let service: CookieService

    func perform(
        _ request: Request, _ visitor: CookieVisitor, _ engine: inout CookieEngine
    ) throws(BridgeError) -> CookieOutcome {
        let profile = try visitor.profile(named: request.profile)
        let context = try visitor.context(of: request.url, engine)
        let script = CookieScript(
            host: context.url.host, cookies: try engine.store.cookies(of: profile, for: context))
        return CookieOutcome(
            ["script": .string(script.text), "skipped": .array(script.skipped.map(\.json))], of: profile)
    }
}

/// `cookies.take`
struct TakeTask: CookieTask {
    static let name = "cookies.take"
    static let summary = "Returns the header Cookie to the plugin that makes a request for its caller."
    static let settings = TaskSettings(permission: CookieService.requests, isPrivate: true)
    static let isForPages = true

    typealias Request = RequestContext

    let service: CookieService

    func perform(
        _ request: Request, _ visitor: CookieVisitor, _ engine: inout CookieEngine
    ) throws(BridgeError) -> CookieOutcome {
        let profile = try ProfileID(uid: visitor.caller.uid, naming: request.profile)
        let context = try request.context(engine)
        let cookies = try engine.store.cookies(of: profile, for: context)
        var answer = JSONObject()
        let (member, text) = ByteText.member("header", CookieMatch.header(cookies))
        answer[member] = text
        // A private profile's changes do not change the mark, so that callers could not know how long this is valid.
        if cookies.isEmpty, !profile.isPrivate {
            let isCookieless = try !engine.store.hasCookies(profile, near: context.url.host)
            if isCookieless { answer["cookieless"] = true }
        }
        return CookieOutcome(.object(answer), of: profile)
    }
}

/// `cookies.put`
struct PutTask: CookieTask {
    static let name = "cookies.put"
    static let summary =
        "Stores the Set-Cookie lines of a response, for a plugin that made the request for its caller."
    static let settings = TaskSettings(
        permission: CookieService.requests, isPrivate: true, optionBytes: ApplyTask.optionBytes)
    static let isForPages = true

    /// The maximum number of lines of a response. Browsers accept as many.
    static let maximumLines = 200

    struct Request: Decodable, Sendable {
        var request: RequestContext
        var lines: [String]?
        var linesBase64: [String]?
        /// Whether the cookies of the site are removed first.
        var clear: Bool?
    }

    let service: CookieService

    func perform(
        _ request: Request, _ visitor: CookieVisitor, _ engine: inout CookieEngine
    ) throws(BridgeError) -> CookieOutcome {
        let profile = try ProfileID(uid: visitor.caller.uid, naming: request.request.profile)
        let context = try request.request.context(engine)
        var lines = (request.lines ?? []).map { Array($0.utf8) }
        for text in request.linesBase64 ?? [] {
            lines.append(try ByteText.bytes("lines", nil, text, at: "$") ?? [])
        }
        guard lines.count <= Self.maximumLines else {
            throw .unfit("$.lines", expected: "at most \(Self.maximumLines) lines", got: "\(lines.count) of them")
        }
        let clears = request.clear ?? false
        let scope = CookieScope(context, suffixes: engine.suffixes)
        let outcomes = try engine.store.write(profile) { jar, now in
            if clears { jar.delete(where: scope.isOfSite) }
            return jar.put(lines, in: context, at: now)
        }
        let version = try engine.store.read(profile) { jar, _ in jar.version }
        let refused = outcomes.enumerated().compactMap { index, outcome -> JSON? in
            guard case .failure(let refusal) = outcome else { return nil }
            return ["line": .number(JSONNumber(index)), "reason": .string(refusal.reason.name)]
        }
        return CookieOutcome(
            ["version": .number(JSONNumber(version)), "refused": .array(refused)], of: profile)
    }
}

/// A request as the requesting plugin describes it.
struct RequestContext: Decodable, Sendable {
    var profile: String?
    var url: String
    var method: String?
    /// The site that causes the request; `opaque` for a page without a site; `nil` for the user.
    var site: String?
    /// The top-level site; `nil` for that of `site`, or of the URL.
    var topLevelSite: String?
    var navigation: Bool?

    /// Returns the context that determines the cookies of this request.
    ///
    /// - Throws: `options.invalid`.
    func context(_ engine: CookieEngine) throws(BridgeError) -> CookieContext {
        var context = CookieContext(url: try CookieVisitor.url(url))
        context.trustsLoopback = engine.store.settings.secureLocalhost
        context.method = method ?? "GET"
        context.isNavigation = navigation ?? false
        if site == "opaque" {
            context.initiator = .opaque
        } else if let site {
            let origin = try Self.origin(site, at: "$.site")
            context.initiator = .site(engine.suffixes.site(of: origin))
            context.topLevelSite = engine.suffixes.site(of: origin)
        }
        if let topLevelSite {
            context.topLevelSite = engine.suffixes.site(of: try Self.origin(topLevelSite, at: "$.topLevelSite"))
        }
        return context
    }

    private static func origin(_ text: String, at path: String) throws(BridgeError) -> WebOrigin {
        do throws(AddressRefusal) {
            return try WebOrigin(international: text)
        } catch {
            throw .unfit(path, expected: "an origin such as https://a.example", got: "an invalid string")
        }
    }
}

extension CookieScope {
    /// Returns whether a cookie belongs to the site: to its registrable domain or a name below it, in no partition or
    /// in this one (Clear Site Data, "clear cookies for origin").
    fileprivate func isOfSite(_ cookie: Cookie) -> Bool {
        guard cookie.partition.isEmpty || cookie.partition == partition else { return false }
        guard let registrableDomain else { return cookie.host == host }
        return CookieMatch.domainMatches(cookie.host, registrableDomain)
    }
}
