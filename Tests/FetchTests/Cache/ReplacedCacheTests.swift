import GRDB
import Glibc
import HTTPRules
import TestSupport
import Testing

@testable import FetchTasks

@Suite("A cache file that is damaged while it is open", .timeLimit(.minutes(20)))
struct ReplacedCacheTests {
    private static func address(_ url: String, uid: UInt32) throws -> CacheAddress {
        CacheAddress(CachePartition(uid: uid, profile: "default", site: "local"), try WebURL(url), key: nil)
    }

    private static func response(_ age: String, id: Int64 = 0) throws -> StoredResponse {
        var fields = HeaderList()
        _ = fields.append(name: "Cache-Control", value: "max-age=\(age)")
        let time = CacheClock().now
        let selecting = try #require(SelectingFields(Vary(fields), request: HeaderList()))
        let held = try #require(HeldBytes(status: 200, fields: fields, receivedBytes: 1, isFinished: true))
        return StoredResponse(
            id: id, status: 200, fields: fields, selecting: selecting, requestedAt: time, receivedAt: time, body: held)
    }

    private static func insert(_ cache: HTTPCache, _ url: String, uid: UInt32) async throws -> Int64 {
        let address = try address(url, uid: uid)
        let new = NewCacheEntry(
            address: address, url: try WebURL(url), response: try response("1"), reason: "OK", version: "http/1.1",
            body: .bytes([1]))
        #expect(await cache.insert(new))
        return try #require(await cache.entries(at: address).first?.response.id)
    }

    /// Replaces the file by another one, and fails as SQLite does when it notices this.
    private static func damage(_ path: String) throws {
        let other = open(path + ".other", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(other) }
        let bytes = [UInt8](repeating: 0x78, count: 4096)
        guard write(other, bytes, bytes.count) == bytes.count, rename(path + ".other", path) == 0 else {
            throw TestFailure("the file cannot be replaced")
        }
        // SQLite keeps the log of a file that was renamed.
        for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
        throw DatabaseError(resultCode: .SQLITE_CORRUPT)
    }

    @Test("The new file shares no entry and no number with the old one")
    func replaced() async throws {
        let folder = try TemporaryFolder()
        let cache = HTTPCache()
        let clock = CacheClock()
        await cache.open(directory: folder.path, settings: CacheSettings(), now: { clock.now }) { _ in }
        let old = try Self.address("https://a.example/", uid: 1000)
        let id = try await Self.insert(cache, "https://a.example/", uid: 1000)
        let path = folder.file("fetch.sqlite")
        #expect(await cache.perform(of: 0, removes: false) { _ in try Self.damage(path) } == nil)
        #expect(exists(path + ".damaged"))
        #expect(await cache.entries(at: old).isEmpty)
        let other = try await Self.insert(cache, "https://b.example/", uid: 1001)
        #expect(other != id)
        // The server's confirmation of the old entry arrives late.
        cache.note(confirmed: [try Self.response("9", id: id)], remove: [id], at: old)
        let new = try Self.address("https://b.example/", uid: 1001)
        let rows = await cache.perform(of: 1001, removes: false) { try $0.entries(at: new) }
        #expect(rows?.map { $0.response.fields.first(named: "Cache-Control") } == ["max-age=1"])
        await cache.close()
    }

    @Test("A file that cannot be opened again at once is opened later")
    func openedLater() throws {
        let stage = try StoreUnderTest()
        try stage.insert("https://a.example/", [1])
        let path = stage.folder.file("fetch.sqlite")
        // The damaged file cannot be renamed to this.
        let obstacle = path + ".damaged"
        #expect(mkdir(obstacle, 0o700) == 0)
        let result: Void? = stage.store.perform { _ in try Self.damage(path) }
        #expect(result == nil)
        #expect(try stage.insert("https://a.example/", [1]) == nil)
        #expect(rmdir(obstacle) == 0)
        #expect(try stage.insert("https://a.example/", [1]) == nil, "it is not tried with every request")
        stage.clock.advance(CacheStore.quiet)
        #expect(try stage.insert("https://a.example/", [1]) != nil)
        #expect(try stage.bodies("https://a.example/") == [[1]])
    }
}
