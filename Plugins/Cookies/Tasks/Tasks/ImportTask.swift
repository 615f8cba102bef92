import HTTPRules
import TaskKit

/// `cookies.import`
struct ImportTask: CookieTask {
    static let name = "cookies.import"
    static let summary = "Sets the cookies of a file, and returns which of them are refused."
    static let settings = TaskSettings(isPrivate: true, optionBytes: ApplyTask.optionBytes)

    /// The maximum number of cookies in the options, so that no call blocks others for long. A longer file is sent as a
    /// stream.
    static let maximumCookies = 500

    struct Request: Decodable, Sendable {
        var profile: String?
        var format: CookieFormat
        var text: String?
        var cookies: [CookieText]?
        var stream: String?
    }

    let service: CookieService

    func perform(
        _ request: Request, _ visitor: CookieVisitor, _ engine: inout CookieEngine
    ) throws(BridgeError) -> CookieOutcome {
        let profile = try visitor.profile(named: request.profile)
        if let stream = request.stream, request.text == nil, request.cookies == nil {
            let streamed = StreamedImport(lane: service.lane, profile: profile, format: request.format)
            return CookieOutcome(of: profile) { call throws(BridgeError) in
                try await streamed.run(call.readStream(stream), call)
            }
        }
        var outcome = ImportOutcome(places: request.format == .json ? .index : .line)
        let cookies = try Self.cookies(of: request, engine)
        guard cookies.entries.count <= Self.maximumCookies else {
            throw .unfit(
                "$", expected: "at most \(Self.maximumCookies) cookies: send more as a stream",
                got: "\(cookies.entries.count) of them")
        }
        try outcome.add(cookies, to: profile, &engine)
        return CookieOutcome(outcome.json, of: profile)
    }

    private static func cookies(
        of request: Request, _ engine: CookieEngine
    ) throws(BridgeError) -> ImportedCookies {
        let now = engine.store.now
        switch (request.format, request.text, request.cookies) {
        case (.netscape, let text?, nil), (.webkit, let text?, nil):
            return ImportedCookies(netscape: Array(text.utf8), engine.suffixes, at: now)
        case (.json, nil, let texts?): return try ImportedCookies(texts, at: now)
        default:
            throw .unfit(
                "$", expected: "text of netscape or webkit, cookies of json, or a stream", got: "something else")
        }
    }

    static var optionsSchema: JSON? {
        Schemas.options(
            [
                "format": Schemas.format, "text": Schemas.text("of netscape and webkit: the file"),
                "cookies": Schemas.array(Schemas.newCookie),
                "stream": [
                    "type": "string", "format": "trestle-stream", "description": "instead: the file as a stream",
                ],
            ], required: ["format"])
    }
    static var resultSchema: JSON? {
        let refusal = Schemas.result(
            [
                "line": Schemas.count, "index": Schemas.count, "row": Schemas.count, "reason": ["type": "string"],
            ], optional: ["line", "index", "row"])
        return Schemas.result([
            "version": Schemas.version, "imported": Schemas.count, "refused": Schemas.array(refusal),
        ])
    }
}

/// The outcome of an import so far.
struct ImportOutcome: Sendable {
    /// The kind of the places of problems.
    enum Places: String, Sendable {
        case line
        case index
        case row
    }

    let places: Places
    private(set) var imported = 0
    private(set) var version: UInt64 = 0
    private(set) var problems: [ImportedCookies.Problem] = []

    init(places: Places) { self.places = places }

    /// Sets cookies of a profile.
    mutating func add(
        _ cookies: ImportedCookies, to profile: ProfileID, _ engine: inout CookieEngine
    ) throws(BridgeError) {
        var cookies = cookies
        imported += try engine.store.write(profile) { jar, now in cookies.set(in: &jar, at: now) }
        version = try engine.store.read(profile) { jar, _ in jar.version }
        problems += cookies.problems
    }

    var json: JSON {
        let refused = problems.sorted { $0.place < $1.place }.map { problem -> JSON in
            [places.rawValue: .number(JSONNumber(problem.place)), "reason": .string(problem.reason)]
        }
        return [
            "version": .number(JSONNumber(version)), "imported": .number(JSONNumber(imported)),
            "refused": .array(refused),
        ]
    }
}
