import ArgumentParser
import Glibc
import TestSupport
import Testing

@testable import trestle

@Suite("trestle package")
struct PackageCommandTests {
    private func folder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        mkdir(folder.file("app"), 0o755)
        mkdir(folder.file("app/files"), 0o755)
        try folder.write(#"{"id": "app", "version": "1"}"#, to: "app/manifest.json")
        try folder.write("<p>", to: "app/files/index.html")
        return folder
    }

    private func run(_ arguments: String...) async throws {
        var command = try #require(try Trestle.parseAsRoot(["package"] + arguments) as? any AsyncParsableCommand)
        try await command.run()
    }

    @Test("A key pair signs a package that the public key checks, and another key does not")
    func roundTrip() async throws {
        let folder = try folder()
        let (key, package) = (folder.file("k"), folder.file("app.tar.zst"))
        try await run("key", key)
        var status = stat()
        #expect(stat(key, &status) == 0 && status.st_mode & 0o777 == 0o600)
        try await run("make", folder.file("app"), "--key", key, "--output", package)
        let open = contents(of: "\(key).pub").split(separator: "\n").map(String.init)
        try await run("check", package, "--key", try #require(open.first))
        let other = "ed25519:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
        await #expect(throws: ExitCode.self) { try await run("check", package, "--key", other) }
        await #expect(throws: ExitCode.self) { try await run("check", "\(key).pub") }
    }

    @Test("Nothing that exists is replaced without --force")
    func force() async throws {
        let folder = try folder()
        let (key, package) = (folder.file("k"), folder.file("app.tar.zst"))
        try await run("key", key)
        let first = contents(of: key)
        await #expect(throws: ExitCode.self) { try await run("key", key) }
        #expect(contents(of: key) == first)
        try await run("make", folder.file("app"), "--key", key, "--output", package)
        await #expect(throws: ExitCode.self) {
            try await run("make", folder.file("app"), "--key", key, "--output", package)
        }
        try await run("make", folder.file("app"), "--key", key, "--output", package, "--force")
        try await run("key", key, "--force")
        #expect(contents(of: key) != first)
    }

    @Test("A folder becomes a package in its place, and stays one as long as nothing changes")
    func inPlace() async throws {
        let folder = try folder()
        try await run("key", folder.file("k"))
        try await run("make", folder.file("app"), "--key", folder.file("k"), "--in-place")
        try await run("check", folder.file("app"))
        try folder.write("<q>", to: "app/files/index.html")
        await #expect(throws: ExitCode.self) { try await run("check", folder.file("app")) }
    }
}
