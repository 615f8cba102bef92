import HTTPRules
import Sodium
import Synchronization
import TestSupport

@testable import FetchTasks

/// A clock that a test advances.
final class CacheClock: Sendable {
    /// 1 March 2026, shortly after midnight.
    private let time = Mutex(UnixTime(seconds: 1_772_323_456))

    var now: UnixTime { time.withLock { $0 } }
    func advance(_ seconds: Int64) { time.withLock { $0.seconds += seconds } }
}

/// A store in its own folder, with the lines that it has logged.
final class StoreUnderTest {
    let folder: TemporaryFolder
    let clock: CacheClock
    var store: CacheStore

    init(_ settings: CacheSettings = CacheSettings(), folder: TemporaryFolder? = nil, clock: CacheClock = CacheClock())
        throws
    {
        let folder = try folder ?? TemporaryFolder()
        (self.folder, self.clock) = (folder, clock)
        let lines = Lines()
        self.lines = lines
        store = try CacheStore(directory: folder.path, settings: settings, now: { clock.now }) { lines.add($0) }
    }

    private let lines: Lines
    var logged: [String] { lines.all }

    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    /// Opens the store of the same folder again.
    func again(_ settings: CacheSettings = CacheSettings()) throws -> StoreUnderTest {
        try StoreUnderTest(settings, folder: folder, clock: clock)
    }

    /// The sizes of the body files, by name.
    var files: [String: Int64] { store.folder.all() }

    func address(_ url: String, uid: UInt32 = 1000, site: String = "local") throws -> CacheAddress {
        CacheAddress(CachePartition(uid: uid, profile: "default", site: site), try WebURL(url), key: nil)
    }

    /// Stores a response as the loader does.
    @discardableResult
    func insert(
        _ url: String, _ body: [UInt8], uid: UInt32 = 1000, site: String = "local", language: String? = nil,
        isFinished: Bool = true, length: Int? = nil
    ) throws -> CacheEntry? {
        var fields = HeaderList()
        _ = fields.append(name: "Cache-Control", value: "max-age=600")
        _ = fields.append(name: "ETag", value: "\"1\"")
        if let length { _ = fields.append(name: "Content-Length", value: "\(length)") }
        var request = HeaderList()
        if let language {
            _ = fields.append(name: "Vary", value: "Accept-Language")
            _ = request.append(name: "Accept-Language", value: language)
        }
        let held = HeldBytes(
            status: 200, fields: fields, receivedBytes: Int64(body.count), isFinished: isFinished)
        guard let selecting = SelectingFields(Vary(fields), request: request), let held else {
            throw TestFailure("no response")
        }
        let response = StoredResponse(
            id: 0, status: 200, fields: fields, selecting: selecting, requestedAt: clock.now, receivedAt: clock.now,
            body: held)
        return store.insert(
            NewCacheEntry(
                address: try address(url, uid: uid, site: site), url: try WebURL(url), response: response,
                reason: "OK", version: "http/1.1", body: try self.body(body)))
    }

    /// Returns a body as the store receives it: a long one in a file.
    func body(_ bytes: [UInt8]) throws -> NewCacheEntry.Body {
        guard bytes.count > CacheStore.rowBytes else { return .bytes(bytes) }
        let file = try store.folder.create()
        try file.write(bytes, at: 0)
        return .file(file, hash: BLAKE2b.hash(bytes))
    }

    /// Returns the stored bodies of a URL.
    func bodies(_ url: String, uid: UInt32 = 1000, site: String = "local") throws -> [[UInt8]] {
        try store.entries(at: address(url, uid: uid, site: site)).map { try bytes(of: $0) }
    }

    func bytes(of entry: CacheEntry) throws -> [UInt8] {
        switch entry.body {
        case .bytes(let bytes): return bytes
        case .file(let name):
            guard let file = store.folder.open(name) else { throw TestFailure("the file \(name) is gone") }
            return try file.read(Int(entry.response.body.pieces.last?.upperBound ?? 0), at: 0)
        }
    }
}
