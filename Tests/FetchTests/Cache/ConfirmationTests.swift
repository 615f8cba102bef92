import HTTPRules
import TestSupport
import Testing

@testable import FetchTasks

@Suite("Responses confirmed by the server", .timeLimit(.minutes(20)))
struct ConfirmationTests {
    private static let place = CachePartition(uid: 1000, profile: "default", site: "local")

    private let folder: TemporaryFolder
    private let address: CacheAddress
    private let url: WebURL

    init() throws {
        folder = try TemporaryFolder()
        url = try WebURL("https://a.example/")
        address = CacheAddress(Self.place, url, key: nil)
    }

    private static func response(_ age: String, id: Int64 = 0) throws -> StoredResponse {
        var fields = HeaderList()
        _ = fields.append(name: "Cache-Control", value: "max-age=\(age)")
        let time = UnixTime(seconds: 1_772_323_456)
        let selecting = try #require(SelectingFields(Vary(fields), request: HeaderList()))
        let held = try #require(HeldBytes(status: 200, fields: fields, receivedBytes: 1, isFinished: true))
        return StoredResponse(
            id: id, status: 200, fields: fields, selecting: selecting, requestedAt: time, receivedAt: time, body: held)
    }

    private func open(memoryBytes: Int64 = 1 << 20) async -> HTTPCache {
        let cache = HTTPCache()
        var settings = CacheSettings()
        settings.memoryBytes = memoryBytes
        await cache.open(directory: folder.path, settings: settings, now: { UnixTime(seconds: 1_772_323_456) }) {
            Issue.record("\($0)")
        }
        return cache
    }

    /// Stores a response and confirms it with other headers.
    private func confirm(in cache: HTTPCache) async throws {
        let new = NewCacheEntry(
            address: address, url: url, response: try Self.response("1"), reason: "OK", version: "http/1.1",
            body: .bytes([1]))
        #expect(await cache.insert(new))
        let entry = try #require(await cache.entries(at: address).first)
        cache.note(confirmed: [try Self.response("9", id: entry.response.id)], remove: [], at: address)
    }

    private static func ages(_ entries: [CacheEntry]?) -> [String?] {
        entries?.map { $0.response.fields.first(named: "Cache-Control") } ?? []
    }

    @Test("are found at once, in memory or not", arguments: [1 << 20, 0])
    func found(memoryBytes: Int64) async throws {
        let cache = await open(memoryBytes: memoryBytes)
        try await confirm(in: cache)
        #expect(Self.ages(await cache.entries(at: address)) == ["max-age=9"])
        await cache.close()
    }

    @Test("are written before the next operation of the store")
    func written() async throws {
        let cache = await open()
        try await confirm(in: cache)
        let address = address
        let rows = await cache.perform(of: 1000, removes: false) { rows in try rows.entries(at: address) }
        #expect(Self.ages(rows) == ["max-age=9"])
        await cache.close()
    }

    @Test("are written by the close")
    func closed() async throws {
        let cache = await open()
        try await confirm(in: cache)
        await cache.close()
        let next = await open()
        #expect(Self.ages(await next.entries(at: address)) == ["max-age=9"])
        await next.close()
    }

    @Test("are removed at once when requested")
    func removed() async throws {
        let cache = await open()
        try await confirm(in: cache)
        let id = try #require(await cache.entries(at: address).first?.response.id)
        cache.note(confirmed: [], remove: [id], at: address)
        #expect(await cache.entries(at: address).isEmpty)
        await cache.close()
    }

    @Test("replace older ones of the same entry, and are due for writing at 64")
    func bounded() throws {
        let confirmations = Confirmations()
        for id in 1...63 { #expect(!confirmations.add([try Self.response("1", id: Int64(id))])) }
        #expect(!confirmations.add([try Self.response("9", id: 1)]))
        #expect(confirmations.of([1, 99]).map { $0.fields.first(named: "Cache-Control") } == ["max-age=9"])
        #expect(confirmations.add([try Self.response("1", id: 64)]))
        #expect(confirmations.takeAll().count == 64)
        #expect(confirmations.takeAll().isEmpty)
    }
}
