import Sodium

/// Takes a package that is read: first what it says of itself, then its files in their order. What it gets has been
/// checked as far as it was read; a package is good once its reader has come to the end.
protocol PackageSink: AnyObject {
    /// - Parameters:
    ///   - manifest: The manifest, whose signature is good.
    ///   - bytes: Its bytes.
    ///   - signature: The signature.
    func begin(
        _ manifest: PackageManifest, _ bytes: [UInt8], _ signature: PackageSignature
    ) throws(PackageFault)
    func beginFile(_ file: PackageManifest.File) throws(PackageFault)
    func write(_ bytes: UnsafeRawBufferPointer) throws(PackageFault)
    func endFile() throws(PackageFault)
}

/// A file of a package on its way, compared with what the manifest says of it.
struct FileCheck {
    private let file: PackageManifest.File
    private var hash = SHA256()
    private(set) var rest: Int64

    init(_ file: PackageManifest.File) {
        self.file = file
        rest = file.byteCount
    }

    /// - Throws: `file`, where there are more bytes than there may be.
    mutating func take(_ bytes: UnsafeRawBufferPointer) throws(PackageFault) {
        guard bytes.count <= rest else { throw fault("has more bytes than the manifest says") }
        rest -= Int64(bytes.count)
        hash.update(bytes)
    }

    /// - Throws: `file`, where it is not what the manifest says.
    mutating func finish() throws(PackageFault) {
        guard rest == 0 else { throw fault("has fewer bytes than the manifest says") }
        guard hash.finish() == file.sha256 else { throw fault("does not have the sha256 of the manifest") }
    }

    private func fault(_ what: String) -> PackageFault { PackageFault(.file, "the file \(file.path) \(what)") }
}
