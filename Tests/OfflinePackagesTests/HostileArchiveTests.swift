import BridgeJSON
import TestSupport
import Testing

@testable import OfflinePackages

@Suite("Archives from untrusted sources")
struct HostileArchiveTests {
    private static let empty = String(repeating: "0", count: 64)

    /// Returns a manifest of an untrusted signer, in the form of packages.
    private static func manifest(_ files: String) -> String { #"{"id":"a","version":"1","files":{\#(files)}}"# + "\n" }

    private static func file(_ path: String, _ byteCount: String = "0") -> String {
        #""\#(path)":{"sha256":"\#(empty)","bytes":\#(byteCount),"type":"a"}"#
    }

    @Test(
        "A signed manifest with bad paths, duplicate members or another form is refused",
        arguments: [
            (manifest(file("../a")), .path), (manifest(file("a") + "," + file("A")), .path),
            (manifest(file("a") + "," + file("a/b")), .path), (manifest(file("/etc/passwd")), .path),
            (manifest(file("a") + "," + file("a")), .manifest), (manifest(file("b") + "," + file("a")), .manifest),
            (manifest(file("\\u0061")), .manifest), (manifest(file("a", "0.0")), .manifest),
            (manifest(file("a", "-1")), .path), (manifest(file("a", "1e99")), .path),
            (manifest(file("a", "9223372036854775807")), .limit), (manifest("") + " ", .manifest),
            (#"{"id":"a","id":"b","version":"1","files":{}}"# + "\n", .manifest),
            (#"{"version":"1","id":"a","files":{}}"# + "\n", .manifest), ("[]", .manifest), ("{", .manifest),
            (String(repeating: "[", count: 1000), .manifest),
        ] as [(String, PackageFault.Reason)])
    func manifests(manifest: String, reason: PackageFault.Reason) throws {
        let bytes = Fixture.head(manifest) + TarHeader.end
        #expect(Fixture.reason(try Fixture.compressed(bytes)) == reason)
    }

    /// Returns a good archive, not compressed.
    private func good() throws -> [UInt8] { try Fixture.decompressed(try Fixture.archive(try Fixture.folder())) }

    @Test("A manifest with an untrusted key or a wrong signature is refused")
    func signatures() throws {
        let archive = try Fixture.archive(try Fixture.folder())
        #expect(Fixture.reason(archive, keys: [PackageSecretKey().publicKey]) == .key)
        #expect(Fixture.reason(archive, keys: []) == .key)
        var bytes = try good()
        bytes[520] ^= 1
        #expect(Fixture.reason(try Fixture.compressed(bytes)) == .signature)
    }

    @Test("Entries of other types, in another order, duplicate, missing or additional are refused")
    func entries() throws {
        let bytes = try good()
        // A header and one block of content each: manifest, signature and two files; then the end.
        let first = bytes.count - TarHeader.end.count - 2048
        for type in "125346gxLKV" {
            var changed = bytes
            changed[first + 156] = type.asciiValue ?? 0
            #expect(Fixture.reason(try Fixture.compressed(changed)) == .format, "an entry of the type \(type)")
        }
        let files = [Array(bytes[first..<(first + 1024)]), Array(bytes[(first + 1024)..<(first + 2048)])]
        let head = Array(bytes[..<first])
        let orders = [[1, 0], [0, 0], [0], [0, 1, 1], [1]]
        for order in orders {
            let changed = head + order.flatMap { files[$0] } + TarHeader.end
            #expect(Fixture.reason(try Fixture.compressed(changed)) == .format, "the files \(order)")
        }
        #expect(Fixture.reason(try Fixture.compressed(head + files[0] + files[1] + TarHeader.end)) == nil)
        for more in [[0], Fixture.entry("files/x", [1])] as [[UInt8]] {
            #expect(Fixture.reason(try Fixture.compressed(bytes + more)) == .format)
        }
    }

    @Test("A file with other bytes is refused, and so is an archive that follows another one")
    func contents() throws {
        var bytes = try good()
        bytes[bytes.count - TarHeader.end.count - 512] ^= 1
        #expect(Fixture.reason(try Fixture.compressed(bytes)) == .file)
        let archive = try Fixture.archive(try Fixture.folder())
        #expect(Fixture.reason(archive + archive) == .format)
    }

    @Test("Each proper prefix of a package is refused as incomplete")
    func cuts() throws {
        let archive = try Fixture.archive(try Fixture.folder())
        for count in 0..<archive.count {
            #expect(Fixture.reason(Array(archive[..<count])) == .format, "\(count) of \(archive.count) bytes")
        }
    }

    @Test("A bomb is refused at the first byte outside the manifest, and a large manifest before it is read")
    func bombs() throws {
        let zeros = [UInt8](repeating: 0, count: 64 << 20)
        #expect(Fixture.reason(try Fixture.compressed(zeros)) == .format)
        #expect(Fixture.reason(try Fixture.compressed(try good() + zeros)) == .format)
        let header = TarHeader.bytes(PackagePath.manifest, Int64(PackageLimits.manifestBytes) + 1)
        #expect(Fixture.reason(try Fixture.compressed(header + zeros)) == .limit)
        var limits = PackageLimits()
        limits.contentBytes = 3
        #expect(Fixture.reason(try Fixture.archive(try Fixture.folder()), limits) == .limit)
        limits.contentBytes = 4
        #expect(Fixture.reason(try Fixture.archive(try Fixture.folder()), limits) == nil)
    }

    @Test(
        "Mutated archives are refused or have the same content, in any pieces", arguments: 0..<10 as Range<UInt64>)
    func mutations(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let archive = try Fixture.archive(try Fixture.folder())
        let bytes = try good()
        let manifest = try Fixture.read(archive)
        for _ in 0..<40 {
            let isCompressed = Bool.random(using: &generator)
            let mutated = isCompressed ? generator.mutate(archive) : try Fixture.compressed(generator.mutate(bytes))
            let reason = Fixture.reason(mutated)
            let other = Fixture.reason(mutated, pieces: Int.random(in: 1...300, using: &generator))
            // If the zstd data is broken, only a read in pieces has seen the content before the fault.
            #expect(isCompressed ? (other == nil) == (reason == nil) : other == reason)
            if reason == nil { #expect(try Fixture.read(mutated) == manifest) }
        }
    }

    @Test("Packages of random folders contain all their files", arguments: 0..<8 as Range<UInt64>)
    func property(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var files: [String: String] = [:]
        for index in 0..<Int.random(in: 0...30, using: &generator) {
            let depth = Int.random(in: 0...4, using: &generator)
            let folders = (0..<depth).map { "d\($0)\(index % 3)/" }.joined()
            files[folders + "f\(index)"] = String(repeating: "ab\n", count: Int.random(in: 0...3000, using: &generator))
        }
        let folder = try Fixture.folder(files)
        let manifest = try Fixture.read(try Fixture.archive(folder))
        #expect(Set(manifest.files.map(\.path)) == Set(files.keys))
        #expect(manifest.files.map(\.byteCount) == manifest.files.map { Int64(files[$0.path]?.utf8.count ?? -1) })
    }
}
