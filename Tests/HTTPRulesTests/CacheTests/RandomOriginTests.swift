import HTTPRules
import TestSupport
import Testing

/// A server whose resource changes at random, that sends other caching directives each time, and whose connections
/// fail. Each response names its version, so that its bytes can be compared with the content of that version.
private final class RandomOrigin: CacheTestOrigin {
    var now = november1994
    var generator: SeededGenerator
    private var version = 0

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    static func content(_ version: Int, _ variant: String) -> [UInt8] {
        let seed = version * 31 + (variant == "1" ? 7 : 0)
        return (0..<(24 + version % 3)).map { UInt8(truncatingIfNeeded: seed + $0 * 11) }
    }

    private func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

    private let controls = [
        "max-age=4", "max-age=2, must-revalidate", "no-cache", "max-age=1, stale-while-revalidate=3", "no-store",
        "max-age=1, stale-if-error=5", "max-age=3, immutable",
    ]

    func answer(method: String, url: String, fields: HeaderList) throws -> CacheTestAnswer? {
        if chance(25) { version += 1 }
        if chance(8) { return nil }
        if chance(8) { return CacheTestAnswer(status: 503, fields: HeaderList(), body: []) }
        let variant = fields.first(named: "A") ?? ""
        var list = HeaderList()
        // Each version has one kind of tag: strong, weak or none.
        let name = "\"\(version).\(variant)\""
        let tag = EntityTag([name, "W/\(name)", ""][version % 5 == 4 ? 2 : version % 5 / 3])
        if let tag { try list.put("ETag", tag.text) }
        try list.put("X-Version", "\(version)")
        try list.put("X-Variant", variant)
        try list.put("Vary", "A")
        if let control = controls.randomElement(using: &generator) { try list.put("Cache-Control", control) }
        if let tag, EntityTagList(named: "If-None-Match", in: fields)?.contains(tag) == true {
            return CacheTestAnswer(status: 304, fields: list, body: [])
        }
        return try body(method, fields, Self.content(version, variant), tag, list)
    }

    private func body(
        _ method: String, _ request: HeaderList, _ content: [UInt8], _ tag: EntityTag?, _ fields: HeaderList
    ) throws -> CacheTestAnswer {
        var fields = fields
        let length = Int64(content.count)
        let condition = request.first(named: "If-Range").flatMap { EntityTag($0) }
        let isMet = condition.map { condition in tag.map { $0.isStronglyEqual(to: condition) } ?? false } ?? true
        var answer = CacheTestAnswer(status: 200, fields: fields, body: content)
        if method == "GET", isMet, let asked = request.first(named: "Range").flatMap({ ByteRange($0) }) {
            guard let range = asked.resolved(length: length) else {
                try fields.put("Content-Range", ContentRange(range: nil, length: length).text)
                return CacheTestAnswer(status: 416, fields: fields, body: [])
            }
            try fields.put("Content-Range", ContentRange(range: range, length: chance(80) ? length : nil).text)
            answer = CacheTestAnswer(
                status: 206, fields: fields, body: Array(content[Int(range.lowerBound)..<Int(range.upperBound)]))
        }
        try answer.fields.put("Content-Length", "\(answer.body.count)")
        if method == "HEAD" { answer.body = [] }
        guard method == "GET", chance(30) else { return answer }
        answer.isCut = true
        answer.body = Array(answer.body.prefix(Int.random(in: 0..<answer.body.count, using: &generator)))
        return answer
    }
}

@Suite struct RandomOriginTests {
    @Test("Every response has the bytes of the version that it names, after any storing, joining and revalidating")
    func bytes() throws {
        var kinds: [String: Int] = [:]
        for seed in 0..<UInt64(150) {
            let origin = RandomOrigin(seed: seed)
            let loader = CacheTestLoader(origin)
            var lastTag = "\"0\""
            for _ in 0..<60 {
                let request = try Self.request(lastTag, &origin.generator)
                origin.now.seconds += Int64.random(in: 0...2, using: &origin.generator)
                guard let result = try? loader.load("/", request) else { continue }
                lastTag = result.fields.first(named: "ETag") ?? lastTag
                kinds["\(request.method) \(result.status)", default: 0] += 1
                if let fault = Self.fault(result, request) {
                    Issue.record("seed \(seed): \(fault) in \(result) to \(request)")
                    return
                }
            }
        }
        for kind in ["GET 200", "GET 206", "GET 304", "GET 416", "GET 504", "HEAD 200"] {
            #expect((kinds[kind] ?? 0) > 50, "\(kind) is hardly tried: \(kinds)")
        }
    }

    private static func request(_ tag: String, _ generator: inout SeededGenerator) throws -> CacheRequest {
        var fields = HeaderList()
        func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }
        if chance(50) { try fields.put("A", "1") }
        if chance(40) {
            let first = Int64.random(in: 0..<26, using: &generator)
            let last = Int64.random(in: first...30, using: &generator)
            let ranges = [ByteRange.bounds(first: first, last: last), .bounds(first: first, last: nil), .suffix(first)]
            try fields.put("Range", (ranges.randomElement(using: &generator) ?? .suffix(1)).text)
        }
        if chance(10) { try fields.put("If-None-Match", tag) }
        if chance(10) { try fields.put("If-Range", tag) }
        let controls = ["max-age=1", "max-stale=2", "min-fresh=1", "no-cache", "only-if-cached", "stale-if-error=9"]
        if chance(20) { try fields.put("Cache-Control", controls.randomElement(using: &generator) ?? "") }
        let policy = chance(60) ? .useProtocol : CachePolicy.allCases.randomElement(using: &generator) ?? .useProtocol
        return CacheRequest(method: chance(10) ? "HEAD" : "GET", fields: fields, policy: policy)
    }

    /// Returns the error in a result; `nil` if the result is correct.
    private static func fault(_ result: CacheTestLoader.Result, _ request: CacheRequest) -> String? {
        if result.status == 304, !request.fields.contains(named: "If-None-Match") { return "304 unasked" }
        if result.status == 416, !request.fields.contains(named: "Range") { return "416 unasked" }
        guard result.status == 200 || result.status == 206, request.method == "GET" else {
            return result.body.isEmpty ? nil : "a body"
        }
        guard let version = result.fields.first(named: "X-Version").flatMap({ Int($0) }),
            let variant = result.fields.first(named: "X-Variant")
        else { return "no version" }
        if variant != request.fields.first(named: "A") ?? "" { return "another variant" }
        let content = RandomOrigin.content(version, variant)
        if result.status == 200 { return result.body == content ? nil : "other bytes than \(content)" }
        guard let place = ContentRange(result.fields), let range = place.range else { return "no place" }
        if request.fields.values(named: "Range").isEmpty { return "a piece of what was not asked for in pieces" }
        if let length = place.length, length != Int64(content.count) { return "another length" }
        let piece = content[Int(range.lowerBound)..<Int(range.upperBound)]
        return Array(piece) == result.body ? nil : "other bytes than \(Array(piece)) of \(content)"
    }
}
