import BridgeJSON
import Glibc
import Sodium

/// Makes a package from a folder that contains a `manifest.json` and a folder `files`. From the manifest it takes the
/// properties of the package and the types of files. It computes hashes, lengths and the other types.
public struct PackageMaker {
    private static let chunkBytes = 128 << 10

    private let folder: OpenFile
    private let limits: PackageLimits
    private let bytes: [UInt8]
    /// The manifest of the package.
    public let manifest: PackageManifest

    /// Reads a folder.
    ///
    /// - Parameters:
    ///   - path: The folder.
    ///   - limits: The limits of the package.
    /// - Throws: The fault of the folder.
    public init(_ path: String, _ limits: PackageLimits = PackageLimits()) throws(PackageFault) {
        folder = try OpenFile(path, O_RDONLY | O_DIRECTORY)
        self.limits = limits
        let template = try OpenFile(PackagePath.manifest, in: folder).contents(upTo: PackageLimits.manifestBytes)
        let object = try PackageManifest.object(template)
        for key in object.keys where key != "files" && !PackageHead.members.contains(key) {
            throw PackageFault(.manifest, "\(PackagePath.manifest) has the member \(key), which no manifest has")
        }
        let tree = try folder.folder(PackagePath.files)
        var files: [PackageManifest.File] = []
        for path in try FileTree.paths(in: tree) {
            files.append(try Self.file(path, in: tree, type: object["files"]?[path]?["type"]?.stringValue))
        }
        manifest = try PackageManifest(try PackageHead(object), files, limits)
        bytes = manifest.bytes
        guard bytes.count <= PackageLimits.manifestBytes else {
            throw PackageFault(.limit, "the manifest has more than \(PackageLimits.manifestBytes) bytes")
        }
    }

    private static func file(
        _ path: String, in tree: OpenFile, type: String?
    ) throws(PackageFault) -> PackageManifest.File {
        try PackagePath.check(path)
        let file = try FileTree.open(path, in: tree)
        var hash = SHA256()
        var count: Int64 = 0
        while case let bytes = try file.read(upTo: chunkBytes), !bytes.isEmpty {
            bytes.withUnsafeBytes { hash.update($0) }
            count += Int64(bytes.count)
        }
        return PackageManifest.File(
            path: path, sha256: hash.finish(), byteCount: count, type: type ?? MediaTypes.type(of: path))
    }

    /// Writes the package as one file. The same folder, key and version of libzstd give the same bytes.
    ///
    /// - Parameters:
    ///   - key: The key that signs it.
    ///   - write: Receives the bytes.
    /// - Throws: `file` if a file has changed meanwhile; `storage`; the errors of `write`.
    public func writeArchive(
        signedBy key: PackageSecretKey, _ write: @escaping (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let encoder = ZstdEncoder(write)
        try Self.add(PackagePath.manifest, bytes, to: encoder)
        try Self.add(PackagePath.signature, PackageSignature(of: bytes, by: key).bytes, to: encoder)
        let tree = try folder.folder(PackagePath.files)
        for file in manifest.files {
            try Self.put(TarHeader.bytes(PackagePath.entry(file.path), file.byteCount), to: encoder)
            var check = FileCheck(file)
            let open = try FileTree.open(file.path, in: tree)
            while case let bytes = try open.read(upTo: Self.chunkBytes), !bytes.isEmpty {
                try bytes.withUnsafeBytes { try check.take($0) }
                try Self.put(bytes, to: encoder)
            }
            try check.finish()
            try Self.pad(after: file.byteCount, to: encoder)
        }
        try Self.put(TarHeader.end, to: encoder)
        try encoder.finish()
    }

    /// Turns the folder itself into a package: writes the manifest and the signature into it.
    ///
    /// - Parameter key: The key that signs it.
    /// - Throws: `full`, `storage`.
    public func signFolder(by key: PackageSecretKey) throws(PackageFault) {
        try folder.replace(PackagePath.manifest, bytes, mode: 0o644)
        try folder.replace(PackagePath.signature, PackageSignature(of: bytes, by: key).bytes, mode: 0o644)
    }

    private static func add(_ path: String, _ bytes: [UInt8], to encoder: ZstdEncoder) throws {
        try put(TarHeader.bytes(path, Int64(bytes.count)), to: encoder)
        try put(bytes, to: encoder)
        try pad(after: Int64(bytes.count), to: encoder)
    }

    private static func pad(after byteCount: Int64, to encoder: ZstdEncoder) throws {
        try put([UInt8](repeating: 0, count: Int(TarHeader.paddingBytes(after: byteCount))), to: encoder)
    }

    private static func put(_ bytes: [UInt8], to encoder: ZstdEncoder) throws {
        try bytes.withUnsafeBytes { try encoder.take($0) }
    }
}
