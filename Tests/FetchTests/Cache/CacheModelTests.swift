import HTTPRules
import TestSupport
import Testing

@testable import FetchTasks

/// A minimal model of the store: an array of entries.
private struct NaiveCache {
    struct Entry {
        var uid: UInt32
        var site: String
        var url: String
        var language: String?
        var body: [UInt8]
        var bytes: Int64
        var used: Int64
        var number: Int
    }

    var settings: CacheSettings
    var entries: [Entry] = []
    private var last = 0

    init(_ settings: CacheSettings) { self.settings = settings }

    mutating func insert(_ entry: Entry) {
        entries.removeAll { $0.isAt(entry.uid, entry.site, entry.url) && $0.language == entry.language }
        last += 1
        var entry = entry
        entry.number = last
        entries.append(entry)
        evict()
    }

    mutating func evict() {
        for entry in entries { shrink(settings.originBytes) { $0.isOfOrigin(of: entry) } }
        for uid in Set(entries.map(\.uid)) { shrink(settings.userBytes) { $0.uid == uid } }
        while entries.reduce(0, { $0 + $1.bytes }) > settings.bytes {
            let totals = Dictionary(grouping: entries, by: \.uid).mapValues { $0.reduce(0) { $0 + $1.bytes } }
            guard let most = totals.max(by: { $0.value < $1.value }) else { return }
            removeOldest { $0.uid == most.key }
        }
    }

    private mutating func shrink(_ limit: Int64, _ isMeant: (Entry) -> Bool) {
        while entries.filter(isMeant).reduce(0, { $0 + $1.bytes }) > limit { removeOldest(isMeant) }
    }

    private mutating func removeOldest(_ isMeant: (Entry) -> Bool) {
        let oldest = entries.indices.filter { isMeant(entries[$0]) }
            .min { (entries[$0].used, entries[$0].number) < (entries[$1].used, entries[$1].number) }
        if let oldest { entries.remove(at: oldest) }
    }

    func bodies(_ uid: UInt32, _ site: String, _ url: String) -> Set<[UInt8]> {
        Set(entries.filter { $0.isAt(uid, site, url) }.map(\.body))
    }
}

extension NaiveCache.Entry {
    fileprivate func isAt(_ uid: UInt32, _ site: String, _ url: String) -> Bool {
        self.uid == uid && self.site == site && self.url == url
    }

    fileprivate func isOfOrigin(of other: Self) -> Bool {
        func host(_ url: String) -> Substring? { url.split(separator: "/").dropFirst().first }
        return uid == other.uid && site == other.site && host(url) == host(other.url)
    }
}

@Suite("The response store and a model", .timeLimit(.minutes(20)))
struct CacheModelTests {
    private static let uids: [UInt32] = [1000, 1001]
    private static let sites = ["local", "https://page.example"]
    private static let urls = ["https://a.example/1", "https://a.example/2", "https://b.example/1"]
    private static let languages = [nil, "de", "en"]

    @Test(
        "agree over hundreds of operations, including reopening the store", arguments: 0..<4 as Range<UInt64>
    )
    func agreement(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var settings = CacheSettings()
        settings.originBytes = 150_000
        settings.userBytes = 250_000
        settings.bytes = 400_000
        var naive = NaiveCache(settings)
        var stage = try StoreUnderTest(settings)
        for step in 0..<200 {
            stage.clock.advance(1)
            let (uid, site) = (Self.uids.randomElement(using: &random)!, Self.sites.randomElement(using: &random)!)
            let url = Self.urls.randomElement(using: &random)!
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<12:
                let language = Self.languages.randomElement(using: &random)!
                let limit = [10, 5000, 60_000].randomElement(using: &random)!
                let count = Int.random(in: 0...limit, using: &random)
                let body = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ step) }
                let stored = try stage.insert(url, body, uid: uid, site: site, language: language)
                let bytes = try #require(stored).storedBytes(of: url)
                naive.insert(
                    .init(
                        uid: uid, site: site, url: url, language: language, body: body, bytes: bytes,
                        used: stage.clock.now.seconds, number: 0))
            case 12..<15:
                let address = try stage.address(url, uid: uid, site: site)
                stage.store.remove(at: address)
                naive.entries.removeAll { $0.isAt(uid, site, url) }
            case 15..<17:
                let address = try stage.address(url, uid: uid, site: site)
                guard let entry = stage.store.entries(at: address).first else { break }
                stage.store.remove(ids: [entry.response.id])
                let language = entry.response.selecting.text.split(separator: "+").last.map { String($0.dropLast()) }
                naive.entries.removeAll { $0.isAt(uid, site, url) && $0.language == language }
            default:
                // After a normal close, or without one.
                if Bool.random(using: &random) { stage.store.close() }
                stage = try stage.again(settings)
            }
            for uid in Self.uids {
                for site in Self.sites {
                    for url in Self.urls {
                        let bodies = try Set(stage.bodies(url, uid: uid, site: site))
                        #expect(bodies == naive.bodies(uid, site, url), "step \(step), \(uid) \(site) \(url)")
                    }
                }
            }
            let usage = stage.store.perform { try $0.usage(of: nil) }
            #expect(usage?.bytes == naive.entries.reduce(0) { $0 + $1.bytes } && usage?.count == naive.entries.count)
        }
    }
}
