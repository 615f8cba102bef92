import HTTPRules
import TaskKit
import TaskKitTesting
import TestSupport
import Testing

@testable import FetchTasks

@Suite("Website data", .timeLimit(.minutes(20)), .enabled(if: ScriptedServer.isThere, "needs /usr/bin/python3"))
struct WebsiteDataTests {
    /// A replacement for the plugin Cookies.
    private actor Jar {
        var cookies: [JSON]
        var pages = 0

        init(_ cookies: [JSON]) { self.cookies = cookies }

        /// Returns one cookie per page.
        func get(_ options: JSON) -> JSON {
            pages += 1
            let after = Int(options["after"]?.int64Value ?? 0)
            let page = after < cookies.count ? [cookies[after]] : []
            return [
                "cookies": .array(page), "version": .number(JSONNumber(after + 1)),
                "more": .bool(after + 1 < cookies.count),
            ]
        }

        func delete(_ options: JSON) throws -> JSON {
            guard let index = cookies.firstIndex(where: { $0["name"] == options["key"]?["name"] }) else {
                throw BridgeError("cookie.not_found", "none")
            }
            cookies.remove(at: index)
            return [:]
        }

        var names: [String] { cookies.compactMap { $0["name"]?.stringValue } }
    }

    private static func cookie(_ name: String, _ host: String, hostOnly: Bool = true, created: Int = 10) -> JSON {
        [
            "name": .string(name), "value": "v", "host": .string(host), "hostOnly": .bool(hostOnly), "path": "/",
            "created": .number(JSONNumber(created)), "secure": true,
        ]
    }

    private static func provide(_ jar: Jar, _ bridge: PluginBridge) async throws -> PluginSession {
        let session = try await bridge.session()
        try await session.provide("cookies.get") { await jar.get($0) }
        try await session.provide("cookies.delete") { try await jar.delete($0) }
        return session
    }

    @Test("data.records joins the types of a site; without a container and Cookies, only packages are listed")
    func records() async throws {
        let archive = try TestPackage.archive("1", base: "https://app.example.co.uk/", ["a": "12345"])
        try await withPlugin(.fetch(), in: .inProcess, configuration: TestPackage.configuration()) { bridge in
            try await TestPackage.install(archive, bridge)
            let alone = try await bridge.call("data.records", [:])
            #expect(
                alone == ["records": [["name": "example.co.uk", "types": ["packages"], "bytes": 5, "count": 1]]])
            let jar = Jar([Self.cookie("a", "www.example.co.uk"), Self.cookie("b", "other.example")])
            let session = try await Self.provide(jar, bridge)
            try await session.provide("web.data.records") { options in
                ["records": [["name": "example.co.uk", "types": ["localStorage"], "bytes": 7, "count": 2]]]
            }
            let all = try await bridge.call("data.records", [:])["records"]
            #expect(all?[0]?["name"] == "example.co.uk")
            #expect(Set(all?[0]?["types"]?.arrayValue ?? []) == ["packages", "cookies", "localStorage"])
            #expect(all?[0]?["bytes"] == 14 && all?[0]?["count"] == 4)
            #expect(all?[1]?["name"] == "other.example" && all?[1]?["types"] == ["cookies"])
            let cookies = try await bridge.call("data.records", ["types": ["cookies"]])["records"]
            #expect(cookies?.arrayValue?.count == 2 && cookies?[0]?["bytes"] == 2)
            let types = try await bridge.call("data.types", [:])["types"]?.arrayValue ?? []
            #expect(types.contains("packages") && types.contains("cookies") && types.contains("indexedDB"))
        }
    }

    @Test("data.remove removes by name, by origin, or since a time, and calls the container")
    func removes() async throws {
        let archive = try TestPackage.archive("1", base: "https://app.example.org/", ["a": "12345"])
        try await withPlugin(.fetch(), in: .inProcess, configuration: TestPackage.configuration()) { bridge in
            try await TestPackage.install(archive, bridge)
            let jar = Jar([
                Self.cookie("old", "a.example.org", created: 1), Self.cookie("new", "a.example.org", created: 9),
                Self.cookie("wide", "example.org", hostOnly: false), Self.cookie("other", "a.example"),
            ])
            let session = try await Self.provide(jar, bridge)
            try await session.provide("web.data.remove") { options in
                ["removed": ["localStorage": .number(JSONNumber(options["names"]?.arrayValue?.count ?? -1))]]
            }
            let since = try await bridge.call("data.remove", ["types": ["cookies"], "since": 10])
            #expect(since == ["removed": ["cookies": 2]])
            #expect(await jar.names == ["old", "new"])
            let origin: JSON = ["types": ["cookies", "packages"], "origins": ["https://a.example.org"]]
            #expect(try await bridge.call("data.remove", origin) == ["removed": ["packages": 0, "cookies": 2]])
            let named: JSON = ["types": ["packages", "localStorage"], "names": ["example.org"]]
            #expect(try await bridge.call("data.remove", named) == ["removed": ["packages": 1, "localStorage": 1]])
            #expect(try await bridge.call("http.packages.list", [:]) == ["packages": []])
            let wrong: [JSON] = [
                ["types": ["cookie"]], ["types": ["cookies"], "names": [], "origins": []],
                ["types": ["cookies"], "origins": ["example.org"]], [:],
            ]
            for options in wrong {
                do {
                    _ = try await bridge.call("data.remove", options)
                    Issue.record("\(options) was taken")
                } catch {
                    #expect((error as? BridgeError)?.code == .optionsInvalid)
                }
            }
        }
    }

    @Test("data.remove reports a type that fails, and removes the others")
    func failures() async throws {
        let archive = try TestPackage.archive("1", base: "https://app.example.org/", ["a": "12345"])
        try await withPlugin(.fetch(), in: .inProcess, configuration: TestPackage.configuration()) { bridge in
            try await TestPackage.install(archive, bridge)
            let session = try await bridge.session()
            try await session.provide("cookies.get") { _ in throw BridgeError("storage.failed", "the disk") }
            let result = try await bridge.call("data.remove", ["types": ["cookies", "packages"]])
            #expect(result["removed"] == ["packages": 1])
            #expect(result["failed"]?[0]?["types"] == ["cookies"] && result["failed"]?[0]?["code"] == "storage.failed")
        }
    }

    @Test(
        "Clear-Site-Data over https removes the site's cookies and the origin's data, over http nothing",
        .enabled(if: TestAuthority.isThere, "needs /usr/bin/openssl"))
    func clears() async throws {
        let headers = "Clear-Site-Data: \"cookies\", \"storage\"\r\n"
        let authority = try TestAuthority()
        let certificate = try authority.certificate("DNS:localhost")
        for scheme in ["https", "http"] {
            let server = try ScriptedServer(
                ["/": Script.response("ok", headers: headers)], certificate: scheme == "https" ? certificate : nil)
            var section = Fetching.open.objectValue ?? [:]
            section["ca_file"] = .string(authority.file)
            try await withPlugin(.fetch(), in: .inProcess, configuration: .object(section)) { bridge in
                let session = try await bridge.session()
                let (notified, put) = (Sent(), Sent())
                try await session.provide("cookies.take") { _ in [:] }
                try await session.provide("cookies.put") { options in
                    await put.add(options)
                    return [:]
                }
                try await session.provide("web.data.remove") { options in
                    await notified.add(options)
                    return [:]
                }
                _ = try await bridge.call("http.fetch", ["url": server.url("/", host: "localhost")])
                #expect(await put.all.map { $0["clear"] } == (scheme == "https" ? [true] : []))
                let origin = "https://localhost:\(server.port)"
                #expect(await notified.all.map { $0["origins"] } == (scheme == "https" ? [[.string(origin)]] : []))
            }
        }
    }

    private actor Sent {
        var all: [JSON] = []
        func add(_ options: JSON) { all.append(options) }
    }

    @Test(
        "The header Clear-Site-Data is parsed as its standard specifies",
        arguments: [
            ("\"cache\"", true, false, false), ("\"cookies\", \"storage\"", false, true, true),
            ("\"*\"", true, true, true),
            ("cache", false, false, false), ("\"Cache\"", false, false, false),
            ("\"executionContexts\"", false, false, false),
        ])
    func field(value: String, cache: Bool, cookies: Bool, storage: Bool) throws {
        let field = try #require(HeaderField(name: "clear-site-data", value: value))
        let clearing = ClearSiteData(HeaderList([field]))
        #expect(clearing.clearsCache == cache)
        #expect(clearing.clearsCookies == cookies)
        #expect(clearing.clearsStorage == storage)
    }
}
