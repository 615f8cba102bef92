import Glibc
import OfflinePackages
import TestSupport

/// A signed offline package in a file, for tests.
struct TestPackage {
    static let key = PackageSecretKey()

    private let folder: TemporaryFolder
    /// The path of the archive.
    var file: String { folder.file("package.tar.zst") }

    /// Creates a package.
    ///
    /// - Parameters:
    ///   - files: The texts of its files, by their paths.
    ///   - head: The members of the manifest except `files`.
    init(
        _ files: [String: String], head: String = #""id": "notes", "version": "1.0""#,
        key: PackageSecretKey = Self.key
    ) throws {
        folder = try TemporaryFolder()
        try folder.write("{\(head)}", to: "manifest.json")
        mkdir(folder.file("files"), 0o755)
        for (path, text) in files {
            var way = "files"
            for part in path.split(separator: "/").dropLast() {
                way += "/\(part)"
                mkdir(folder.file(way), 0o755)
            }
            try folder.write(text, to: "files/\(path)")
        }
        guard let archive = fopen(file, "w") else { throw TestFailure("\(file) cannot be made") }
        defer { fclose(archive) }
        try PackageMaker(folder.path).writeArchive(signedBy: key) { bytes in
            fwrite(bytes.baseAddress, 1, bytes.count, archive)
        }
    }
}
