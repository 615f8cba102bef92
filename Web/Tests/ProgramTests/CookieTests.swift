import BridgeClient
import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite(
    "Cookies of pages", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: WebRun.isPossible && OddServer.isPossible, "\(WebRun.needs); needs openssl"))
struct CookieTests {
    private static let sync = "[storage]\ncookies = \"sync\"\n"

    /// Starts trestle-web with a page that sends no report, and waits until the page is loaded.
    private func start(_ run: WebRun, _ page: String, _ settings: String) async throws {
        let origin = page.split(separator: "/").prefix(2).joined(separator: "//")
        try run.write(profile: "allow = [\"\(origin)\"]\n\(settings)[pool]\nwarm = 0\n", named: "cookies")
        var loads = try await run.bridge.subscribe(to: "web.navigation.finished").makeAsyncIterator()
        try run.start("--profile", "cookies", page)
        try await run.awaitTasks()
        _ = try await loads.next()
    }

    @Test("cookies: the first request sends the daemon's, and the daemon receives those of scripts and responses")
    func bothWays() async throws {
        try await WebRun.with(plugins: ["Cookies"]) { run in
            let odd = try OddServer()
            let url = JSON.string("\(odd.origin)/")
            for line in ["kept=1", "hidden=2; HttpOnly"] {
                _ = try await run.bridge.call(
                    "cookies.set", ["url": url, "line": .string(line)] as JSON, as: JSON.self)
            }
            try await start(run, "\(odd.origin)/headers", Self.sync)
            let headers = try await run.evaluate("return document.body.innerText").stringValue ?? ""
            let field = headers.split(separator: "\n").first { $0.lowercased().hasPrefix("cookie: ") } ?? ""
            #expect(field.contains("kept=1") && field.contains("hidden=2"), "\(headers)")

            let changes = try await run.bridge.subscribe(to: "cookies.changed")
            _ = try await run.bridge.call("cookies.watch", [:] as JSON, as: JSON.self)
            _ = try await run.evaluate("document.cookie = 'script=1'; await fetch('/cookie')")
            var come: [String: Bool] = [:]
            for try await event in changes {
                for change in event.data["changes"]?.arrayValue ?? [] {
                    guard let name = change["cookie"]?["name"]?.stringValue else { continue }
                    come[name] = change["cookie"]?["httpOnly"]?.boolValue
                }
                if come.count == 2 { break }
            }
            #expect(come == ["script": false, "server": true])
            _ = try await run.bridge.call("cookies.delete", ["all": true] as JSON, as: JSON.self)
            #expect(try await run.bridge.call("web.cookies.get", as: JSON.self) == ["cookies": []])
            #expect(try await run.evaluate("return document.cookie") == "")
        }
    }

    @Test("302 caught, request copied with a header: not needed, the request after a redirect has all cookies")
    func redirected() async throws {
        try await WebRun.with(plugins: ["Cookies"]) { run in
            let odd = try OddServer()
            _ = try await run.bridge.call(
                "cookies.set", ["url": .string("\(odd.origin)/"), "line": "kept=1; HttpOnly"] as JSON, as: JSON.self)
            try await start(run, "\(odd.origin)/moved", Self.sync)
            let headers = try await run.evaluate("return document.body.innerText").stringValue ?? ""
            let field = headers.split(separator: "\n").first { $0.lowercased().hasPrefix("cookie: ") } ?? ""
            #expect(field.contains("kept=1") && field.contains("moved=3"), "\(headers)")
        }
    }

    @Test("cookies: both sides are equal after random changes, and each change is published at most once")
    func random() async throws {
        let seed = UInt64(getenv("COOKIE_SEED").map { String(cString: $0) } ?? "") ?? .random(in: 0...999_999)
        let count = Int(getenv("COOKIE_CHANGES").map { String(cString: $0) } ?? "") ?? 1_000
        try await WebRun.with(plugins: ["Cookies"]) { run in
            let origin = run.server.origins[0]
            try run.server.serve("<!doctype html><p>text", as: "page.html")
            try await start(run, "\(origin)/page.html", Self.sync)
            let bridge = run.bridge
            let events = try await bridge.subscribe(to: "cookies.changed")
            _ = try await bridge.call("cookies.watch", [:] as JSON, as: JSON.self)
            async let published = Self.changes(events)
            async let ours: Void = change(bridge, count / 2, "web.cookies", seed)
            async let theirs: Void = change(bridge, count / 2, "cookies", seed + 1)
            _ = try await (ours, theirs)
            let jar = try await run.bridge.call("web.cookies.get", as: JSON.self)
            let profile = try await run.bridge.call("cookies.get", as: JSON.self)
            #expect(comparable(jar) == comparable(profile), "COOKIE_SEED=\(seed)")
            #expect(comparable(jar).count > 0)
            #expect(
                try await run.bridge.call("web.cookies.get", as: JSON.self)["cookies"]?.arrayValue?.count
                    == comparable(jar).count)
            #expect(try await run.bridge.call("cookies.get", as: JSON.self)["version"] == profile["version"])
            _ = try await bridge.call(
                "cookies.set", ["cookie": ["name": "end", "host": "a.example.org", "value": "1"]] as JSON,
                as: JSON.self)
            // Each change changes the profile at most once, wherever it was made.
            #expect(try await published <= count)
        }
    }

    /// Returns the number of published changes of the profile before that of the cookie `end`.
    private static func changes(_ events: EventStream) async throws -> Int {
        var count = 0
        for try await event in events {
            #expect(event.name == "cookies.changed")
            for change in event.data["changes"]?.arrayValue ?? [] {
                if change["cookie"]?["name"] == "end" { return count }
                count += 1
            }
        }
        return count
    }

    /// Sets and deletes cookies with few names, eight at once, so that changes of both sides collide.
    private func change(_ bridge: Bridge, _ count: Int, _ tasks: String, _ seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<(count / 8) {
            let calls = (0..<8).map { _ in Self.randomChange(&generator) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (verb, options) in calls {
                    group.addTask {
                        do throws(BridgeError) {
                            _ = try await bridge.call("\(tasks).\(verb)", options, as: JSON.self)
                        } catch {
                            if error.code != "cookie.not_found" { throw error }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    private static func randomChange(_ generator: inout SeededGenerator) -> (String, JSON) {
        var cookie: JSONObject = [
            "name": .string("abcd".randomElement(using: &generator).map { String($0) } ?? "a"),
            "host": .string(
                ["a.example.org", "b.example.org", "c.example.net"].randomElement(using: &generator) ?? "a"),
            "hostOnly": .bool(Bool.random(using: &generator)),
            "path": .string(["/", "/deep"].randomElement(using: &generator) ?? "/"),
        ]
        if Int.random(in: 0..<10, using: &generator) < 3 { return ("delete", ["key": .object(cookie)]) }
        let isSecure = Bool.random(using: &generator)
        cookie["value"] = .string(String(UInt64.random(in: 0...(.max), using: &generator), radix: 16))
        cookie["secure"] = .bool(isSecure)
        cookie["httpOnly"] = .bool(Int.random(in: 0..<10, using: &generator) < 3)
        let policies = ["lax", "strict", isSecure ? "none" : "lax"]
        cookie["sameSite"] = .string(policies.randomElement(using: &generator) ?? "lax")
        return ("set", ["cookie": .object(cookie)])
    }

    /// Returns the attributes of each cookie that both sides have in common.
    private func comparable(_ answer: JSON) -> Set<String> {
        let cookies = answer["cookies"]?.arrayValue ?? []
        return Set(
            cookies.map { cookie in
                ["name", "host", "hostOnly", "path", "value", "secure", "httpOnly", "sameSite", "expires"]
                    .map { cookie[$0]?.text ?? "-" }.joined(separator: " ")
            })
    }

    @Test("cookies of the container outlive it if its storage is persistent; with none they are not stored")
    func own() async throws {
        try await WebRun.with { run in
            let page = "\(run.server.origins[0])/page.html"
            try run.server.serve("<!doctype html><p>text", as: "page.html")
            let set = "document.cookie = 'a=1; max-age=1000'; return document.cookie"
            try await start(run, page, "[storage]\ncookies = \"none\"\n")
            #expect(try await run.evaluate(set) == "")
            try run.stop()
            try await start(run, page, "[storage]\npersistent = true\n")
            #expect(try await run.evaluate(set) == "a=1")
            _ = try await run.bridge.call("web.cookies.get", as: JSON.self)
            try run.stop()
            try await start(run, page, "[storage]\npersistent = true\n")
            #expect(try await run.evaluate("return document.cookie") == "a=1")
        }
    }
}
