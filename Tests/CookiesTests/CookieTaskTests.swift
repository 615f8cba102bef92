import TaskKit
import TaskKitTesting
import Testing

@testable import CookiesTasks

@Suite("The cookie tasks", .timeLimit(.minutes(20)))
struct CookieTaskTests {
    @Test("The plugin passes its own check")
    func conforms() throws { try Plugin.cookies().check() }

    @Test("Cookies can be set, found, watched and removed in every environment", arguments: PluginEnvironment.all)
    func everywhere(environment: PluginEnvironment) async throws {
        try await withPlugin(.cookies(), in: environment) { bridge in
            let session = try await bridge.session()
            try await session.subscribe("cookies.changed")
            let watched = try await session.call("cookies.watch")
            #expect(watched["version"]?.int64Value == 0)
            // Without Max-Age, since a plugin process uses the machine's clock.
            let set = try await session.call(
                "cookies.set", ["url": "https://shop.example/cart/", "line": "id=7; Secure; HttpOnly"])
            let version = try #require(set["version"]?.int64Value)
            let event = await session.nextEvent()
            #expect(event.name == "cookies.changed")
            #expect(event.data["profile"] == "default")
            #expect(event.data["version"]?.int64Value == version)
            #expect(event.data["changes"]?[0]?["cookie"]?["value"] == "7")
            let got = try await session.call("cookies.get", ["url": "https://shop.example/cart/x"])
            #expect(got["cookies"]?[0]?["name"] == "id")
            #expect(got["cookies"]?[0]?["httpOnly"] == true)
            let removed = try await session.call("cookies.delete", ["domain": "shop.example"])
            #expect(removed["removed"] == 1)
            let gone = await session.nextEvent()
            #expect(gone.data["changes"]?[0]?["key"]?["host"] == "shop.example")
            #expect(gone.data["changes"]?[0]?["cause"] == "deleted")
            let since = try await session.call("cookies.watch", ["since": .number(JSONNumber(version))])
            #expect(since["changes"]?.arrayValue?.count == 1)
        }
    }

    @Test(
        "An invalid cookie is refused with the reason",
        arguments: [
            ("https://a.example.co.uk/", "a=1; Domain=co.uk", "public_suffix"),
            ("https://a.example/", "a=1; Domain=b.example", "domain"), ("http://a.example/", "a=1; Secure", "secure"),
            ("https://a.example/", "__Host-a=1; Secure; Domain=a.example", "prefix"),
            ("https://a.example/", "a=\u{1}", "invalid"), ("https://a.example/", "=", "invalid"),
            ("https://a.example/", "a=" + String(repeating: "x", count: 4096), "too_large"),
        ])
    func refusals(url: String, line: String, reason: String) async throws {
        try await withCookies { bridge in
            let session = await bridge.session()
            let error = await session.error("cookies.set", ["url": .string(url), "line": .string(line)])
            #expect(error?.code == "cookie.refused")
            #expect(error?.data == ["reason": .string(reason)])
            let pairs = try await session.pairs()
            #expect(pairs == [])
        }
    }

    @Test("A name of 4,095 bytes is stored, and bytes that are not UTF-8 are returned in base 64")
    func bytes() async throws {
        try await withCookies { bridge in
            let session = await bridge.session()
            let name = String(repeating: "n", count: 4095)
            try await session.set("https://a.example/", "\(name)=1")
            try await session.call(
                "cookies.set", ["cookie": ["name": "b", "valueBase64": "/w==", "host": "a.example"]])
            let cookies = try await session.call("cookies.get")["cookies"]?.arrayValue ?? []
            #expect(cookies[0]["name"]?.stringValue?.utf8.count == 4095)
            #expect(cookies[1]["valueBase64"] == "/w==" && cookies[1]["value"] == nil)
        }
    }

    @Test(
        "Invalid and unknown options are refused",
        arguments: [
            ("cookies.set", [:]), ("cookies.set", ["line": "a=1"]), ("cookies.set", ["url": "ftp://a", "line": "a=1"]),
            ("cookies.set", ["line": "a=1", "cookie": ["host": "a.example", "name": "a"]]),
            ("cookies.get", ["domian": "a.example"]), ("cookies.delete", [:]),
            ("cookies.delete", ["url": "https://a.example/", "all": true]),
            ("cookies.get", ["profile": "../x"]), ("cookies.get", ["profile": "private:"]),
            ("cookies.watch", ["since": 1, "stop": true]),
        ] as [(String, JSON)])
    func unfit(task: String, options: JSON) async throws {
        try await withCookies { bridge in
            let error = await bridge.session().error(task, options)
            #expect(error?.code == "options.invalid")
        }
    }

    @Test("Deleting a missing cookie fails with cookie.not_found")
    func nothing() async throws {
        try await withCookies { bridge in
            let session = await bridge.session()
            #expect(await session.error("cookies.delete", ["domain": "a.example"])?.code == "cookie.not_found")
            try await session.set("https://a.example/", "a=1")
            #expect(
                await session.error("cookies.delete", ["key": ["host": "a.example", "name": "b"]])?.code
                    == "cookie.not_found")
            try await session.call("cookies.delete", ["key": ["host": "a.example", "name": "a"]])
            #expect(try await session.pairs() == [])
        }
    }

    @Test("Users and profiles have separate cookies")
    func separation() async throws {
        try await withCookies { bridge in
            let ada = await bridge.session()
            let root = await bridge.session(uid: 0)
            try await ada.set("https://a.example/", "a=1")
            try await ada.call(
                "cookies.set", ["url": "https://a.example/", "line": "a=2", "profile": "work"])
            #expect(try await root.pairs() == [])
            #expect(try await ada.pairs() == ["a=1"])
            #expect(try await ada.pairs(["profile": "work"]) == ["a=2"])
        }
    }

    @Test("A feed is returned in pages, and a version outside it gets cursor.expired")
    func pages() async throws {
        try await withCookies { bridge in
            let session = await bridge.session()
            let value = String(repeating: "v", count: 4000)
            for index in 0..<120 { try await session.set("https://a.example/", "c\(index)=\(value)") }
            var names: Set<String> = []
            var options: JSON = [:]
            var pages = 0
            repeat {
                let page = try await session.call("cookies.get", options)
                names.formUnion((page["cookies"]?.arrayValue ?? []).compactMap { $0["name"]?.stringValue })
                pages += 1
                options = page["more"] == true ? ["after": page["version"] ?? nil] : [:]
            } while options != [:]
            #expect(names.count == 120 && pages == 2)
            #expect(await session.error("cookies.watch", ["since": 5])?.code == "cursor.expired")
            #expect(await session.error("cookies.watch", ["since": 9_000_000_000_000_000])?.code == "cursor.expired")
        }
    }
}
