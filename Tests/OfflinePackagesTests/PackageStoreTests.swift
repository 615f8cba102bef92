import Glibc
import TestSupport
import Testing

@testable import OfflinePackages

@Suite("Installed packages")
struct PackageStoreTests {
    private func store(_ folder: TemporaryFolder, _ limits: PackageLimits = PackageLimits()) throws -> PackageStore {
        try PackageStore(folder.file("store"), keys: [Fixture.key.publicKey], limits) { $0() }
    }

    /// Returns an archive of a version whose one file contains its number.
    private func archive(_ version: Int, id: String = "notes") throws -> [UInt8] {
        try Fixture.archive(
            try Fixture.folder(["index.html": "\(version)"], template: #"{"id": "\#(id)", "version": "\#(version)"}"#))
    }

    @discardableResult
    private func install(_ archive: [UInt8], into store: PackageStore) throws -> InstalledPackage {
        let installation = try store.install()
        for start in stride(from: 0, to: archive.count, by: 100) {
            try installation.take(Array(archive[start...].prefix(100)))
        }
        return try installation.finish()
    }

    private func text(_ package: InstalledPackage?) throws -> String {
        let package = try #require(package)
        let file = try #require(package.manifest.file(at: "index.html"))
        return String(decoding: try package.open(file).read(upTo: 100), as: UTF8.self)
    }

    /// Returns the number of versions on disk.
    private func folders(_ folder: TemporaryFolder, id: String = "notes") throws -> Int {
        try OpenFile(folder.file("store/\(id)")).names(upTo: 100).filter { $0.hasPrefix("v-") }.count
    }

    @Test("An installed package is available, also after the store is opened again")
    func installs() throws {
        let folder = try TemporaryFolder()
        do {
            let store = try store(folder)
            try install(try archive(1), into: store)
            #expect(try text(store.packages["notes"]?.current) == "1")
            #expect(store.packages["notes"]?.previous == nil)
        }
        #expect(try text(try store(folder).packages["notes"]?.current) == "1")
        #expect(try store(folder).faults == [])
    }

    @Test("The previous version is kept and can be restored; older ones are removed")
    func versions() throws {
        let folder = try TemporaryFolder()
        let store = try store(folder)
        for version in 1...3 { try install(try archive(version), into: store) }
        #expect(try folders(folder) == 2)
        #expect(try text(store.packages["notes"]?.previous) == "2")
        #expect(try text(try store.rollBack("notes")) == "2")
        #expect(try text(try self.store(folder).packages["notes"]?.current) == "2")
        #expect(try text(try store.rollBack("notes")) == "3")
        #expect(throws: PackageFault.self) { try store.rollBack("other") }
    }

    @Test("An open version stays readable after updates and removal, and is removed from the disk afterwards")
    func readers() throws {
        let folder = try TemporaryFolder()
        let store = try store(folder)
        try install(try archive(1), into: store)
        var held = store.packages["notes"]?.current
        for version in 2...3 { try install(try archive(version), into: store) }
        #expect(try text(held) == "1")
        #expect(try folders(folder) == 3)
        held = nil
        #expect(try folders(folder) == 2)
        held = store.packages["notes"]?.current
        try store.remove("notes")
        #expect(store.packages.isEmpty)
        #expect(try text(held) == "3")
        held = nil
        #expect(!exists(folder.file("store/notes")))
        #expect(throws: PackageFault.self) { try store.remove("notes") }
    }

    @Test("A failed or abandoned installation keeps the installed version and leaves nothing else")
    func failures() throws {
        let folder = try TemporaryFolder()
        let store = try store(folder)
        try install(try archive(1), into: store)
        let other = try Fixture.archive(try Fixture.folder(), key: PackageSecretKey())
        #expect(throws: PackageFault.self) { try install(other, into: store) }
        #expect(throws: PackageFault.self) { try install(Array(try archive(2).dropLast()), into: store) }
        do {
            let half = try store.install()
            try half.take(Array(try archive(2).dropLast(10)))
            #expect(throws: PackageFault.self) { try store.install() }
        }
        #expect(try text(store.packages["notes"]?.current) == "1")
        #expect(try OpenFile(folder.file("store")).names(upTo: 10) == ["notes"])
    }

    @Test("Remains of a crash are removed, and packages of keys that are no longer trusted are not used")
    func recovery() throws {
        let folder = try TemporaryFolder()
        try install(try archive(1), into: try store(folder))
        mkdir(folder.file("store/.v-1"), 0o700)
        try folder.write("x", to: "store/.v-1/file")
        mkdir(folder.file("store/notes/v-77"), 0o700)
        try folder.write("{", to: "store/notes/.state.json.new")
        mkdir(folder.file("store/half"), 0o700)
        mkdir(folder.file("store/half/v-1"), 0o700)
        let store = try store(folder)
        #expect(try text(store.packages["notes"]?.current) == "1")
        #expect(try OpenFile(folder.file("store")).names(upTo: 10) == ["notes"])
        #expect(try folders(folder) == 1)
        let strict = try PackageStore(folder.file("store"), keys: []) { $0() }
        #expect(strict.packages.isEmpty && strict.faults.count == 1)
    }

    @Test("The number of packages and the size of all versions together are limited")
    func limits() throws {
        let folder = try TemporaryFolder()
        var limits = PackageLimits()
        limits.packages = 2
        limits.storeBytes = 3
        let store = try store(folder, limits)
        try install(try archive(1), into: store)
        try install(try archive(1, id: "b"), into: store)
        #expect(throws: PackageFault.self) { try install(try archive(1, id: "c"), into: store) }
        try install(try archive(2), into: store)
        // The previous version is removed, so there is room for another.
        try install(try archive(3), into: store)
        #expect(throws: PackageFault.self) { try install(try archive(22), into: store) }
        #expect(try text(store.packages["notes"]?.current) == "3")
    }

    @Test("A program that only reads a store finds the current version and changes nothing")
    func reads() throws {
        let folder = try TemporaryFolder()
        let store = try store(folder)
        let key = Fixture.key.publicKey
        func current(_ id: String, keys: [PackageKey]) throws -> InstalledPackage {
            try PackageStore.current(id, at: folder.file("store"), keys: keys)
        }
        for version in 1...2 { try install(try archive(version), into: store) }
        mkdir(folder.file("store/.unfinished"), 0o700)
        #expect(try text(try current("notes", keys: [key])) == "2")
        #expect(access(folder.file("store/.unfinished"), F_OK) == 0)
        _ = try store.rollBack("notes")
        #expect(try text(try current("notes", keys: [key])) == "1")
        for id in ["none", "..", "../store/notes", ""] {
            #expect { try current(id, keys: [key]) } throws: { ($0 as? PackageFault)?.reason == .missing }
        }
        #expect { try current("notes", keys: []) } throws: { ($0 as? PackageFault)?.reason == .key }
        #expect(rename(folder.file("store/notes"), folder.file("store/other")) == 0)
        #expect { try current("other", keys: [key]) } throws: { ($0 as? PackageFault)?.reason == .manifest }
    }
}
