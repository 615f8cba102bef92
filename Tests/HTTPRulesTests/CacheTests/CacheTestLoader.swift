import HTTPRules
import TestSupport

/// A response of the server.
struct CacheTestAnswer {
    var status: Int
    var fields: HeaderList
    var body: [UInt8]
    /// Whether the connection failed before the end of the body.
    var isCut = false
}

/// A server in memory with its own clock.
protocol CacheTestOrigin: AnyObject {
    /// The time.
    var now: UnixTime { get }

    /// Answers a request. Returns `nil` if it closes the connection instead.
    func answer(method: String, url: String, fields: HeaderList) throws -> CacheTestAnswer?
}

/// The smallest loader that follows the rules: a store in memory, one request at a time.
final class CacheTestLoader {
    /// The response that the caller receives.
    struct Result {
        var status: Int
        var fields: HeaderList
        var body: [UInt8]
    }

    /// The connection failed.
    struct Failure: Error {}

    private struct Row {
        var response: StoredResponse
        var bytes: [UInt8]
    }

    private let server: any CacheTestOrigin
    private var rows: [String: [Row]] = [:]
    private var lastID: Int64 = 0

    init(_ server: any CacheTestOrigin) { self.server = server }

    /// Answers a request.
    func load(_ url: String, _ request: CacheRequest) throws -> Result {
        let decision = CacheDecision(for: request, stored: stored(url), at: server.now)
        switch decision.action {
        case .answer(let answer): return result(answer, url)
        case .answerAndRevalidate(let answer, let load):
            let result = result(answer, url)
            _ = try? perform(load, url)
            return result
        case .load(let load): return try perform(load, url)
        case .miss: return Result(status: 504, fields: HeaderList(), body: [])
        }
    }

    private func stored(_ url: String) -> [StoredResponse] { (rows[url] ?? []).map(\.response) }

    private func result(_ answer: StoredAnswer, _ url: String) -> Result {
        let bytes = rows[url]?.first { $0.response.id == answer.stored.id }?.bytes ?? []
        let part = answer.bytes.map { Array(bytes[Int($0.lowerBound)..<Int($0.upperBound)]) } ?? []
        return Result(status: answer.status, fields: answer.fields(at: server.now), body: part)
    }

    private func perform(_ load: CacheLoad, _ url: String) throws -> Result {
        let requestedAt = server.now
        guard let answer = try server.answer(method: load.request.method, url: url, fields: load.fields) else {
            guard let stale = load.answerAfterFailure(at: server.now) else { throw Failure() }
            return result(stale, url)
        }
        let response = NetworkResponse(
            status: answer.status, fields: answer.fields, requestedAt: requestedAt, receivedAt: server.now)
        if let invalidation = Invalidation(method: load.request.method, response: response) {
            for place in [url] + invalidation.references { rows[place] = nil }
        }
        let isContentOfURL = answer.fields.first(named: "Content-Location") == url
        let outcome = load.outcome(of: response, stored: stored(url), isContentOfURL: isContentOfURL)
        let result = try follow(outcome, of: load.request, answer, url)
        if answer.isCut, !outcome.isFromStore { throw Failure() }
        return result
    }

    private func follow(
        _ outcome: CacheOutcome, of request: CacheRequest, _ answer: CacheTestAnswer, _ url: String
    ) throws -> Result {
        let passedOn = Result(status: answer.status, fields: answer.fields, body: answer.body)
        switch outcome {
        case .pass, .notModified: return passedOn
        case .store(var response):
            let held = HeldBytes(
                status: response.status, fields: response.fields, receivedBytes: Int64(answer.body.count),
                isFinished: !answer.isCut)
            guard let held else { return passedOn }
            response.body = held
            insert(response, answer.body, url)
            return passedOn
        case .passAndUpdate(let updated, let removed):
            update(updated, remove: removed, url)
            return passedOn
        case .freshened(let updated, let removed, let stored):
            let result = result(stored, url)
            update(updated, remove: removed, url)
            return result
        case .again(let load): return try perform(load, url)
        case .join(let updated, let range):
            let whole = join(updated, range, answer.body, url)
            return request.fields.contains(named: "Range") ? passedOn : whole ?? passedOn
        case .stale(let stored): return result(stored, url)
        }
    }

    private func insert(_ response: StoredResponse, _ body: [UInt8], _ url: String) {
        lastID += 1
        var response = response
        response.id = lastID
        let start = Int(response.body.pieces.first?.lowerBound ?? 0)
        rows[url, default: []].removeAll { $0.response.selecting == response.selecting }
        rows[url, default: []].append(Row(response: response, bytes: [UInt8](repeating: 0, count: start) + body))
    }

    private func update(_ responses: [StoredResponse], remove: [StoredResponse.ID], _ url: String) {
        rows[url]?.removeAll { remove.contains($0.response.id) }
        for index in (rows[url] ?? []).indices {
            guard let new = responses.first(where: { $0.id == rows[url]?[index].response.id }) else { continue }
            rows[url]?[index].response = new
        }
    }

    private func join(_ updated: StoredResponse, _ range: Range<Int64>, _ body: [UInt8], _ url: String) -> Result? {
        let place = range.lowerBound..<range.lowerBound + Int64(body.count)
        guard let index = rows[url]?.firstIndex(where: { $0.response.id == updated.id }),
            let held = updated.body.adding(place, length: nil), var bytes = rows[url]?[index].bytes
        else { return nil }
        bytes += [UInt8](repeating: 0, count: max(0, Int(place.upperBound) - bytes.count))
        bytes.replaceSubrange(Int(place.lowerBound)..<Int(place.upperBound), with: body)
        var response = updated
        response.body = held
        rows[url]?[index] = Row(response: response, bytes: bytes)
        return StoredAnswer(response, to: CacheRequest(fields: HeaderList()), isValidated: true).map { result($0, url) }
    }
}

extension CacheOutcome {
    /// Whether the answer comes from the store or from another request, so that a cut body does not matter.
    fileprivate var isFromStore: Bool {
        switch self {
        case .freshened, .stale, .again: true
        case .store, .pass, .passAndUpdate, .notModified, .join: false
        }
    }
}
