import BridgeJSON
import Glibc
import TestSupport
import Testing

@testable import OfflinePackages

@Suite("The format of packages")
struct PackageFormatTests {
    @Test("A package can be read in pieces of any size", arguments: [1, 7, 512, 1 << 20])
    func roundTrip(pieces: Int) throws {
        let folder = try Fixture.folder()
        let manifest = try Fixture.read(try Fixture.archive(folder), pieces: pieces, keys: [Fixture.key.publicKey])
        #expect(manifest.head.id == "notes")
        #expect(manifest.head.base == "https://notes.example/app/")
        #expect(manifest.files.map(\.path) == ["a/b.js", "index.html"])
        #expect(manifest.file(at: "index.html")?.type == "text/html; charset=utf-8")
        #expect(manifest.file(at: "index.html")?.byteCount == 3)
        #expect(manifest.file(at: "INDEX.html") == nil)
    }

    @Test("The same folder gives the same bytes, for any order, times and modes of its files")
    func reproducible() throws {
        let first = try Fixture.archive(try Fixture.folder(["a": "1", "b": "2", "c/d": "3"]))
        let second = try Fixture.folder(["c/d": "3", "b": "2", "a": "1"])
        chmod(second.file("files/a"), 0o600)
        var times = [timeval(tv_sec: 1, tv_usec: 0), timeval(tv_sec: 1, tv_usec: 0)]
        utimes(second.file("files/b"), &times)
        #expect(try Fixture.archive(second) == first)
    }

    @Test("tar can list the archive")
    func tar() throws {
        let folder = try Fixture.folder([
            "\(String(repeating: "x", count: 100))/\(String(repeating: "y", count: 90))": ""
        ])
        let bytes = try Fixture.decompressed(try Fixture.archive(folder))
        let file = folder.file("p.tar")
        let descriptor = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        #expect(write(descriptor, bytes, bytes.count) == bytes.count)
        close(descriptor)
        let list = try run("/bin/tar", ["-tf", file])
        #expect(list.end == .exited(0))
        #expect(
            list.output.split(separator: "\n") == [
                "manifest.json", "manifest.sig",
                "files/\(String(repeating: "x", count: 100))/\(String(repeating: "y", count: 90))",
            ])
    }

    @Test("The members of the folder's manifest are kept: types of files, policy, network, requests")
    func members() throws {
        let template = """
            {"id": "a.b-c", "version": "2.0+x", "network": "https://api.example", "csp": "default-src 'self'",
             "accepts": [{"method": "POST", "path": "/api/"}], "files": {"x": {"type": "text/x"}}}
            """
        let manifest = try Fixture.read(
            try Fixture.archive(try Fixture.folder(["x": "", "y": ""], template: template)))
        #expect(manifest.head.network == "https://api.example")
        #expect(manifest.head.csp == "default-src 'self'")
        #expect(manifest.head.accepts == [.init(method: "POST", path: "/api/")])
        #expect(manifest.files.map(\.type) == ["text/x", "application/octet-stream"])
    }

    @Test(
        "An invalid manifest is refused",
        arguments: [
            "[]", "{", "{}", #"{"id": "a"}"#, #"{"id": "a", "version": 1}"#, #"{"id": "A", "version": "1"}"#,
            #"{"id": ".a", "version": "1"}"#, #"{"id": "a..b", "version": "1"}"#, #"{"id": "../a", "version": "1"}"#,
            #"{"id": "a", "version": "1 2"}"#, #"{"id": "a", "version": "1", "base": "https://a.example"}"#,
            #"{"id": "a", "version": "1", "base": "file:///etc/"}"#,
            #"{"id": "a", "version": "1", "base": "https:///x/"}"#,
            #"{"id": "a", "version": "1", "base": "https://a.example/?q/"}"#,
            #"{"id": "a", "version": "1", "network": "https://a.example/"}"#,
            #"{"id": "a", "version": "1", "csp": "a\nb"}"#, #"{"id": "a", "version": "1", "accepts": []}"#,
            #"{"id": "a", "version": "1", "accepts": [{"method": "post", "path": "/"}]}"#,
            #"{"id": "a", "version": "1", "accepts": [{"method": "POST", "path": "api"}]}"#,
            #"{"id": "a", "version": "1", "extra": true}"#,
        ])
    func manifests(template: String) throws {
        let folder = try Fixture.folder([:], template: template)
        #expect(throws: PackageFault.self) { try PackageMaker(folder.path) }
    }

    @Test("Symbolic links and FIFOs are refused when a package is made")
    func kinds() throws {
        let ways: [(String) -> Int32] = [
            { symlink("/etc/passwd", $0) }, { symlink("/etc", $0) }, { mkfifo($0, 0o644) },
        ]
        for make in ways {
            let folder = try Fixture.folder()
            #expect(make(folder.file("files/x")) == 0)
            #expect(throws: PackageFault.self) { try PackageMaker(folder.path) }
        }
    }

    @Test("A signed folder is a package; a changed, missing, additional or linked file is detected")
    func folders() throws {
        let changes: [(TemporaryFolder) throws -> Void] = [
            { try $0.write("<q>", to: "files/index.html") }, { try $0.write("<p> ", to: "files/index.html") },
            { unlink($0.file("files/index.html")) }, { try $0.write("", to: "files/more") },
            {
                unlink($0.file("files/index.html"))
                symlink($0.file("files/a/b.js"), $0.file("files/index.html"))
            }, { try $0.write(contents(of: $0.file("manifest.json")) + " ", to: "manifest.json") },
            { unlink($0.file("manifest.sig")) },
        ]
        for (index, change) in changes.enumerated() {
            let folder = try Fixture.folder()
            try PackageMaker(folder.path).signFolder(by: Fixture.key)
            #expect(try PackageFile.check(folder.path, keys: nil).key == Fixture.key.publicKey)
            // Making the manifest of the signed folder again gives the same manifest.
            #expect(try PackageMaker(folder.path).manifest == PackageFile.check(folder.path, keys: nil).manifest)
            try change(folder)
            #expect(throws: PackageFault.self, "change \(index)") { try PackageFile.check(folder.path, keys: nil) }
        }
    }

    @Test("Keys are read back from their text, and public and secret keys are not confused")
    func keys() {
        let key = PackageSecretKey()
        #expect(PackageSecretKey(key.text + "\n")?.publicKey == key.publicKey)
        #expect(PackageKey(key.publicKey.description) == key.publicKey)
        #expect(PackageKey(key.text) == nil && PackageSecretKey(key.publicKey.description) == nil)
        for text in ["", "ed25519:", "ed25519:AAAA", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="] {
            #expect(PackageKey(text) == nil && PackageSecretKey(text) == nil)
        }
    }

    @Test(
        "Paths that can be confused with each other or that leave the folder are refused",
        arguments: [
            ["../a"], ["a/../b"], ["/a"], ["a//b"], ["a/"], ["."], [""], ["a\\b"], ["a\u{0}b"], ["a\nb"],
            ["../\u{301}a"], ["x/..\u{2F}\u{301}"], ["a", "A"], ["a/b", "A/c"], ["a", "a/b"], ["a/b", "a"],
            ["\u{E9}", "e\u{301}"], ["stra\u{DF}e/\u{C5}", "stra\u{DF}e/\u{212B}"],
            [String(repeating: "x", count: 101)], [String(repeating: "x/", count: 40) + "x"],
        ])
    func paths(paths: [String]) {
        var set = PackagePathSet()
        #expect(throws: PackageFault.self) { for path in paths { try set.insert(path) } }
    }

    @Test(
        "Other paths are accepted", arguments: [["a/b", "a/c", "b"], [".well-known/x"], ["...", "a b/ü.html", "%2e"]])
    func goodPaths(paths: [String]) throws {
        var set = PackagePathSet()
        for path in paths { try set.insert(path) }
    }
}
