import Glibc
import HTTPRules
import OfflinePackages
import Synchronization
import TaskKit
import TaskKitTesting
import TestSupport
import Testing

@testable import FetchTasks

/// Test packages.
enum TestPackage {
    static let key = PackageSecretKey()

    static func configuration(_ more: JSONObject = [:]) -> JSON {
        var section = Fetching.open.objectValue ?? [:]
        section["package_keys"] = [.string(key.publicKey.description)]
        for (name, value) in more { section[name] = value }
        return .object(section)
    }

    static func archive(
        _ version: String, base: String? = nil, id: String = "app", _ files: [String: String],
        more: String = "", key: PackageSecretKey = key
    ) throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let base = base.map { #", "base": "\#($0)""# } ?? ""
        try folder.write(#"{"id": "\#(id)", "version": "\#(version)"\#(base)\#(more)}"#, to: "manifest.json")
        mkdir(folder.file("files"), 0o755)
        for (path, text) in files {
            var way = "files"
            for part in path.split(separator: "/").dropLast() {
                way += "/\(part)"
                mkdir(folder.file(way), 0o755)
            }
            try folder.write(text, to: "files/\(path)")
        }
        let bytes = Mutex<[UInt8]>([])
        try PackageMaker(folder.path).writeArchive(signedBy: key) { piece in
            bytes.withLock { $0 += piece }
        }
        return bytes.withLock { $0 }
    }

    @discardableResult
    static func install(_ archive: [UInt8], _ bridge: PluginBridge) async throws -> JSON {
        let session = try await bridge.session()
        let stream = try await session.makeStream(archive, type: nil)
        return try await session.call("http.packages.install", ["package": .string(stream.name)])
    }
}

@Suite("Offline packages", .timeLimit(.minutes(20)), .enabled(if: ScriptedServer.isThere, "needs /usr/bin/python3"))
struct PackageTests {
    @Test(
        "GET and HEAD below the base come from the package, others from the network", arguments: PluginEnvironment.all
    )
    func serves(environment: PluginEnvironment) async throws {
        let server = try ScriptedServer(["*": Script.response("network")])
        let base = "\(server.url("/app/").stringValue ?? "")"
        let archive = try TestPackage.archive(
            "1.0", base: base, ["index.html": "<p>", "a b/ü.txt": "é"], more: #", "csp": "default-src 'self'""#)
        try await withPlugin(.fetch(), in: environment, configuration: TestPackage.configuration()) { bridge in
            let installed = try await TestPackage.install(archive, bridge)
            #expect(installed["id"] == "app" && installed["version"] == "1.0" && installed["files"] == 2)
            for path in ["/app/", "/app/index.html", "/app/?x=1", "/app/index.html#top", "/app/./index.html"] {
                let result = try await bridge.call("http.fetch", ["url": server.url(path)])
                #expect(result["from"] == "package", "\(path)")
                #expect(result["body"] == ["text": "<p>", "charset": "utf-8"])
                #expect(Fetching.header("content-security-policy", of: result) == "default-src 'self'")
            }
            let other = try await bridge.call("http.fetch", ["url": server.url("/app/a%20b/%C3%BC.txt")])
            #expect(other["from"] == "package" && other["body"]?["text"] == "é")
            let head = try await bridge.call("http.fetch", ["url": server.url("/app/"), "method": "HEAD"])
            #expect(head["from"] == "package" && Fetching.header("content-length", of: head) == "3")
            #expect(head["bytes"] == ["wire": 0, "decoded": 0])
            for path in ["/", "/app", "/application/", "/app/other", "/app/a%20b%2F%C3%BC.txt", "/app/a%20b/"] {
                let result = try await bridge.call("http.fetch", ["url": server.url(path)])
                #expect(result["from"] == "network", "\(path)")
            }
            let post = try await bridge.call("http.fetch", ["url": server.url("/app/"), "method": "POST"])
            #expect(post["from"] == "network")
        }
    }

    @Test("A known entity tag is answered with 304; a wrong hash and a body above maxBytes are errors")
    func conditions() async throws {
        let server = try ScriptedServer(["*": Script.response("network")])
        let base = "\(server.url("/").stringValue ?? "")"
        let archive = try TestPackage.archive("1", base: base, ["a": "12345"])
        try await withPlugin(.fetch(), in: .inProcess, configuration: TestPackage.configuration()) { bridge in
            try await TestPackage.install(archive, bridge)
            let first = try await bridge.call("http.fetch", ["url": server.url("/a")])
            let tag = try #require(Fetching.header("etag", of: first))
            let second = try await bridge.call(
                "http.fetch", ["url": server.url("/a"), "headers": ["If-None-Match": .string("\"x\", W/\(tag)")]])
            #expect(second["status"] == 304 && second["bytes"] == ["wire": 0, "decoded": 0])
            #expect(await Fetching.error(bridge, ["url": server.url("/a"), "maxBytes": 4])?.code == "http.too_large")
            let wrong: JSON = [
                "url": server.url("/a"), "integrity": "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
            ]
            #expect(await Fetching.error(bridge, wrong)?.code == "http.integrity")
        }
    }

    @Test("A running response keeps its version, and later responses use the current version")
    func switches() async throws {
        let server = try ScriptedServer(["*": Script.response("network")])
        let base = "\(server.url("/").stringValue ?? "")"
        let texts = (1...3).map { String(repeating: "\($0)", count: 3 << 20) }
        try await withPlugin(.fetch(), in: .inProcess, configuration: TestPackage.configuration()) { bridge in
            try await TestPackage.install(try TestPackage.archive("1", base: base, ["a": texts[0]]), bridge)
            let session = try await bridge.session()
            let begun = try await session.call("http.fetch", ["url": server.url("/a"), "as": "stream"])
            for version in 2...3 {
                let archive = try TestPackage.archive("\(version)", base: base, ["a": texts[version - 1]])
                try await TestPackage.install(archive, bridge)
            }
            let old = try await session.readStream(begun["body"]?["stream"]?.stringValue ?? "")
            #expect(old == Array(texts[0].utf8))
            let list = try await bridge.call("http.packages.list", [:])
            #expect(list["packages"]?[0]?["version"] == "3" && list["packages"]?[0]?["previous"] == "2")
            let back = try await bridge.call("http.packages.rollback", ["id": "app"])
            #expect(back["version"] == "2")
            let result = try await session.call("http.fetch", ["url": server.url("/a"), "as": "stream"])
            let bytes = try await session.readStream(result["body"]?["stream"]?.stringValue ?? "")
            #expect(bytes == Array(texts[1].utf8))
            _ = try await bridge.call("http.packages.remove", ["id": "app"])
            #expect(try await bridge.call("http.fetch", ["url": server.url("/a")])["from"] == "network")
        }
    }

    @Test("Packages that are invalid or not signed with a configured key are refused")
    func refusals() async throws {
        let good = try TestPackage.archive("1", base: "https://a.example/", ["a": "1"])
        try await withPlugin(.fetch(), in: .inProcess, configuration: TestPackage.configuration()) { bridge in
            let bad: [([UInt8], JSON)] = [
                (try TestPackage.archive("1", ["a": "1"], key: PackageSecretKey()), "key"), ([], "format"),
                (Array(good.dropLast()), "format"), (Array("no package".utf8), "format"),
                (try TestPackage.archive("1", base: "https://A.example/", ["a": "1"]), "manifest"),
                (try TestPackage.archive("1", base: "https://a.example:443/", ["a": "1"]), "manifest"),
            ]
            for (archive, reason) in bad {
                do {
                    try await TestPackage.install(archive, bridge)
                    Issue.record("it was installed")
                } catch {
                    let error = error as? BridgeError
                    #expect(error?.code == "package.invalid" && error?.data?["reason"] == reason, "\(reason)")
                }
            }
            #expect(try await bridge.call("http.packages.list", [:]) == ["packages": []])
            try await TestPackage.install(good, bridge)
        }
    }

    @Test("Pages must not call the tasks of packages")
    func pages() throws {
        let page = Caller(session: 1, uid: 1000, gid: 1000, pid: 1, origin: "https://a.example")
        #expect(throws: BridgeError.self) { try page.requireProgram("http.packages.install") }
        try Caller(session: 1, uid: 1000, gid: 1000, pid: 1).requireProgram("http.packages.install")
    }

    @Test(
        "A URL path maps to a file path or is refused",
        arguments: [
            ("", "index.html"), ("a", "a"), ("a/", "a/index.html"), ("a%62", "ab"), ("%C3%A9", "é"), ("%FF", nil),
            ("a%2Fb", nil), ("a%2fb", nil), ("a?b=c", "a"), ("a%3Fb", "a?b"), ("%", nil), ("%4", nil), ("%zz", nil),
        ] as [(String, String?)])
    func paths(rest: String, path: String?) throws {
        guard let url = try? WebURL("https://a.example/x/\(rest)") else { return #expect(path == nil) }
        #expect(PackageStores.path(of: url, below: "https://a.example/x/") == path)
    }
}
