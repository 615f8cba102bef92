import HTTPRules
import TaskKit

/// `cookies.delete`
struct DeleteTask: CookieTask {
    static let name = "cookies.delete"
    static let summary = "Removes cookies: one by its key, or those of a URL or a domain."
    static let settings = TaskSettings(isPublic: true, isPrivate: true)
    static let isForPages = true

    struct Request: Decodable, Sendable {
        var profile: String?
        var key: KeyText?
        var url: String?
        var domain: String?
        var name: String?
        var all: Bool?
        var seed: String?
    }

    let service: CookieService

    func perform(
        _ request: Request, _ visitor: CookieVisitor, _ engine: inout CookieEngine
    ) throws(BridgeError) -> CookieOutcome {
        let profile = try visitor.profile(named: request.profile)
        if let seed = request.seed { return try Self.remove(seed, request, visitor, profile, &engine) }
        let isSelected = try Self.filter(of: request, visitor, engine)
        let count = try engine.store.write(profile) { jar, now throws(BridgeError) in
            let keys = jar.all.map(\.cookie).filter { isSelected($0, now) }.map(\.key)
            guard !keys.isEmpty else { throw BridgeError(.cookieNotFound, "there is no such cookie") }
            for key in keys { jar.delete(key) }
            return keys.count
        }
        let version = try engine.store.read(profile) { jar, _ in jar.version }
        return CookieOutcome(
            ["version": .number(JSONNumber(version)), "removed": .number(JSONNumber(count))], of: profile)
    }

    /// Removes the cookies that a seed has set, and the seed.
    private static func remove(
        _ seed: String, _ request: Request, _ visitor: CookieVisitor, _ profile: ProfileID, _ engine: inout CookieEngine
    ) throws(BridgeError) -> CookieOutcome {
        try visitor.requireLocal("remove a seed")
        let others = [request.key != nil, request.url != nil, request.domain != nil, request.name != nil]
        guard !others.contains(true), request.all == nil else {
            throw .unfit("$.seed", expected: "nothing beside seed", got: "other options")
        }
        guard let keys = try engine.store.seeds(of: profile)[seed] else {
            throw BridgeError(.cookieNotFound, "there is no such seed")
        }
        let count = try engine.store.write(profile) { jar, _ in keys.count { jar.delete($0) } }
        engine.store.setSeed(seed, [], of: profile)
        let version = try engine.store.read(profile) { jar, _ in jar.version }
        return CookieOutcome(
            ["version": .number(JSONNumber(version)), "removed": .number(JSONNumber(count))], of: profile)
    }

    /// Returns a filter for the selected cookies among those that are visible to the caller.
    private static func filter(
        of request: Request, _ visitor: CookieVisitor, _ engine: CookieEngine
    ) throws(BridgeError) -> (Cookie, UnixTime) -> Bool {
        let ways = [request.key != nil, request.url != nil, request.domain != nil, request.all == true]
        guard ways.count(where: { $0 }) == 1 else {
            throw .unfit("$", expected: "one of key, url, domain and all", got: "\(ways.count(where: { $0 })) of them")
        }
        let view = visitor.view
        let selection = try CookieSelection(domain: request.domain, name: request.name)
        if let text = request.key {
            let key = try text.key(at: "$.key")
            return { cookie, now in cookie.key == key && view.shows(cookie, at: now) }
        }
        guard let url = request.url else {
            return { cookie, now in selection.contains(cookie) && view.shows(cookie, at: now) }
        }
        let scope = CookieScope(try visitor.context(of: url, engine), suffixes: engine.suffixes)
        return { cookie, now in selection.contains(cookie) && CookieMatch.goes(cookie, to: scope, at: now) }
    }
}
