import HTTPRules
import TaskKit

/// `cookies.watch`
struct WatchTask: CookieTask {
    static let name = "cookies.watch"
    static let summary = "Sends this session the changes of a profile as the event cookies.changed, or stops doing so."
    static let settings = TaskSettings(isPublic: true, isPrivate: true)
    static let isForPages = true
    static let asksForSecrets = true

    struct Request: Decodable, Sendable {
        var profile: String?
        var since: UInt64?
        var stop: Bool?
    }

    let service: CookieService

    func perform(
        _ request: Request, _ visitor: CookieVisitor, _ engine: inout CookieEngine
    ) throws(BridgeError) -> CookieOutcome {
        let profile = try visitor.profile(named: request.profile)
        let session = visitor.caller.session
        if request.stop == true {
            guard request.since == nil else {
                throw .unfit("$.since", expected: "nothing, together with stop", got: "a number")
            }
            engine.listeners.remove(session, profile)
            return try .version(of: profile, &engine)
        }
        let page = try engine.store.read(profile) { jar, now throws(BridgeError) in
            try CookiePages.changes(jar, since: request.since ?? jar.version, for: visitor.view, at: now)
        }
        let listener = Listener(
            session: session, uid: visitor.caller.uid, profile: profile, view: visitor.view, from: page.version)
        if !page.hasMore { try engine.listeners.reserve(listener) }
        var answer: JSONObject = ["version": .number(JSONNumber(page.version))]
        if request.since != nil { answer["changes"] = .array(page.items) }
        if page.hasMore { answer["more"] = true }
        return CookieOutcome(.object(answer), of: profile, begins: page.hasMore ? nil : listener)
    }
}
