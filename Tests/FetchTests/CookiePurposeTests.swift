import TaskKit
import TaskKitTesting
import TestSupport
import Testing

@testable import CookiesTasks
@testable import FetchTasks

/// The purposes of both plugins for a program or a container, each tested once and end to end.
@Suite(
    "Purposes of cookies", .enabled(if: ScriptedServer.isThere, "needs /usr/bin/python3"), .timeLimit(.minutes(20)))
struct CookiePurposeTests {
    private static let url: JSON = "https://shop.example/"

    private func withBridge(_ body: (TestBridge, TestSession) async throws -> Void) async throws {
        let bridge = try await TestBridge.start(
            .cookies(), .fetch(), configuration: ["fetch": ["private_networks": ["127.0.0.0/8", "::1/128"]]],
            daemonUID: 1000)
        do { try await body(bridge, await bridge.session()) } catch {
            await bridge.stop()
            throw error
        }
        await bridge.stop()
    }

    private static func set(_ session: TestSession, _ line: JSON, _ more: JSONObject = [:]) async throws {
        var options: JSONObject = ["url": url, "line": line]
        for (key, value) in more { options[key] = value }
        try await session.call("cookies.set", .object(options))
    }

    private static func names(_ cookies: JSON?) -> [String] {
        (cookies?.arrayValue ?? []).compactMap { $0["name"]?.stringValue }.sorted()
    }

    @Test("A web view gets the user's cookies, HttpOnly ones too, before its first request, and later changes")
    func intoTheView() async throws {
        try await withBridge { bridge, program in
            try await Self.set(program, "sid=1; HttpOnly")
            let container = await bridge.session()
            let first = try await container.call("cookies.attach", ["replica": "web"])
            #expect(first["cookies"]?[0]?["name"] == "sid" && first["cookies"]?[0]?["value"] == "1")
            try await Self.set(program, "later=2")
            let event = await container.nextEvent()
            #expect(event.data["changes"]?[0]?["cookie"]?["name"] == "later")
        }
    }

    @Test("Cookies that a web view sets are applied; HttpOnly ones stay hidden from pages")
    func outOfTheView() async throws {
        try await withBridge { bridge, program in
            let container = await bridge.session()
            try await container.call("cookies.attach", ["replica": "web"])
            let cookie: JSON = ["name": "sid", "value": "1", "host": "shop.example", "httpOnly": true]
            let change: JSON = ["change": "set", "cookie": cookie, "base": 0]
            try await container.call("cookies.apply", ["replica": "web", "changes": [change]])
            #expect(try await program.call("cookies.header", ["url": Self.url])["header"] == "sid=1")
            let page = await bridge.session(origin: "https://shop.example")
            #expect(try await page.call("cookies.get")["cookies"] == [])
        }
    }

    @Test("Cookies can be set, found, deleted and watched")
    func setGetDeleteWatch() async throws {
        try await withBridge { _, program in
            try await program.call("cookies.watch")
            try await Self.set(program, "a=1")
            #expect(await program.nextEvent().data["changes"]?[0]?["change"] == "set")
            #expect(Self.names(try await program.call("cookies.get", ["url": Self.url])["cookies"]) == ["a"])
            try await program.call("cookies.delete", ["url": Self.url, "name": "a"])
            #expect(await program.nextEvent().data["changes"]?[0]?["change"] == "removed")
            #expect(try await program.call("cookies.get")["cookies"] == [])
        }
    }

    @Test("Several root domains are seeded in one call, and only once")
    func seed() async throws {
        try await withBridge { _, program in
            let seed: JSON = [
                "seed": "login", "domains": ["a.example", "b.example"], "cookies": [["name": "t", "value": "1"]],
                "once": true,
            ]
            #expect(try await program.call("cookies.seed", seed)["set"] == 2)
            try await program.call("cookies.delete", ["domain": "a.example"])
            #expect(try await program.call("cookies.seed", seed)["set"] == 0, "what was removed stays so")
            for (host, header) in [("a.example", ""), ("www.b.example", "t=1")] as [(String, JSON)] {
                let answer = try await program.call("cookies.header", ["url": .string("https://\(host)/")])
                #expect(answer["header"] == header)
            }
        }
    }

    @Test("A script sets a page's cookies, with values that cannot end the script, and skips HttpOnly ones")
    func script() async throws {
        try await withBridge { _, program in
            try await Self.set(program, "mark=</script>")
            try await Self.set(program, "sid=1; HttpOnly")
            let answer = try await program.call("cookies.script", ["url": Self.url])
            let text = try #require(answer["script"]?.stringValue)
            #expect(text.contains("mark=") && text.contains("document.cookie") && text.contains("shop.example"))
            #expect(!text.contains("</script>"))
            #expect(Self.names(answer["skipped"]) == ["sid"])
        }
    }

    @Test("A request that another program makes gets its Cookie header")
    func header() async throws {
        try await withBridge { _, program in
            try await Self.set(program, "a=1")
            try await Self.set(program, "b=2; Path=/cart")
            let answer = try await program.call("cookies.header", ["url": "https://shop.example/cart"])
            #expect(answer == ["header": "b=2; a=1", "names": ["b", "a"]])
        }
    }

    @Test("A redirect to another host sends only that host's cookies")
    func redirect() async throws {
        let server = try ScriptedServer(["/end": Script.response("")])
        let first = try ScriptedServer([
            "/": Script.response(
                "", status: "302 Found",
                headers: "Set-Cookie: here=1\r\nLocation: http://localhost:\(server.port)/end\r\n")
        ])
        try await withBridge { _, program in
            let there: JSON = ["url": server.url("/", host: "localhost"), "line": "there=1"]
            try await program.call("cookies.set", there)
            try await program.call("http.fetch", ["url": first.url("/")])
            let options: JSON = ["url": server.url("/_seen", host: "localhost"), "credentials": "omit"]
            let seen = try await program.call("http.fetch", options)["body"]?["json"]
            #expect(Fetching.header("Cookie", of: seen?[0]) == "there=1")
        }
    }

    @Test("A session cookie with persist survives a reboot, others do not")
    func persist() async throws {
        let folder = try TemporaryFolder()
        for boot in ["first", "second"] {
            var clocks = CookieClocks()
            clocks.boot = { boot }
            let bridge = try await TestBridge.start(
                .cookies(clocks), stateDirectory: folder.path, daemonUID: 1000)
            let program = await bridge.session()
            if boot == "first" {
                try await Self.set(program, "login=1", ["persist": true])
                try await Self.set(program, "other=1")
            }
            let names = Self.names(try await program.call("cookies.get")["cookies"])
            #expect(names == (boot == "first" ? ["login", "other"] : ["login"]))
            await bridge.stop()
        }
    }

    @Test("A pinned cookie stays when a web view reports it as removed")
    func pin() async throws {
        try await withBridge { bridge, program in
            try await Self.set(program, "login=1", ["pin": true])
            let container = await bridge.session()
            let first = try await container.call("cookies.attach", ["replica": "web"])
            let change: JSON = [
                "change": "removed", "key": ["name": "login", "host": "shop.example"],
                "base": first["version"] ?? nil,
            ]
            let answer = try await container.call("cookies.apply", ["replica": "web", "changes": [change]])
            #expect(answer["refused"]?[0]?["reason"] == "pinned")
            #expect(answer["refused"]?[0]?["current"]?["value"] == "1", "the web view gets it back")
            #expect(Self.names(try await program.call("cookies.get")["cookies"]) == ["login"])
        }
    }
}
