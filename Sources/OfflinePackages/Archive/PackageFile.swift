import Glibc

/// A package in the file system: an archive or a folder.
public enum PackageFile {
    /// The result of the check of a valid package.
    public struct Report: Sendable {
        /// The manifest.
        public let manifest: PackageManifest
        /// The key that signed it.
        public let key: PackageKey
    }

    private static let chunkBytes = 128 << 10

    /// Reads and checks a whole package.
    ///
    /// - Parameters:
    ///   - path: The archive or the folder.
    ///   - keys: The keys whose signatures are accepted; `nil` accepts every key.
    ///   - limits: The limits of the package.
    /// - Returns: The manifest and the signing key.
    /// - Throws: The fault of the package.
    public static func check(
        _ path: String, keys: [PackageKey]?, _ limits: PackageLimits = PackageLimits()
    ) throws(PackageFault) -> Report {
        let file = try OpenFile(path, O_RDONLY)
        if try file.status().st_mode & S_IFMT == S_IFDIR { return try checkFolder(file, keys, limits) }
        let reader = ArchiveReader(limits, keys: keys, sink: nil)
        while case let bytes = try file.read(upTo: chunkBytes), !bytes.isEmpty {
            let taken = bytes.withUnsafeBytes { bytes in
                Result { () throws(PackageFault) in try reader.take(bytes) }
            }
            try taken.get()
        }
        let manifest = try reader.finish()
        guard let key = reader.signature?.key else { throw PackageFault(.signature, "the package has no signature") }
        return Report(manifest: manifest, key: key)
    }

    private static func checkFolder(
        _ folder: OpenFile, _ keys: [PackageKey]?, _ limits: PackageLimits
    ) throws(PackageFault) -> Report {
        let (manifest, signature) = try head(of: folder, keys, limits)
        let tree = try folder.folder(PackagePath.files)
        for path in try FileTree.paths(in: tree) where manifest.file(at: path) == nil {
            throw PackageFault(.file, "the file \(path) is not in the manifest")
        }
        for file in manifest.files {
            var check = FileCheck(file)
            let open = try FileTree.open(file.path, in: tree)
            while case let bytes = try open.read(upTo: chunkBytes), !bytes.isEmpty {
                let taken = bytes.withUnsafeBytes { bytes in
                    Result { () throws(PackageFault) in try check.take(bytes) }
                }
                try taken.get()
            }
            try check.finish()
        }
        return Report(manifest: manifest, key: signature.key)
    }

    /// Reads and checks the manifest and the signature of a folder.
    static func head(
        of folder: OpenFile, _ keys: [PackageKey]?, _ limits: PackageLimits
    ) throws(PackageFault) -> (PackageManifest, PackageSignature) {
        let bytes = try OpenFile(PackagePath.manifest, in: folder).contents(upTo: PackageLimits.manifestBytes)
        let signature = try PackageSignature(
            parsing: try OpenFile(PackagePath.signature, in: folder).contents(upTo: PackageLimits.signatureBytes))
        try signature.check(bytes, keys)
        return (try PackageManifest(parsing: bytes, limits), signature)
    }
}
