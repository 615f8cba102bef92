import HTTPRules
import Testing

@testable import FetchTasks

@Suite("The memory tier of the cache")
struct MemoryTierTests {
    private func entry(_ id: Int64, age: String) throws -> CacheEntry {
        var fields = HeaderList()
        _ = fields.append(name: "Cache-Control", value: "max-age=\(age)")
        let time = UnixTime(seconds: 0)
        let selecting = try #require(SelectingFields(Vary(fields), request: HeaderList()))
        let response = StoredResponse(
            id: id, status: 200, fields: fields, selecting: selecting,
            requestedAt: time, receivedAt: time, body: .nothing)
        return CacheEntry(response: response, reason: "OK", version: "http/1.1", body: .bytes([1, 2, 3]))
    }

    private func address(_ url: String) throws -> CacheAddress {
        CacheAddress(CachePartition(uid: 1, profile: "default", site: "local"), try WebURL(url), key: nil)
    }

    @Test("A change of headers or a removal is visible before the store has written it")
    func update() throws {
        let tier = MemoryTier()
        tier.limit(to: 1 << 20)
        let place = try address("https://a.example/")
        try tier.put([entry(1, age: "1"), entry(2, age: "1"), entry(3, age: "1")], at: place)
        try tier.update([entry(1, age: "9").response], remove: [2], at: place)
        let found = try #require(tier.entries(at: place))
        #expect(found.map(\.response.id) == [1, 3])
        #expect(found.map { $0.response.fields.first(named: "Cache-Control") } == ["max-age=9", "max-age=1"])
        #expect(found.map(\.body) == [.bytes([1, 2, 3]), .bytes([1, 2, 3])])
    }

    @Test("A change does not bring back removed entries")
    func removed() throws {
        let tier = MemoryTier()
        tier.limit(to: 1 << 20)
        let place = try address("https://a.example/")
        try tier.update([entry(1, age: "9").response], remove: [], at: place)
        #expect(tier.entries(at: place) == nil)
        try tier.put([entry(1, age: "1")], at: place)
        tier.removeAll(of: 1)
        try tier.update([entry(1, age: "9").response], remove: [], at: place)
        #expect(tier.entries(at: place) == nil)
        #expect(tier.byteCount == 0)
    }
}
