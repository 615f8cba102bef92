import HTTPRules
import TaskKit

/// `cookies.set`
struct SetTask: CookieTask {
    static let name = "cookies.set"
    static let summary = "Sets a cookie, by a Set-Cookie line for a URL or by its parts, and returns when it is stored."
    static let settings = TaskSettings(isPublic: true, isPrivate: true)
    static let isForPages = true

    struct Request: Decodable, Sendable {
        var profile: String?
        var url: String?
        var line: String?
        var cookie: CookieText?
        var persist: Bool?
        var pin: Bool?
    }

    let service: CookieService

    func perform(
        _ request: Request, _ visitor: CookieVisitor, _ engine: inout CookieEngine
    ) throws(BridgeError) -> CookieOutcome {
        let profile = try visitor.profile(named: request.profile)
        if request.cookie != nil { try visitor.requireLocal("set a cookie by its parts: it uses a line") }
        if request.persist != nil || request.pin != nil { try visitor.requireLocal("persist or pin a cookie") }
        switch (request.line, request.cookie) {
        case (let line?, nil):
            let context = try visitor.context(of: request.url, engine)
            try engine.store.write(profile) { jar, now throws(BridgeError) in
                try Self.put(line, context, request, &jar, now)
            }
        case (nil, let text?):
            guard request.url == nil else { throw .unfit("$.url", expected: "nothing beside cookie", got: "a string") }
            try engine.store.write(profile) { jar, now throws(BridgeError) in
                var cookie = try text.cookie(at: "$.cookie", now: now)
                cookie.persist = request.persist ?? cookie.persist
                cookie.pin = request.pin ?? cookie.pin
                try jar.put(cookie, at: now)
            }
        default:
            throw .unfit("$", expected: "line or cookie", got: request.line == nil ? "neither" : "both")
        }
        return try .version(of: profile, &engine)
    }

    private static func put(
        _ line: String, _ context: CookieContext, _ request: Request, _ jar: inout CookieJar, _ now: UnixTime
    ) throws(BridgeError) {
        for outcome in jar.put([Array(line.utf8)], in: context, at: now) {
            guard case .success(var cookie) = outcome else {
                if case .failure(let refusal) = outcome { throw .refused(refusal) }
                continue
            }
            guard request.persist != nil || request.pin != nil, !cookie.isExpired(at: now) else { continue }
            cookie.persist = request.persist ?? cookie.persist
            cookie.pin = request.pin ?? cookie.pin
            try jar.put(cookie, at: now)
        }
    }
}

extension CookieJar {
    /// Sets a cookie from its parts.
    ///
    /// - Throws: `cookie.refused`.
    mutating func put(_ cookie: Cookie, at now: UnixTime) throws(BridgeError) {
        do throws(CookieRefusal) {
            try set(cookie, at: now)
        } catch {
            throw .refused(error)
        }
    }
}

extension CookieOutcome {
    /// Returns the version of a profile as an outcome.
    static func version(of profile: ProfileID, _ engine: inout CookieEngine) throws(BridgeError) -> CookieOutcome {
        let version = try engine.store.read(profile) { jar, _ in jar.version }
        return CookieOutcome(["version": .number(JSONNumber(version))], of: profile)
    }
}
