/// Paths of a package.
enum PackagePath {
    static let manifest = "manifest.json"
    static let signature = "manifest.sig"
    /// The folder of the package's files.
    static let files = "files"
    /// The maximum number of parts of a path, including the file name.
    static let maximumParts = 32

    /// Returns the path of a package's file in the archive.
    static func entry(_ path: String) -> String { "\(files)/\(path)" }

    /// Checks a path of a file.
    ///
    /// - Throws: `path` if a package must not contain such a path.
    static func check(_ path: String) throws(PackageFault) {
        guard !path.isEmpty, !path.utf8.contains(where: isForbidden) else {
            throw fault(path, "is empty, or has a backslash or a control character")
        }
        // By bytes, as in the kernel: a `Character` may combine a slash with an accent.
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard !parts.contains(where: { $0.count < 3 && $0.allSatisfy { $0 == UInt8(ascii: ".") } }) else {
            throw fault(path, "has a part that is empty, . or ..")
        }
        guard parts.count <= maximumParts else { throw fault(path, "has more than \(maximumParts) parts") }
        guard TarHeader.fits(entry(path)) else {
            throw fault(path, "is too long: a name has at most 100 bytes, the folders before it at most 148")
        }
    }

    private static func isForbidden(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "\\")
    }

    static func fault(_ path: String, _ what: String) -> PackageFault {
        PackageFault(.path, "the path \"\(shown(path))\" \(what)")
    }

    /// Returns a path for a message: short, and without control characters.
    private static func shown(_ path: String) -> String {
        String(String.UnicodeScalarView(path.unicodeScalars.prefix(100).map { $0.value < 0x20 ? "?" : $0 }))
    }
}

/// The paths of a package's files. No two of them may be equal to a reader that ignores case or that uses another
/// Unicode normalisation.
struct PackagePathSet {
    private enum Kind {
        case file
        case folder(String)
    }

    /// The paths, by their lower case. Swift compares the keys by canonical equivalence.
    private var kinds: [String: Kind] = [:]

    /// Adds a path.
    ///
    /// - Throws: `path` if the path is invalid or can be confused with another.
    mutating func insert(_ path: String) throws(PackageFault) {
        try PackagePath.check(path)
        for index in path.utf8.indices where path.utf8[index] == UInt8(ascii: "/") {
            try insert(folder: String(path[..<index]))
        }
        guard kinds.updateValue(.file, forKey: path.lowercased()) == nil else {
            throw PackagePath.fault(path, "differs from another path in no more than case or composition")
        }
    }

    private mutating func insert(folder: String) throws(PackageFault) {
        let key = folder.lowercased()
        switch kinds[key] {
        case nil: kinds[key] = .folder(folder)
        case .folder(let other)? where other.utf8.elementsEqual(folder.utf8): break
        default: throw PackagePath.fault(folder, "differs from another path in no more than case or composition")
        }
    }
}
