import HTTPRules
import TaskKit

// cookies.attach, cookies.apply: for a container, whose jar is a copy of a profile. Both require the permission for the
// values of HttpOnly cookies.

/// `cookies.attach`
struct AttachTask: CookieTask {
    static let name = "cookies.attach"
    static let summary = "Returns a profile to a container, and then sends it the changes of others."
    static let settings = TaskSettings(permission: CookieService.secrets, isPrivate: true)

    struct Request: Decodable, Sendable {
        var profile: String?
        var replica: String
        var since: UInt64?
        var stop: Bool?
    }

    /// The maximum length of a container's name in bytes.
    static let maximumNameBytes = 64

    let service: CookieService

    func perform(
        _ request: Request, _ visitor: CookieVisitor, _ engine: inout CookieEngine
    ) throws(BridgeError) -> CookieOutcome {
        let profile = try visitor.profile(named: request.profile)
        guard (1...Self.maximumNameBytes).contains(request.replica.utf8.count) else {
            throw .unfit(
                "$.replica", expected: "1 to \(Self.maximumNameBytes) bytes", got: "\(request.replica.utf8.count) bytes"
            )
        }
        let session = visitor.caller.session
        if request.stop == true {
            engine.detach(session, from: profile)
            return try .version(of: profile, &engine)
        }
        let view = CookieView.local(showsSecrets: true)
        let since = request.since
        let page = try engine.store.read(profile) { jar, now throws(BridgeError) in
            if let since { return try CookiePages.changes(jar, since: since, for: view, at: now) }
            return CookiePages.snapshot(jar, after: 0, for: view, at: now)
        }
        var answer: JSONObject = ["version": .number(JSONNumber(page.version))]
        answer[since == nil ? "cookies" : "changes"] = .array(page.items)
        if page.hasMore {
            answer["more"] = true
            return CookieOutcome(.object(answer), of: profile)
        }
        let listener = Listener(
            session: session, uid: visitor.caller.uid, profile: profile, view: view, replica: request.replica,
            from: page.version)
        try engine.listeners.reserve(listener)
        engine.store.attend(profile, true)
        return CookieOutcome(.object(answer), of: profile, begins: listener)
    }
}

/// `cookies.apply`
struct ApplyTask: CookieTask {
    static let name = "cookies.apply"
    static let summary = "Applies the changes of a container's jar, except to cookies that were changed since."
    static let settings = TaskSettings(permission: CookieService.secrets, isPrivate: true, optionBytes: optionBytes)

    /// The maximum length of the options, enough for some hundred of the longest cookies.
    static let optionBytes = 1 << 20
    /// The maximum number of changes in a call, so that no call blocks others for long.
    static let maximumChanges = 200

    struct Request: Decodable, Sendable {
        struct Change: Decodable, Sendable {
            var change: Kind
            var cookie: CookieText?
            var key: KeyText?
            var base: UInt64?
        }
        enum Kind: String, Codable, CaseIterable, Sendable {
            case set
            case removed
        }
        var profile: String?
        var replica: String
        var changes: [Change]
    }

    let service: CookieService

    func perform(
        _ request: Request, _ visitor: CookieVisitor, _ engine: inout CookieEngine
    ) throws(BridgeError) -> CookieOutcome {
        let profile = try visitor.profile(named: request.profile)
        let session = visitor.caller.session
        guard engine.listeners.isAttached(session, as: request.replica, to: profile) else {
            throw BridgeError(.cookieNotAttached, "this session is not attached to the profile: call cookies.attach")
        }
        let changes = try Self.changes(of: request, at: engine.store.now)
        let written = Dictionary(changes.map { ($0.key, $0.cookie) }, uniquingKeysWith: { _, last in last })
        let refusals = try engine.store.write(profile, by: session, written) { jar, now in
            Applying.apply(changes, to: &jar, at: now)
        }
        let version = try engine.store.read(profile) { jar, _ in jar.version }
        return CookieOutcome(
            ["version": .number(JSONNumber(version)), "refused": .array(refusals.map(Self.json))], of: profile)
    }

    private static func changes(of request: Request, at now: UnixTime) throws(BridgeError) -> [ReplicaChange] {
        guard request.changes.count <= maximumChanges else {
            throw .unfit(
                "$.changes", expected: "at most \(maximumChanges) changes", got: "\(request.changes.count) of them")
        }
        var changes: [ReplicaChange] = []
        for (index, change) in request.changes.enumerated() {
            let path = "$.changes[\(index)]"
            switch (change.change, change.cookie, change.key) {
            case (.set, let text?, nil):
                let cookie = try text.cookie(at: "\(path).cookie", now: now)
                changes.append(ReplicaChange(key: cookie.key, cookie: cookie, base: change.base ?? 0))
            case (.removed, nil, let text?):
                changes.append(ReplicaChange(key: try text.key(at: "\(path).key"), base: change.base ?? 0))
            default:
                throw .unfit(path, expected: "set with cookie, or removed with key", got: "something else")
            }
        }
        return changes
    }

    private static func json(_ refusal: ReplicaRefusal) -> JSON {
        let current = refusal.current.map { $0.cookie.json(version: $0.version, showsSecrets: true) }
        return ["key": refusal.key.json, "reason": .string(refusal.reason), "current": current ?? .null]
    }
}

extension Listeners {
    /// Returns whether a session is attached to a profile under this name.
    func isAttached(_ session: SessionID, as replica: String, to profile: ProfileID) -> Bool {
        all(of: profile).contains { $0.session == session && $0.replica == replica }
    }
}

extension CookieEngine {
    /// Ends a container's attachment. After the last container of a profile, its session cookies end with a delay.
    mutating func detach(_ session: SessionID, from profile: ProfileID) {
        guard listeners.remove(session, profile, isReplica: true) else { return }
        if !listeners.hasReplica(profile) { linger(profile) }
    }
}
