import Sodium

/// Receives the contents of a package while it is read: first the manifest, then the files in order. All contents are
/// checked before they are passed on, but the package is valid only after its reader has reached the end.
protocol PackageSink: AnyObject {
    /// Receives the manifest, before any file.
    ///
    /// - Parameters:
    ///   - manifest: The manifest, whose signature is valid.
    ///   - bytes: Its bytes.
    ///   - signature: The signature.
    func begin(
        _ manifest: PackageManifest, _ bytes: [UInt8], _ signature: PackageSignature
    ) throws(PackageFault)
    func beginFile(_ file: PackageManifest.File) throws(PackageFault)
    func write(_ bytes: UnsafeRawBufferPointer) throws(PackageFault)
    func endFile() throws(PackageFault)
}

/// Compares the bytes of a file, as they arrive, with the manifest.
struct FileCheck {
    private let file: PackageManifest.File
    private var hash = SHA256()
    private(set) var rest: Int64

    init(_ file: PackageManifest.File) {
        self.file = file
        rest = file.byteCount
    }

    /// - Throws: `file` if there are more bytes than the manifest states.
    mutating func take(_ bytes: UnsafeRawBufferPointer) throws(PackageFault) {
        guard bytes.count <= rest else { throw fault("has more bytes than the manifest specifies") }
        rest -= Int64(bytes.count)
        hash.update(bytes)
    }

    /// - Throws: `file` if the file differs from the manifest.
    mutating func finish() throws(PackageFault) {
        guard rest == 0 else { throw fault("has fewer bytes than the manifest specifies") }
        guard hash.finish() == file.sha256 else { throw fault("does not have the sha256 of the manifest") }
    }

    private func fault(_ what: String) -> PackageFault { PackageFault(.file, "the file \(file.path) \(what)") }
}
