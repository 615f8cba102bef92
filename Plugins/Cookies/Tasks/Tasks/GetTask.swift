import HTTPRules
import TaskKit

/// `cookies.get`
struct GetTask: CookieTask {
    static let name = "cookies.get"
    static let summary = "Returns cookies: all of a profile, or those of a URL, a domain or a name."
    static let settings = TaskSettings(isPublic: true, isPrivate: true)
    static let isForPages = true
    static let asksForSecrets = true

    struct Request: Decodable, Sendable {
        var profile: String?
        var url: String?
        var domain: String?
        var name: String?
        var after: UInt64?
    }

    let service: CookieService

    func perform(
        _ request: Request, _ visitor: CookieVisitor, _ engine: inout CookieEngine
    ) throws(BridgeError) -> CookieOutcome {
        let profile = try visitor.profile(named: request.profile)
        if let url = request.url {
            let context = try visitor.context(of: url, engine)
            let selection = try CookieSelection(domain: nil, name: request.name)
            let cookies = try engine.store.cookies(of: profile, for: context).filter(selection.contains)
            let version = try engine.store.read(profile) { jar, _ in jar.version }
            return CookieOutcome(
                [
                    "version": .number(JSONNumber(version)),
                    "cookies": .array(cookies.map { $0.json(showsSecrets: visitor.view.showsSecrets) }),
                ], of: profile)
        }
        let selection = try CookieSelection(domain: request.domain, name: request.name)
        let page = try engine.store.read(profile) { jar, now in
            CookiePages.snapshot(
                jar, after: request.after ?? 0, for: visitor.view, at: now, where: selection.contains)
        }
        var answer: JSONObject = ["version": .number(JSONNumber(page.version)), "cookies": .array(page.items)]
        if page.hasMore { answer["more"] = true }
        return CookieOutcome(.object(answer), of: profile)
    }
}
