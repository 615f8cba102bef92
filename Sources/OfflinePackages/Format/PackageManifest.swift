import BridgeJSON

/// The manifest of a package: the file `manifest.json`. Each manifest has exactly one valid text, so that it cannot be
/// read in two ways.
public struct PackageManifest: Sendable, Hashable {
    /// A file of a package.
    public struct File: Sendable, Hashable {
        /// The path, relative to the folder of the files, with slashes.
        public let path: String
        /// The SHA-256 hash, in hexadecimal digits.
        public let sha256: String
        /// The size in bytes.
        public let byteCount: Int64
        /// The media type.
        public let type: String
    }

    /// The properties of the package.
    public let head: PackageHead
    /// The files, in the order of their paths' bytes.
    public let files: [File]
    private let places: [ExactText: Int]

    private static let maximumTypeBytes = 256

    /// The size of all files in bytes.
    public var contentBytes: Int64 { files.reduce(0) { $0 + $1.byteCount } }

    /// Returns the file at a path; `nil` if there is none.
    ///
    /// - Parameter path: A path as in ``File/path``.
    public func file(at path: String) -> File? { places[ExactText(path)].map { files[$0] } }

    /// - Throws: `path`, `manifest`, `limit`.
    init(_ head: PackageHead, _ files: [File], _ limits: PackageLimits) throws(PackageFault) {
        guard files.count <= PackageLimits.files else {
            throw PackageFault(.limit, "the package has more than \(PackageLimits.files) files")
        }
        var paths = PackagePathSet()
        var rest = limits.contentBytes
        for file in files {
            try paths.insert(file.path)
            try Self.check(file)
            guard file.byteCount <= rest else {
                throw PackageFault(.limit, "the files have more than \(limits.contentBytes) bytes")
            }
            rest -= file.byteCount
        }
        self.head = head
        self.files = files.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
        places = Dictionary(
            uniqueKeysWithValues: self.files.enumerated().map { (ExactText($0.element.path), $0.offset) })
    }

    private static func check(_ file: File) throws(PackageFault) {
        guard file.byteCount >= 0, file.sha256.utf8.count == 64, file.sha256.utf8.allSatisfy(isHexDigit) else {
            throw PackagePath.fault(file.path, "has no sha256 of 64 hexadecimal digits in lower case, or no bytes")
        }
        guard (1...maximumTypeBytes).contains(file.type.utf8.count), PackageHead.isPrintable(file.type) else {
            throw PackagePath.fault(file.path, "has no type of 1 to \(maximumTypeBytes) characters of ASCII")
        }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }
}

extension PackageManifest {
    /// Parses the file.
    ///
    /// - Throws: `manifest`, `path`, `limit`.
    init(parsing bytes: [UInt8], _ limits: PackageLimits) throws(PackageFault) {
        let object = try Self.object(bytes)
        guard let members = object["files"]?.objectValue else {
            throw PackageFault(.manifest, "\(PackagePath.manifest) has no object files")
        }
        guard members.count <= PackageLimits.files else {
            throw PackageFault(.limit, "the package has more than \(PackageLimits.files) files")
        }
        var files: [File] = []
        for (path, json) in members {
            guard let sha256 = json["sha256"]?.stringValue, let byteCount = json["bytes"]?.int64Value,
                let type = json["type"]?.stringValue
            else {
                throw PackagePath.fault(path, "has no sha256, bytes and type in the manifest")
            }
            files.append(File(path: path, sha256: sha256, byteCount: byteCount, type: type))
        }
        try self.init(try PackageHead(object), files, limits)
        // Rejects duplicate members, unknown members, and numbers and escapes in another form, because none of them is
        // written here.
        guard self.bytes == bytes else {
            throw PackageFault(
                .manifest, "\(PackagePath.manifest) is not as trestle package make writes it, or is of a newer version")
        }
    }

    /// Parses the JSON object of a manifest or of its template.
    ///
    /// - Throws: `manifest`.
    static func object(_ bytes: [UInt8]) throws(PackageFault) -> JSONObject {
        let json: JSON
        do throws(JSONSyntaxError) { json = try JSON(parsing: bytes, maximumDepth: 8) } catch {
            throw PackageFault(.manifest, "\(PackagePath.manifest) is not valid JSON: \(error)")
        }
        guard let object = json.objectValue else {
            throw PackageFault(.manifest, "\(PackagePath.manifest) is not an object")
        }
        return object
    }

    /// The contents of the file.
    var bytes: [UInt8] {
        var members = JSONObject()
        for file in files {
            members[file.path] = [
                "sha256": .string(file.sha256), "bytes": .number(JSONNumber(file.byteCount)),
                "type": .string(file.type),
            ]
        }
        var object = head.json
        object["files"] = .object(members)
        return Array("\(JSON.object(object).text)\n".utf8)
    }
}
