import HTTPRules
import TaskKit

/// A form in which cookies are kept in files.
enum CookieFormat: String, Codable, CaseIterable, Sendable {
    /// Lines of seven columns, as curl and wget have them.
    case netscape
    /// Cookies with all that is known of them.
    case json
}

/// `cookies.import`
struct ImportTask: CookieTask {
    static let name = "cookies.import"
    static let summary = "Sets the cookies of a file, and tells which of them are refused."
    static let settings = TaskSettings(isPrivate: true, optionBytes: ApplyTask.optionBytes)

    /// The most cookies of a call, so that no call holds up others for long; a longer file goes in parts.
    static let maximumCookies = 500

    struct Request: Decodable, Sendable {
        var profile: String?
        var format: CookieFormat
        var text: String?
        var cookies: [CookieText]?
    }

    let service: CookieService

    /// The cookies of a call, and what is wrong with others, by line or index.
    private struct Content {
        var cookies: [(place: Int, cookie: Cookie)] = []
        var refused: [(place: Int, reason: String)] = []
    }

    func perform(
        _ request: Request, _ visitor: CookieVisitor, _ engine: inout CookieEngine
    ) throws(BridgeError) -> CookieOutcome {
        let profile = try visitor.profile(named: request.profile)
        var content = try Self.content(of: request, engine)
        guard content.cookies.count <= Self.maximumCookies else {
            throw .unfit(
                "$", expected: "at most \(Self.maximumCookies) cookies: send the file in parts",
                got: "\(content.cookies.count) of them")
        }
        let (taken, refused) = try engine.store.write(profile) { jar, now in
            var taken = 0
            var refused: [(place: Int, reason: String)] = []
            for (place, cookie) in content.cookies {
                do throws(CookieRefusal) {
                    try jar.set(cookie, at: now)
                    taken += 1
                } catch {
                    refused.append((place, error.reason.name))
                }
            }
            return (taken, refused)
        }
        content.refused += refused
        let version = try engine.store.read(profile) { jar, _ in jar.version }
        let place = request.format == .netscape ? "line" : "index"
        let problems = content.refused.sorted { $0.place < $1.place }.map { problem -> JSON in
            [place: .number(JSONNumber(problem.place)), "reason": .string(problem.reason)]
        }
        return CookieOutcome(
            [
                "version": .number(JSONNumber(version)), "imported": .number(JSONNumber(taken)),
                "refused": .array(problems),
            ], of: profile)
    }

    private static func content(of request: Request, _ engine: CookieEngine) throws(BridgeError) -> Content {
        switch (request.format, request.text, request.cookies) {
        case (.netscape, let text?, nil): return lines(of: text, engine)
        case (.json, nil, let texts?):
            var content = Content()
            for (index, text) in texts.enumerated() {
                content.cookies.append((index, try text.cookie(at: "$.cookies[\(index)]", now: engine.store.now)))
            }
            return content
        default: throw .unfit("$", expected: "text of netscape, or cookies of json", got: "something else")
        }
    }

    private static func lines(of text: String, _ engine: CookieEngine) -> Content {
        var content = Content()
        guard let file = NetscapeCookieFile.read(Array(text.utf8), suffixes: engine.suffixes, at: engine.store.now)
        else { return content }
        // The place of a cookie is of no use: what the reader takes, the jar takes.
        content.cookies = file.cookies.map { (0, $0) }
        content.refused = file.problems.map { line, problem in
            switch problem {
            case .columns: (line, "columns")
            case .refused(let refusal): (line, refusal.reason.name)
            case .expired: (line, "expired")
            case .tooMany: (line, "too_many")
            }
        }
        return content
    }
}

/// `cookies.export`
struct ExportTask: CookieTask {
    static let name = "cookies.export"
    static let summary = "Answers the cookies of a profile as a file, HttpOnly ones included."
    static let settings = TaskSettings(permission: CookieService.secrets, isPrivate: true)

    struct Request: Decodable, Sendable {
        var profile: String?
        var format: CookieFormat
        var domain: String?
        var sameSite: Bool?
        var after: UInt64?
    }

    let service: CookieService

    func perform(
        _ request: Request, _ visitor: CookieVisitor, _ engine: inout CookieEngine
    ) throws(BridgeError) -> CookieOutcome {
        let profile = try visitor.profile(named: request.profile)
        let host: Host? = if let domain = request.domain { try KeyText.host(domain, at: "$.domain") } else { nil }
        let (stored, version, hasMore) = try engine.store.read(profile) { jar, now in
            CookiePages.cookies(jar, after: request.after ?? 0, at: now) { cookie in
                host.map { CookieMatch.domainMatches(cookie.host, $0) } ?? true
            }
        }
        var answer: JSONObject = ["version": .number(JSONNumber(version))]
        switch request.format {
        case .json:
            answer["cookies"] = .array(stored.map { $0.cookie.json(showsSecrets: true) })
        case .netscape:
            let file = NetscapeCookieFile.write(stored.map(\.cookie), withSameSite: request.sameSite ?? false)
            let (member, text) = ByteText.member("text", file.bytes)
            answer[member] = text
            answer["skipped"] = .array(file.skipped.map(\.json))
        }
        if hasMore { answer["more"] = true }
        return CookieOutcome(.object(answer), of: profile)
    }
}

extension ImportTask {
    static var optionsSchema: JSON? {
        Schemas.options(
            [
                "format": Schemas.format, "text": Schemas.text("of netscape: the file"),
                "cookies": Schemas.array(Schemas.newCookie),
            ], required: ["format"])
    }
    static var resultSchema: JSON? {
        let refusal = Schemas.result(
            ["line": Schemas.count, "index": Schemas.count, "reason": ["type": "string"]], optional: ["line", "index"])
        return Schemas.result([
            "version": Schemas.version, "imported": Schemas.count, "refused": Schemas.array(refusal),
        ])
    }
}

extension ExportTask {
    static var optionsSchema: JSON? {
        Schemas.options(
            [
                "format": Schemas.format, "domain": Schemas.domain,
                "sameSite": Schemas.flag(
                    "of netscape: whether an eighth column has SameSite, which curl does not read"),
                "after": Schemas.version,
            ], required: ["format"])
    }
    static var resultSchema: JSON? {
        Schemas.result(
            [
                "version": Schemas.version, "cookies": Schemas.array(Schemas.cookie), "text": ["type": "string"],
                "textBase64": ["type": "string"], "skipped": Schemas.array(Schemas.key),
                "more": Schemas.flag("others follow"),
            ], optional: ["cookies", "text", "textBase64", "skipped", "more"])
    }
}

extension Schemas {
    static let format: JSON = ["type": "string", "enum": ["netscape", "json"]]
}
