/// Reads a package in one file, a tar compressed with zstd, incrementally. It accepts exactly what ``PackageMaker``
/// writes: the manifest, its signature, and the manifest's files in order, each with the only valid header.
final class ArchiveReader {
    /// The next expected part.
    private enum Part {
        case manifest
        case signature
        case file(Int)
        case end
        case nothing
    }

    private let limits: PackageLimits
    private let keys: [PackageKey]?
    private let sink: (any PackageSink)?
    private let decoder = ZstdDecoder()

    private var part = Part.manifest
    /// The bytes received so far of the next header, of a short file, or of the end.
    private var block: [UInt8] = []
    /// The length of the short file; `nil` while its header is expected.
    private var byteCount: Int?
    private var check: FileCheck?
    private var padding: Int64 = 0
    private var manifestBytes: [UInt8] = []
    private(set) var manifest: PackageManifest?
    private(set) var signature: PackageSignature?

    /// - Parameters:
    ///   - limits: The limits of the package.
    ///   - keys: The keys whose signatures are accepted; `nil` accepts every key.
    ///   - sink: Receives the contents.
    init(_ limits: PackageLimits, keys: [PackageKey]?, sink: (any PackageSink)?) {
        (self.limits, self.keys, self.sink) = (limits, keys, sink)
    }

    /// Decodes the next bytes.
    ///
    /// - Throws: The fault of the package. Must not be called again after that.
    func take(_ bytes: UnsafeRawBufferPointer) throws(PackageFault) {
        try decoder.take(bytes) { (bytes: UnsafeRawBufferPointer) throws(PackageFault) in try takeTar(bytes) }
    }

    /// Ends the input.
    ///
    /// - Returns: The manifest.
    /// - Throws: `format` if the package is not complete.
    func finish() throws(PackageFault) -> PackageManifest {
        guard decoder.isComplete else { throw Self.cut }
        return try finishTar()
    }

    /// Ends the input as ``finish()`` does, for a tar without zstd.
    func finishTar() throws(PackageFault) -> PackageManifest {
        guard case .nothing = part, let manifest else { throw Self.cut }
        return manifest
    }

    private static let cut = PackageFault(.format, "the archive is truncated")

    /// Reads the next bytes of the tar.
    func takeTar(_ bytes: UnsafeRawBufferPointer) throws(PackageFault) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: rest)
            let count: Int
            if padding > 0 {
                count = try skip(piece)
            } else if check != nil {
                count = try readFile(piece)
            } else {
                count = try readBlock(piece)
            }
            rest = rest.dropFirst(count)
        }
    }

    // MARK: Blocks

    /// Reads a header, a short file or the end; these are processed only when complete.
    private func readBlock(_ bytes: UnsafeRawBufferPointer) throws(PackageFault) -> Int {
        let wanted: Int
        switch part {
        case .nothing: throw PackageFault(.format, "there is data after the end of the package")
        case .end: wanted = TarHeader.end.count
        case .manifest, .signature, .file: wanted = byteCount ?? TarHeader.blockBytes
        }
        let piece = bytes.prefix(wanted - block.count)
        block += piece
        guard block.count == wanted else { return piece.count }
        let whole = block
        block = []
        try take(block: whole)
        return piece.count
    }

    private func take(block: [UInt8]) throws(PackageFault) {
        switch part {
        case .manifest: try takeShort(block, PackagePath.manifest, limit: PackageLimits.manifestBytes)
        case .signature: try takeShort(block, PackagePath.signature, limit: PackageLimits.signatureBytes)
        case .file(let index): try beginFile(index, block)
        case .end:
            guard block == TarHeader.end else {
                throw PackageFault(.format, "there is data after the last file of the manifest")
            }
            part = .nothing
        case .nothing: break
        }
    }

    private func takeShort(_ block: [UInt8], _ path: String, limit: Int) throws(PackageFault) {
        guard let count = byteCount else {
            let count = TarHeader.byteCount(of: block) ?? -1
            guard block == TarHeader.bytes(path, max(0, count)) else { throw Self.misplaced(path) }
            guard count > 0, count <= limit else {
                throw PackageFault(.limit, "\(path) is empty, or has more than \(limit) bytes")
            }
            byteCount = Int(count)
            return
        }
        byteCount = nil
        padding = TarHeader.paddingBytes(after: Int64(count))
        if case .manifest = part {
            manifestBytes = block
            part = .signature
        } else {
            try begin(signature: block)
        }
    }

    /// Checks the signature before anything of the manifest is used.
    private func begin(signature bytes: [UInt8]) throws(PackageFault) {
        let signature = try PackageSignature(parsing: bytes)
        try signature.check(manifestBytes, keys)
        let manifest = try PackageManifest(parsing: manifestBytes, limits)
        (self.manifest, self.signature) = (manifest, signature)
        try sink?.begin(manifest, manifestBytes, signature)
        part = manifest.files.isEmpty ? .end : .file(0)
    }

    // MARK: Files

    private func beginFile(_ index: Int, _ header: [UInt8]) throws(PackageFault) {
        guard let file = manifest?.files[index] else { return }
        let path = PackagePath.entry(file.path)
        guard header == TarHeader.bytes(path, file.byteCount) else { throw Self.misplaced(path) }
        try sink?.beginFile(file)
        check = FileCheck(file)
        if file.byteCount == 0 { try endFile() }
    }

    private func readFile(_ bytes: UnsafeRawBufferPointer) throws(PackageFault) -> Int {
        let piece = UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(clamping: check?.rest ?? 0)))
        try check?.take(piece)
        try sink?.write(piece)
        if check?.rest == 0 { try endFile() }
        return piece.count
    }

    private func endFile() throws(PackageFault) {
        guard case .file(let index) = part, let manifest else { return }
        try check?.finish()
        check = nil
        try sink?.endFile()
        padding = TarHeader.paddingBytes(after: manifest.files[index].byteCount)
        part = index + 1 < manifest.files.count ? .file(index + 1) : .end
    }

    private func skip(_ bytes: UnsafeRawBufferPointer) throws(PackageFault) -> Int {
        let piece = bytes.prefix(Int(padding))
        guard piece.allSatisfy({ $0 == 0 }) else {
            throw PackageFault(.format, "there is data between two files of the archive")
        }
        padding -= Int64(piece.count)
        return piece.count
    }

    private static func misplaced(_ path: String) -> PackageFault {
        PackageFault(
            .format,
            "\(path) is not at the required place in the archive, or has the wrong header; trestle package make "
                + "writes such archives")
    }
}
