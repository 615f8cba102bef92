@testable import OfflinePackages

// Offline packages of untrusted origin. The input: a byte, and an archive. Or a record with a manifest, which is signed
// here, and the part of the tar after manifest and signature.
//
// - Whatever the pieces, a package is refused, a tar for the same reason, or has the same manifest.
// - An accepted manifest is written as it was received, and its paths are unique and stay within the folder.
func fuzzPackages(_ bytes: [UInt8]) throws(Violation) {
    var input = FuzzInput(bytes)
    let choice = input.byte()
    let isTar = choice & 1 == 1
    let archive = isTar ? PackageInput.head(input.record()) + input.all() : input.all()
    let whole = PackageInput.read(archive, pieces: archive.count, isTar: isTar)
    let pieces = PackageInput.read(archive, pieces: Int(choice >> 1) + 1, isTar: isTar)
    switch (whole, pieces) {
    case (.success(let one), .success(let other)):
        try require(one == other, "two manifests of one package")
        try checkManifest(one)
    case (.failure(let one), .failure(let other)):
        // If zstd is broken, only the pieces may have reported an earlier fault.
        try require(!isTar || one.reason == other.reason, "refused as \(one.reason), and in pieces as \(other.reason)")
    default: throw Violation(description: "a package is good whole or in pieces, and not both")
    }
}

private func checkManifest(_ manifest: PackageManifest) throws(Violation) {
    let again = Result { () throws(PackageFault) in
        try PackageManifest(parsing: manifest.bytes, PackageLimits())
    }
    guard case .success(let other) = again, other == manifest else {
        throw Violation(description: "a manifest cannot be read as it is written")
    }
    for file in manifest.files {
        let parts = file.path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isSafe = parts.allSatisfy { !$0.isEmpty && !$0.elementsEqual("..".utf8) && !$0.elementsEqual(".".utf8) }
        try require(isSafe && !file.path.utf8.contains(0), "the path \(file.path)")
    }
    let names = Set(manifest.files.map { $0.path.lowercased() })
    try require(names.count == manifest.files.count, "two files under one name")
}

/// Functions that read the input.
private enum PackageInput {
    private static let key = PackageSecretKey("ed25519-secret:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")

    static func head(_ manifest: [UInt8]) -> [UInt8] {
        guard let key else { return [] }
        return entry(PackagePath.manifest, manifest)
            + entry(PackagePath.signature, PackageSignature(of: manifest, by: key).bytes)
    }

    private static func entry(_ path: String, _ bytes: [UInt8]) -> [UInt8] {
        let padding = [UInt8](repeating: 0, count: Int(TarHeader.paddingBytes(after: Int64(bytes.count))))
        return TarHeader.bytes(path, Int64(bytes.count)) + bytes + padding
    }

    static func read(_ bytes: [UInt8], pieces: Int, isTar: Bool) -> Result<PackageManifest, PackageFault> {
        let reader = ArchiveReader(PackageLimits(), keys: nil, sink: nil)
        return Result { () throws(PackageFault) in
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = Array(rest.prefix(max(1, pieces)))
                rest = rest.dropFirst(piece.count)
                try piece.withUnsafeBytes { bytes in
                    Result { () throws(PackageFault) in
                        if isTar { try reader.takeTar(bytes) } else { try reader.take(bytes) }
                    }
                }.get()
            }
            return isTar ? try reader.finishTar() : try reader.finish()
        }
    }
}
