import Glibc
import TestSupport
import Testing

@Suite("trestle package", .blocking)
struct PackageCommandTests {
    private func folder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        mkdir(folder.file("app"), 0o755)
        mkdir(folder.file("app/files"), 0o755)
        try folder.write(#"{"id": "app", "version": "1"}"#, to: "app/manifest.json")
        try folder.write("<p>", to: "app/files/index.html")
        return folder
    }

    /// Runs the command. If `reason` is set, expects a failure whose error output contains it.
    private func runPackage(_ arguments: String..., fails reason: String? = nil) throws {
        let run = try run(Paths.program("trestle"), ["package"] + arguments)
        guard let reason else { return #expect(run.end == .exited(0) && run.errors.isEmpty, "\(run)") }
        #expect(run.end != .exited(0) && run.output.isEmpty && run.errors.contains(reason), "\(run)")
    }

    @Test("A key pair signs a package that its public key verifies and another key does not")
    func roundTrip() throws {
        let folder = try folder()
        let (key, archive) = (folder.file("k"), folder.file("app.tar.zst"))
        try runPackage("key", key)
        var status = stat()
        #expect(stat(key, &status) == 0 && status.st_mode & 0o777 == 0o600)
        try runPackage("make", folder.file("app"), "--key", key, "--output", archive)
        let open = try #require(contents(of: "\(key).pub").split(separator: "\n").first)
        try runPackage("check", archive, "--key", String(open))
        let other = "ed25519:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
        try runPackage("check", archive, "--key", other, fails: "which is not a trusted key")
        try runPackage("check", "\(key).pub", fails: "is not valid zstd")
    }

    @Test("Existing files are replaced only with --force")
    func force() throws {
        let folder = try folder()
        let (key, archive) = (folder.file("k"), folder.file("app.tar.zst"))
        try runPackage("key", key)
        let first = contents(of: key)
        try runPackage("key", key, fails: "--force replaces it")
        #expect(contents(of: key) == first)
        try runPackage("make", folder.file("app"), "--key", key, "--output", archive)
        try runPackage("make", folder.file("app"), "--key", key, "--output", archive, fails: "--force replaces it")
        try runPackage("make", folder.file("app"), "--key", key, "--output", archive, "--force")
        try runPackage("key", key, "--force")
        #expect(contents(of: key) != first)
    }

    @Test("A folder becomes a package in place, and remains valid until a file changes")
    func inPlace() throws {
        let folder = try folder()
        try runPackage("key", folder.file("k"))
        try runPackage("make", folder.file("app"), "--key", folder.file("k"), "--in-place")
        try runPackage("check", folder.file("app"))
        try folder.write("<q>", to: "app/files/index.html")
        try runPackage("check", folder.file("app"), fails: "index.html does not have the sha256 of the manifest")
    }
}
