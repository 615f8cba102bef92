import HTTPRules
import TestSupport
import Testing

/// Fields of the maximum length of a message, as a hostile server may send them.
@Suite struct HostileServerTests {
    /// Values that repeat one or a few characters. A message is full if all fields in ``names`` have such a value.
    private static let values: [String] = [
        "a", " ", "\"", ",", ";", "=", "\\", "\u{E9}", "9", "*", "-", "\t", "\u{7F}", "a,", "a=\"", "\"\\", "a=b;",
        ";a",
        "W/\"a\",", "\"a\" ", "max-age=", "no-cache=\"a\",", ", ", " \t", "a, b ", "bytes=0-", "*,", "q=0.", "sha256-",
        "\u{FF}\",",
    ].map { String(repeating: $0, count: HeaderList.maximumBytes / names.count / $0.unicodeScalars.count) }

    /// The fields that the rules read.
    private static let names = [
        "Age", "Cache-Control", "Connection", "Content-Length", "Content-Range", "Date", "ETag", "Expires",
        "Last-Modified", "Vary", "Location", "Strict-Transport-Security", "Pragma", "If-None-Match",
        "If-Modified-Since", "If-Range", "Range", "Accept-Language", "Accept-Encoding",
    ]

    @Test("No rule traps on 64 KiB of any value, in a response or in a request")
    func longValues() {
        for value in Self.values {
            let list = HeaderList(Self.names.compactMap { HeaderField(name: $0, value: value) })
            let now = november1994.later(5)
            let request = get(list)
            let stored = stored(list, request: list)
            let decision = CacheDecision(for: request, stored: [stored], at: now)
            let loads: [CacheLoad] =
                switch decision.action {
                case .load(let load), .answerAndRevalidate(_, let load): [load]
                case .answer, .miss: []
                }
            for load in loads {
                for status in [200, 206, 304, 416, 503] {
                    _ = load.outcome(of: response(status, list, at: now), stored: [stored])
                }
            }
            _ = StoredAnswer(stored, to: request)?.fields(at: now)
            _ = (StrictTransport(list), try? IntegrityMetadata(value), HTTPDate.parse(value, now: now))
            _ = (SelectingFields(text: value), HeldBytes(text: value), HeaderList(bytes: list.bytes))
        }
    }

    @Test("No rule traps on the maximum number of fields of one name")
    func manyFields() {
        for name in Self.names {
            let list = HeaderList(
                (0..<HeaderList.maximumLines).compactMap { HeaderField(name: name, value: "\"\($0)\", a=\($0)") })
            let kept = (1...100).map { stored(id: $0, list, request: list) }
            let decision = CacheDecision(for: get(list), stored: kept, at: november1994)
            if case .load(let load) = decision.action {
                _ = load.outcome(of: response(304, list), stored: kept)
            }
            _ = StoredFields.storable(of: list)
        }
    }

    @Test("Random fields with random values never trap, and no response with no-store is stored")
    func random() {
        var generator = SeededGenerator(seed: 65_536)
        let good = [
            "max-age=5, stale-while-revalidate=9, no-store", "no-cache=\"a\", stale-if-error=7", "*",
            "a, Accept-Language",
            "Sun, 06 Nov 1994 08:49:37 GMT", "\"1\", W/\"2\"", "\"1\"", "bytes=0-5", "bytes 0-5/10", "10",
        ]
        var isStoredInSpite = false
        for _ in 0..<3_000 {
            func list() -> HeaderList {
                let count = Int.random(in: 0...8, using: &generator)
                return HeaderList(
                    (0..<count).compactMap { _ in
                        let value = generator.mutate(
                            Array((good.randomElement(using: &generator) ?? "").utf8), changes: 0...2)
                        let name = Self.names.randomElement(using: &generator) ?? ""
                        return HeaderField(name: name, value: FieldText.decode(value))
                    })
            }
            func time() -> UnixTime {
                let far: [Int64] = [.min, -1, 0, 784_111_777, 7_258_118_400, .max]
                return UnixTime(seconds: far.randomElement(using: &generator) ?? 0)
            }
            let policy = CachePolicy.allCases.randomElement(using: &generator) ?? .useProtocol
            let request = CacheRequest(
                method: Bool.random(using: &generator) ? "GET" : "HEAD", fields: list(), policy: policy)
            let kept = (1...3).map { stored(id: $0, list(), request: request.fields, at: time()) }
            let decision = CacheDecision(for: request, stored: kept, at: time())
            guard case .load(let load) = decision.action else { continue }
            let status = [200, 206, 304, 404, 416, 503].randomElement(using: &generator) ?? 200
            let answer = NetworkResponse(status: status, fields: list(), requestedAt: time(), receivedAt: time())
            let outcome = load.outcome(of: answer, stored: kept)
            if case .store = outcome, ResponseDirectives(answer.fields).isNoStore { isStoredInSpite = true }
            if case .freshened(let updated, _, let shown) = outcome {
                if updated.contains(where: \.directives.isNoStore) { isStoredInSpite = true }
                _ = shown.fields(at: time())
            }
            _ = load.answerAfterFailure(at: time())
        }
        #expect(!isStoredInSpite)
    }
}
