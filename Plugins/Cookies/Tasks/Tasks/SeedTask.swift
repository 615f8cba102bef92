import HTTPRules
import TaskKit

/// `cookies.seed`
struct SeedTask: CookieTask {
    static let name = "cookies.seed"
    static let summary = "Sets cookies of several domains at a time, under a name by which they can be removed."
    static let settings = TaskSettings(isPrivate: true)

    /// The maximum number of cookies in a call.
    static let maximumCookies = 200
    /// The maximum number of seeds of a profile.
    static let maximumSeeds = 64
    /// The maximum length of a seed's name in bytes.
    static let maximumNameBytes = 64

    struct Request: Decodable, Sendable {
        struct Pair: Decodable, Sendable {
            var name: String
            var value: String
        }
        struct Attributes: Decodable, Sendable {
            var path: String?
            var hostOnly: Bool?
            var maxAge: Int64?
            var secure: Bool?
            var httpOnly: Bool?
            var sameSite: SameSiteText?
            var persist: Bool?
            var pin: Bool?
        }
        var profile: String?
        var seed: String
        var domains: [String]
        var cookies: [Pair]
        var attributes: Attributes?
        var once: Bool?
    }

    let service: CookieService

    func perform(
        _ request: Request, _ visitor: CookieVisitor, _ engine: inout CookieEngine
    ) throws(BridgeError) -> CookieOutcome {
        let profile = try visitor.profile(named: request.profile)
        try Self.check(request)
        let seeds = try engine.store.seeds(of: profile)
        guard seeds[request.seed] != nil || seeds.count < Self.maximumSeeds else {
            throw .overQuota(
                "cookie_seeds", Self.maximumSeeds, of: "a profile", "\(Self.maximumSeeds) seeds: remove one first")
        }
        let sown = seeds[request.seed] ?? []
        let cookies = try Self.cookies(of: request, at: engine.store.now)
        let wanted = request.once == true ? cookies.filter { !sown.contains($0.key) } : cookies
        // A seed that is set again keeps the keys of its earlier cookies, so that they are removed with it.
        let keys = sown.union(wanted.map(\.key))
        guard keys.count <= Self.maximumCookies * 5 else {
            throw .overQuota(
                "cookie_seeds", Self.maximumCookies * 5, of: "a seed",
                "\(Self.maximumCookies * 5) cookies: remove it first")
        }
        try engine.store.write(profile) { jar, now throws(BridgeError) in
            for cookie in wanted { try jar.put(cookie, at: now) }
        }
        if keys != sown { engine.store.setSeed(request.seed, keys, of: profile) }
        let version = try engine.store.read(profile) { jar, _ in jar.version }
        return CookieOutcome(
            [
                "version": .number(JSONNumber(version)), "set": .number(JSONNumber(wanted.count)),
                "skipped": .number(JSONNumber(cookies.count - wanted.count)),
            ], of: profile)
    }

    private static func check(_ request: Request) throws(BridgeError) {
        guard (1...maximumNameBytes).contains(request.seed.utf8.count) else {
            throw .unfit(
                "$.seed", expected: "1 to \(maximumNameBytes) bytes", got: "\(request.seed.utf8.count) bytes")
        }
        if let maxAge = request.attributes?.maxAge, !(1...CookieLifetime.maximumSeconds).contains(maxAge) {
            throw .unfit(
                "$.attributes.maxAge", expected: "1 to \(CookieLifetime.maximumSeconds)", got: "number \(maxAge)")
        }
        let (count, overflow) = request.domains.count.multipliedReportingOverflow(by: request.cookies.count)
        guard !overflow, (1...maximumCookies).contains(count) else {
            throw .unfit("$", expected: "1 to \(maximumCookies) cookies, of all domains together", got: "\(count)")
        }
    }

    private static func cookies(of request: Request, at now: UnixTime) throws(BridgeError) -> [Cookie] {
        let attributes = request.attributes
        var cookies: [Cookie] = []
        for (index, domain) in request.domains.enumerated() {
            for pair in request.cookies {
                let text = CookieText(
                    name: pair.name, value: pair.value, host: domain, hostOnly: attributes?.hostOnly ?? false,
                    path: attributes?.path,
                    expires: attributes?.maxAge.map { now.seconds + $0 },
                    secure: attributes?.secure, httpOnly: attributes?.httpOnly, sameSite: attributes?.sameSite,
                    persist: attributes?.persist, pin: attributes?.pin)
                cookies.append(try text.cookie(at: "$.domains[\(index)]", now: now))
            }
        }
        return cookies
    }
}

extension SeedTask {
    static var optionsSchema: JSON? {
        let pair = Schemas.object(
            ["name": ["type": "string"], "value": ["type": "string"]], required: ["name", "value"])
        let attributes = Schemas.object(
            [
                "path": Schemas.text("/ by default"),
                "hostOnly": Schemas.flag("whether they go to the domains alone; false by default"),
                "maxAge": [
                    "type": "integer", "minimum": 1, "maximum": .number(JSONNumber(CookieLifetime.maximumSeconds)),
                    "description": "seconds; cookies of the session by default",
                ],
                "secure": Schemas.flag("only over secure connections"), "httpOnly": Schemas.flag("not seen by scripts"),
                "sameSite": ["type": "string", "enum": ["unset", "none", "lax", "strict"]],
                "persist": Schemas.flag("whether they outlive the session"),
                "pin": Schemas.flag("whether no container may remove them"),
            ], required: [])
        return Schemas.options(
            [
                "seed": Schemas.text("the name under which cookies.delete removes them"),
                "domains": Schemas.array(["type": "string"]), "cookies": Schemas.array(pair), "attributes": attributes,
                "once": Schemas.flag(
                    "whether to skip the cookies that the seed has set before, even if they were removed"),
            ], required: ["seed", "domains", "cookies"])
    }
    static var resultSchema: JSON? {
        Schemas.result(["version": Schemas.version, "set": Schemas.count, "skipped": Schemas.count])
    }
}
