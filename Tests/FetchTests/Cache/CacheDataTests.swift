import HTTPRules
import TaskKit
import TaskKitTesting
import TestSupport
import Testing

@testable import FetchTasks

@Suite("Stored responses as website data", .timeLimit(.minutes(20)))
struct CacheDataTests {
    private static let uid: UInt32 = 1000

    /// Stores one response for each host.
    private static func fill(_ cache: HTTPCache, _ hosts: [String], _ clock: CacheClock) async throws {
        let fields = HeaderList()
        let selecting = try #require(SelectingFields(Vary(fields), request: HeaderList()))
        let held = try #require(HeldBytes(status: 200, fields: fields, receivedBytes: 1, isFinished: true))
        let now = clock.now
        let response = StoredResponse(
            id: 0, status: 200, fields: fields, selecting: selecting, requestedAt: now, receivedAt: now, body: held)
        let entry = CacheEntry(response: response, reason: "OK", version: "http/1.1", body: .bytes([1]))
        let partition = CachePartition(uid: uid, profile: "default", site: "local")
        let count = await cache.perform(of: uid, removes: false) { rows in
            for host in hosts {
                let url = try WebURL("https://\(host)/")
                _ = try rows.insert(entry, at: CacheAddress(partition, url, key: nil), url, hash: nil, now: now)
            }
            return hosts.count
        }
        #expect(count == hosts.count)
    }

    @Test("A removal by name or origin covers every origin, however many there are")
    func manyOrigins() async throws {
        let clock = CacheClock()
        let service = FetchService(now: { clock.now })
        let bridge = try await TestBridge.start(.fetch(service), daemonUID: Self.uid)
        let session = await bridge.session(uid: Self.uid)
        func remove(_ selection: JSONObject) async throws -> JSON? {
            var options = selection
            options["types"] = ["diskCache"]
            return try await session.call("data.remove", .object(options))["removed"]?["diskCache"]
        }
        let long = (0..<2_001).map { "host-number-\($0).a.example" }
        try await Self.fill(service.cache, long + ["b.example", "c.b.example", "d.example"], clock)
        #expect(try await remove(["names": ["b.example"]]) == 2)
        #expect(try await remove(["origins": ["https://d.example"]]) == 1)
        #expect(try await remove(["names": ["a.example"]]) == 2_001)
        await bridge.stop()
    }
}
