import DiskTestSupport
import GRDB
import Glibc
import HTTPRules
import TestSupport
import Testing

@testable import FetchTasks

@Suite("The response store", .timeLimit(.minutes(20)))
struct CacheStoreTests {
    private static let short = Array("short".utf8)
    private static let long = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

    @Test(
        "Stored responses survive a normal close and a crash", arguments: [true, false])
    func reopens(isClosed: Bool) throws {
        let first = try StoreUnderTest()
        try first.insert("https://a.example/short", Self.short)
        try first.insert("https://a.example/long", Self.long)
        if isClosed { first.store.close() }
        let next = try first.again()
        #expect(try next.bodies("https://a.example/short") == [Self.short])
        #expect(try next.bodies("https://a.example/long") == [Self.long])
        #expect(next.files.count == 1)
        let entry = try next.store.entries(at: next.address("https://a.example/long")).first
        #expect(entry?.reason == "OK" && entry?.version == "http/1.1")
        #expect(entry?.response.fields.first(named: "etag") == "\"1\"")
        #expect(next.logged == [])
    }

    @Test("Another user or another site does not find a stored response")
    func partitions() throws {
        let stage = try StoreUnderTest()
        let url = "https://a.example/"
        try stage.insert(url, Self.short)
        try stage.insert(url, Self.long, site: "https://page.example")
        #expect(try stage.bodies(url) == [Self.short])
        #expect(try stage.bodies(url, site: "https://page.example") == [Self.long])
        #expect(try stage.bodies(url, uid: 1001) == [])
        #expect(try stage.bodies(url, uid: 1001, site: "https://page.example") == [])
        #expect(try stage.bodies(url, site: "https://other.example") == [])
        #expect(try stage.bodies(url, site: "http://page.example") == [])
    }

    @Test("A site is a scheme and a registrable domain, and no origin maps to the site of local programs")
    func sites() throws {
        let suffixes = PublicSuffixList()
        func site(_ origin: String) -> String { CachePartition.site(of: origin, suffixes) }
        #expect(site("https://a.shop.example:8443") == "https://shop.example")
        #expect(site("https://shop.example") == "https://shop.example")
        #expect(site("http://shop.example") == "http://shop.example")
        #expect(site("https://a.co.uk") != site("https://b.co.uk"))
        #expect(site("app://notes") == "app://notes")
        #expect(site("local") == "local")
        #expect(site("https://local") != "local")
    }

    @Test("Variants are stored side by side, and a new response replaces only its own variant")
    func variants() throws {
        let stage = try StoreUnderTest()
        let url = "https://a.example/"
        try stage.insert(url, Array("de".utf8), language: "de")
        try stage.insert(url, Array("en".utf8), language: "en")
        try stage.insert(url, Self.long, language: "de")
        #expect(try Set(stage.bodies(url)) == [Array("en".utf8), Self.long])
        try stage.insert(url, Array("kurz".utf8), language: "de")
        #expect(try Set(stage.bodies(url)) == [Array("en".utf8), Array("kurz".utf8)])
        #expect(stage.files.isEmpty)
    }

    @Test("Bytes are appended to a body in a row or in a file, and stored bytes are not changed")
    func joining() throws {
        let stage = try StoreUnderTest()
        for (url, whole, cut) in [
            ("https://a.example/row", Array("0123456789".utf8), 4), ("https://a.example/grows", Self.long, 1000),
            ("https://a.example/file", Self.long, 50_000),
        ] {
            let entry = try #require(
                try stage.insert(url, Array(whole[..<cut]), isFinished: false, length: whole.count))
            // The first two bytes overlap stored bytes and differ from them: they must be ignored.
            let rest = [UInt8](repeating: 0, count: 2) + whole[cut...]
            let bytes: NewCacheEntry.Body
            if rest.count > CacheStore.rowBytes {
                let file = try stage.store.folder.create()
                try file.write(rest, at: Int64(cut - 2))
                bytes = .file(file, hash: [])
            } else {
                bytes = .bytes(rest)
            }
            stage.store.join(entry, Int64(cut - 2)..<Int64(whole.count), bytes)
            let joined = try #require(try stage.store.entries(at: stage.address(url)).first)
            #expect(joined.response.body.isComplete)
            #expect(try stage.bytes(of: joined) == whole)
        }
        #expect(stage.files.count == 2)
    }

    @Test("The least recently used responses of an origin, of a user, and of the store are evicted")
    func eviction() throws {
        var settings = CacheSettings()
        settings.originBytes = 6000
        settings.userBytes = 9000
        settings.bytes = 14_000
        let stage = try StoreUnderTest(settings)
        let body = [UInt8](repeating: 1, count: 2000)
        func count(_ uid: UInt32, _ host: String, _ names: ClosedRange<Int>) throws -> [Int] {
            try names.filter { try !stage.bodies("https://\(host)/\($0)", uid: uid).isEmpty }
        }
        for name in 1...3 {
            try stage.insert("https://a.example/\(name)", body)
            stage.clock.advance(1)
        }
        // Two fit into the limit of the origin.
        #expect(try count(1000, "a.example", 1...3) == [2, 3])
        for host in ["b.example", "c.example"] {
            try stage.insert("https://\(host)/1", body)
            stage.clock.advance(1)
        }
        // Three fit into the limit of the user.
        #expect(try count(1000, "a.example", 1...3) == [3])
        for name in 1...3 { try stage.insert("https://\(name).example/1", body, uid: 1001) }
        // Five fit into the limit of the store. The user with the most bytes loses entries.
        let usage = try #require(stage.store.perform { try $0.usage(of: nil) })
        #expect(usage.bytes <= 14_000 && usage.count == 5)
        #expect(stage.store.perform { try $0.usage(of: 1001).count } == 2 || usage.count == 5)
    }

    @Test("A recorded use protects an entry from eviction")
    func use() throws {
        var settings = CacheSettings()
        settings.originBytes = 6000
        let stage = try StoreUnderTest(settings)
        let body = [UInt8](repeating: 1, count: 2000)
        let first = try #require(try stage.insert("https://a.example/1", body))
        stage.clock.advance(1)
        try stage.insert("https://a.example/2", body)
        stage.clock.advance(CacheStore.tidying)
        stage.store.note(used: [first.response.id])
        try stage.insert("https://a.example/3", body)
        #expect(try !stage.bodies("https://a.example/1").isEmpty)
        #expect(try stage.bodies("https://a.example/2").isEmpty)
    }

    @Test("After a crash, files without entries and entries without complete files are removed")
    func recovery() throws {
        let first = try StoreUnderTest()
        try first.insert("https://a.example/kept", Self.long)
        let kept = first.files
        try first.insert("https://a.example/short", Self.long)
        let cut = try #require(first.files.keys.first { kept[$0] == nil })
        #expect(truncate("\(first.store.folder.path)/\(cut.prefix(2))/\(cut)", 1000) == 0)
        let orphan = try first.store.folder.create()
        try first.store.folder.adopt(orphan)
        let begun = try first.store.folder.create()
        #expect(first.files.count == 3)
        let next = try first.again()
        #expect(try next.bodies("https://a.example/kept") == [Self.long])
        #expect(try next.bodies("https://a.example/short") == [])
        #expect(next.files == kept)
        #expect(!exists("\(first.store.folder.path)/new/\(begun.name)"))
    }

    @Test("After a crash, a recent body with wrong bytes is removed, and older bodies are trusted")
    func doubt() throws {
        let first = try StoreUnderTest()
        try first.insert("https://a.example/old", Self.long)
        first.clock.advance(CacheRecovery.doubtful + 1)
        let old = first.files
        try first.insert("https://a.example/late", Self.long)
        try first.insert("https://a.example/good", Self.long)
        let late = try #require(try first.store.entries(at: first.address("https://a.example/late")).first)
        guard case .file(let name) = late.body else { throw TestFailure("the body is in no file") }
        let file = try #require(first.store.folder.open(name, toWrite: true))
        try file.write([1, 2, 3], at: 40_000)
        let next = try first.again()
        #expect(try next.bodies("https://a.example/late") == [])
        #expect(try next.bodies("https://a.example/good") == [Self.long])
        #expect(try next.bodies("https://a.example/old") == [Self.long])
        #expect(next.files.count == 2 && next.files[old.keys.first ?? ""] != nil)
    }

    @Test("A damaged database is renamed and logged, and its body files are removed")
    func damage() throws {
        let first = try StoreUnderTest()
        try first.insert("https://a.example/", Self.long)
        first.store.close()
        let path = first.folder.file("fetch.sqlite")
        try first.folder.write("this is no database, whatever its name says", to: "fetch.sqlite")
        let next = try first.again()
        #expect(next.logged.count == 1 && next.logged.first?.contains(path) == true)
        #expect(exists(path + ".damaged"))
        #expect(try next.bodies("https://a.example/") == [])
        #expect(next.files == [:])
        try next.insert("https://a.example/", Self.short)
        #expect(try next.bodies("https://a.example/") == [Self.short])
    }

    @Test("On a full disk nothing is stored and one line is logged; storing resumes when there is space")
    func full() throws {
        let folder = try TemporaryFolder()
        let disk = FaultyDisk(directory: folder.path)
        let stage = try StoreUnderTest(folder: folder)
        try stage.insert("https://a.example/before", Self.short)
        disk.set(.full, true)
        for number in 0..<3 {
            #expect(try stage.insert("https://a.example/\(number)", Self.long) == nil)
            #expect(try stage.insert("https://a.example/s\(number)", Self.short) == nil)
        }
        #expect(stage.logged == ["nothing is cached: the disk is full"])
        #expect(stage.files == [:])
        disk.set(.full, false)
        #expect(try stage.bodies("https://a.example/before") == [Self.short])
        try stage.insert("https://a.example/after", Self.long)
        #expect(try stage.bodies("https://a.example/after") == [Self.long])
    }

    @Test("Smaller limits take effect at once and when the store is opened")
    func limits() throws {
        let stage = try StoreUnderTest()
        for number in 0..<10 { try stage.insert("https://a.example/\(number)", Self.long) }
        var settings = CacheSettings()
        settings.userBytes = 550_000
        stage.store.configure(settings)
        #expect(stage.files.count == 5)
        stage.store.close()
        settings.originBytes = 250_000
        let next = try stage.again(settings)
        #expect(next.files.count == 2)
    }
}
