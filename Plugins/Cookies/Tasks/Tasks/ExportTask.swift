import HTTPRules
import TaskKit

/// `cookies.export`
struct ExportTask: CookieTask {
    static let name = "cookies.export"
    static let summary = "Returns the cookies of a profile as a file, HttpOnly ones included."
    static let settings = TaskSettings(permission: CookieService.secrets, isPrivate: true)

    struct Request: Decodable, Sendable {
        var profile: String?
        var format: CookieFormat
        var domain: String?
        var sameSite: Bool?
        var after: UInt64?
        var stream: Bool?
    }

    let service: CookieService

    func perform(
        _ request: Request, _ visitor: CookieVisitor, _ engine: inout CookieEngine
    ) throws(BridgeError) -> CookieOutcome {
        let profile = try visitor.profile(named: request.profile)
        let selection = try CookieSelection(domain: request.domain)
        let withSameSite = request.sameSite ?? false
        guard request.stream ?? false || request.format != .webkit else {
            throw .unfit("$.stream", expected: "true, with the format webkit", got: "nothing")
        }
        if request.stream ?? false {
            let export = StreamedExport(
                lane: service.lane, profile: profile, selection: selection, format: request.format,
                withSameSite: withSameSite
            )
            return CookieOutcome(of: profile) { call throws(BridgeError) in
                ["stream": .string(try await export.stream(for: call).name)]
            }
        }
        let (stored, version, hasMore) = try engine.store.read(profile) { jar, now in
            CookiePages.cookies(jar, after: request.after ?? 0, at: now, where: selection.contains)
        }
        var answer: JSONObject = ["version": .number(JSONNumber(version))]
        switch request.format {
        case .json:
            answer["cookies"] = .array(stored.map { $0.cookie.json(showsSecrets: true) })
        case .netscape, .webkit:
            let file = NetscapeCookieFile.write(stored.map(\.cookie), withSameSite: withSameSite)
            let (member, text) = ByteText.member("text", file.bytes)
            answer[member] = text
            answer["skipped"] = .array(file.skipped.map(\.json))
        }
        if hasMore { answer["more"] = true }
        return CookieOutcome(.object(answer), of: profile)
    }

    static var optionsSchema: JSON? {
        Schemas.options(
            [
                "format": Schemas.format, "domain": Schemas.domain,
                "sameSite": Schemas.flag(
                    "of netscape: whether an eighth column has SameSite, which curl does not read"),
                "after": Schemas.version, "stream": Schemas.flag("whether the answer is a stream of all of them"),
            ], required: ["format"])
    }
    static var resultSchema: JSON? {
        Schemas.result(
            [
                "version": Schemas.version, "cookies": Schemas.array(Schemas.cookie), "text": ["type": "string"],
                "textBase64": ["type": "string"], "skipped": Schemas.array(Schemas.key),
                "more": Schemas.flag("others follow"), "stream": ["type": "string", "format": "trestle-stream"],
            ], optional: ["version", "cookies", "text", "textBase64", "skipped", "more", "stream"])
    }
}

extension Schemas {
    static let format: JSON = ["type": "string", "enum": .array(CookieFormat.allCases.map { .string($0.rawValue) })]
}

/// An export that is sent as a stream, page by page, each in its user's turn.
struct StreamedExport: Sendable {
    let lane: CookieLane
    let profile: ProfileID
    let selection: CookieSelection
    let format: CookieFormat
    let withSameSite: Bool

    /// A page of cookies, and the version after which the next page begins; `nil` for the last page.
    private struct Page: Sendable {
        var cookies: [Cookie]
        var next: UInt64?
    }

    private static let types: [CookieFormat: String] = [
        .json: "application/jsonl", .netscape: "text/plain", .webkit: "application/vnd.sqlite3",
    ]

    func stream(for call: Call) async throws(BridgeError) -> ByteStream {
        try await call.makeStream(type: Self.types[format]) { [self] out in
            if format == .netscape { try await out.write(NetscapeCookieFile.heading) }
            var ofDatabase: [Cookie] = []
            var after: UInt64? = 0
            while let start = after {
                let page = try await page(after: start, call)
                let lines = lines(of: page.cookies)
                if !lines.isEmpty { try await out.write(lines) }
                if format == .webkit { ofDatabase += page.cookies }
                after = page.next
            }
            guard format == .webkit else { return }
            let cookies = ofDatabase
            try await out.write(try await call.blocking { try WebKitDatabase.write(cookies) })
        }
    }

    private func page(after: UInt64, _ call: Call) async throws(BridgeError) -> Page {
        try await lane.step(of: call, outlivesCall: true) { [self] engine throws(BridgeError) in
            let (stored, version, hasMore) = try engine.store.read(profile) { jar, now in
                CookiePages.cookies(jar, after: after, at: now, where: selection.contains)
            }
            return (Page(cookies: stored.map(\.cookie), next: hasMore ? version : nil), profile)
        }
    }

    private func lines(of cookies: [Cookie]) -> [UInt8] {
        switch format {
        case .webkit: return []
        case .json:
            return cookies.reduce(into: []) { lines, cookie in
                cookie.json(showsSecrets: true).write(to: &lines)
                lines.append(UInt8(ascii: "\n"))
            }
        case .netscape:
            let file = NetscapeCookieFile.write(cookies, withSameSite: withSameSite, withHeading: false)
            // A comment lists each cookie that the file omits.
            return file.bytes + file.skipped.flatMap { Array("# left out: \($0.json.text)\n".utf8) }
        }
    }
}
