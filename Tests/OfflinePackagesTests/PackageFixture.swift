import CCompression
import Glibc
import TestSupport
import Testing

@testable import OfflinePackages

/// Packages for tests.
enum Fixture {
    static let key = PackageSecretKey("ed25519-secret:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")!  // a seed
    static let template = #"{"id": "notes", "version": "1.0", "base": "https://notes.example/app/"}"#

    /// Creates a folder to make a package of.
    static func folder(
        _ files: [String: String] = ["index.html": "<p>", "a/b.js": "1"], template: String = Fixture.template
    ) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        try folder.write(template, to: "manifest.json")
        mkdir(folder.file("files"), 0o755)
        for (path, text) in files {
            var way = "files"
            for part in path.split(separator: "/").dropLast() {
                way += "/\(part)"
                mkdir(folder.file(way), 0o755)
            }
            try folder.write(text, to: "files/\(path)")
        }
        return folder
    }

    /// Returns a package as one file.
    static func archive(_ folder: TemporaryFolder, key: PackageSecretKey = key) throws -> [UInt8] {
        let bytes = Collected()
        try PackageMaker(folder.path).writeArchive(signedBy: key) { bytes.bytes += $0 }
        return bytes.bytes
    }

    /// Returns an archive of these bytes, valid or not.
    static func compressed(_ bytes: [UInt8]) throws -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: ZSTD_compressBound(bytes.count)) { room, count in
            count = ZSTD_compress(room.baseAddress, room.count, bytes, bytes.count, 1)
        }
    }

    /// Returns the content of an archive.
    static func decompressed(_ archive: [UInt8]) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try archive.withUnsafeBytes { try ZstdDecoder().take($0) { bytes += $0 } }
        return bytes
    }

    /// Returns the beginning of a tar: a manifest of any text, and its valid signature.
    static func head(_ manifest: String) -> [UInt8] {
        let manifest = Array(manifest.utf8)
        let signature = PackageSignature(of: manifest, by: key).bytes
        return entry(PackagePath.manifest, manifest) + entry(PackagePath.signature, signature)
    }

    static func entry(_ path: String, _ bytes: [UInt8]) -> [UInt8] {
        let padding = [UInt8](repeating: 0, count: Int(TarHeader.paddingBytes(after: Int64(bytes.count))))
        return TarHeader.bytes(path, Int64(bytes.count)) + bytes + padding
    }

    /// Reads an archive in pieces.
    static func read(
        _ archive: [UInt8], pieces: Int = 1 << 16, keys: [PackageKey]? = nil, _ limits: PackageLimits = PackageLimits()
    ) throws(PackageFault) -> PackageManifest {
        let reader = ArchiveReader(limits, keys: keys, sink: nil)
        var rest = archive[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(pieces))
            rest = rest.dropFirst(pieces)
            try piece.withUnsafeBytes { bytes in
                Result { () throws(PackageFault) in try reader.take(bytes) }
            }.get()
        }
        return try reader.finish()
    }

    /// Returns the reason for which an archive is refused; `nil` if it is accepted.
    static func reason(
        _ archive: [UInt8], pieces: Int = 1 << 16, keys: [PackageKey]? = nil, _ limits: PackageLimits = PackageLimits()
    ) -> PackageFault.Reason? {
        do throws(PackageFault) {
            _ = try read(archive, pieces: pieces, keys: keys, limits)
            return nil
        } catch {
            return error.reason
        }
    }
}

/// The bytes that a closure has received.
final class Collected {
    var bytes: [UInt8] = []
}
