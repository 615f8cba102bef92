import CookiesTasks
import TaskKit
import TaskKitTesting
import Testing

@testable import FetchTasks

@Suite(
    "Clear-Site-Data and profiles", .enabled(if: ScriptedServer.isThere, "needs /usr/bin/python3"),
    .enabled(if: TestAuthority.isThere, "needs /usr/bin/openssl"), .timeLimit(.minutes(20)))
struct ClearSiteDataTests {
    private static let clearing = Script.response(
        "ok", headers: "Clear-Site-Data: \"cookies\"\r\nSet-Cookie: after=1\r\n")

    /// Runs `body` with a bridge with both plugins, and a TLS server that clears the cookies of localhost.
    private func withServer(_ body: (TestBridge, ScriptedServer) async throws -> Void) async throws {
        let authority = try TestAuthority()
        let server = try ScriptedServer(["*": Self.clearing], certificate: authority.certificate("DNS:localhost"))
        let section: JSON = ["private_networks": ["127.0.0.0/8", "::1/128"], "ca_file": .string(authority.file)]
        let bridge = try await TestBridge.start(
            .cookies(), .fetch(), Plugin("door", version: "1.0.0") { Door() }, configuration: ["fetch": section],
            daemonUID: 1000)
        do { try await body(bridge, server) } catch {
            await bridge.stop()
            throw error
        }
        await bridge.stop()
    }

    private static func set(_ session: TestSession, _ cookies: JSON..., profile: JSON? = nil) async throws {
        for cookie in cookies {
            var options: JSONObject = ["cookie": cookie]
            options["profile"] = profile
            try await session.call("cookies.set", .object(options))
        }
    }

    private static func cookie(_ name: String, _ host: String, _ more: JSONObject = [:]) -> JSON {
        var cookie: JSONObject = ["name": .string(name), "value": "1", "host": .string(host)]
        for (key, value) in more { cookie[key] = value }
        return .object(cookie)
    }

    private static func names(_ session: TestSession, _ options: JSON = [:]) async throws -> [String] {
        let cookies = try await session.call("cookies.get", options)["cookies"]?.arrayValue ?? []
        return cookies.compactMap { $0["name"]?.stringValue }.sorted()
    }

    @Test("A page's response removes the site's cookies, HttpOnly and partitioned ones too, and then sets its own")
    func page() async throws {
        try await withServer { bridge, server in
            let (local, page) = (await bridge.session(), await bridge.session(origin: "https://localhost:1"))
            let secure: JSONObject = ["secure": true, "sameSite": "none"]
            try await Self.set(
                local, Self.cookie("open", "localhost"), Self.cookie("hidden", "localhost", ["httpOnly": true]),
                Self.cookie("below", "a.localhost"), Self.cookie("deep", "localhost", ["path": "/deep"]),
                Self.cookie("own", "localhost", secure.adding("partition", "https://localhost")),
                Self.cookie("elsewhere", "localhost", secure.adding("partition", "https://b.example")),
                Self.cookie("other", "b.example"))
            try await page.call("door.fetch", ["url": server.url("/", host: "localhost"), "credentials": "omit"])
            #expect(try await Self.names(local).count == 7, "without credentials nothing is removed")
            try await page.call("door.fetch", ["url": server.url("/", host: "localhost")])
            #expect(try await Self.names(local) == ["after", "below", "elsewhere", "other"])
        }
    }

    @Test("A fetch with a profile removes only the cookies of that profile")
    func profile() async throws {
        try await withServer { bridge, server in
            let local = await bridge.session()
            try await Self.set(local, Self.cookie("a", "localhost"))
            try await Self.set(local, Self.cookie("b", "localhost"), profile: "work")
            try await local.call("http.fetch", ["url": server.url("/", host: "localhost"), "profile": "work"])
            #expect(try await Self.names(local) == ["a"])
            #expect(try await Self.names(local, ["profile": "work"]) == ["after"])
        }
    }

    @Test("data.records and data.remove cover one profile's cookies, stored responses and HSTS hosts")
    func data() async throws {
        let kept = "Cache-Control: max-age=600\r\nStrict-Transport-Security: max-age=600\r\nSet-Cookie: a=1\r\n"
        let authority = try TestAuthority()
        let server = try ScriptedServer(
            ["*": Script.response("ok", headers: kept)], certificate: authority.certificate("DNS:localhost"))
        let section: JSON = ["private_networks": ["127.0.0.0/8", "::1/128"], "ca_file": .string(authority.file)]
        let bridge = try await TestBridge.start(
            .cookies(), .fetch(), configuration: ["fetch": section], daemonUID: 1000)
        let local = await bridge.session()
        let url = server.url("/", host: "localhost")
        for profile: JSON in ["default", "work"] {
            let result = try await local.call("http.fetch", ["url": url, "profile": profile])
            #expect(result["from"] == "network", "profiles share no response")
        }
        let types: JSON = ["cookies", "diskCache", "hsts"]
        let work: JSON = ["types": types, "profile": "work"]
        let records = try await local.call("data.records", work)["records"]
        #expect(records?.arrayValue?.count == 1 && records?[0]?["count"] == 3)
        let removed = try await local.call("data.remove", work)
        #expect(removed == ["removed": ["diskCache": 1, "hsts": 1, "cookies": 1]])
        #expect(try await local.call("data.records", work) == ["records": []])
        let rest = try await local.call("data.records", ["types": types])["records"]
        #expect(rest?[0]?["count"] == 3)
        let error = await #expect(throws: BridgeError.self) {
            try await local.call("data.records", ["types": types, "profile": "no/name"])
        }
        #expect(error?.code == .optionsInvalid)
        await bridge.stop()
    }

    @Test("A private profile stores no responses")
    func privateProfile() async throws {
        let server = try ScriptedServer(["*": Script.response("ok", headers: "Cache-Control: max-age=600\r\n")])
        let bridge = try await TestBridge.start(.cookies(), .fetch(), configuration: ["fetch": Fetching.open])
        let local = await bridge.session()
        let options: JSON = ["url": server.url("/"), "profile": "private:1"]
        for _ in 0..<2 {
            let result = try await local.call("http.fetch", options)
            #expect(result["from"] == "network" && result["cache"]?["state"] == "bypass")
        }
        let error = await #expect(throws: BridgeError.self) {
            try await local.call(
                "http.fetch", ["url": server.url("/"), "profile": "private:1", "cache": "only-if-cached"])
        }
        #expect(error?.code == "http.cache_miss")
        #expect(try await local.call("http.cache.info")["count"] == 0)
        await bridge.stop()
    }
}

extension JSONObject {
    /// Returns this object with one more member.
    fileprivate func adding(_ key: String, _ value: JSON) -> JSONObject {
        var object = self
        object[key] = value
        return object
    }
}
