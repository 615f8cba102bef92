import CookiesTasks
import TaskKit
import TaskKitTesting
import Testing

@testable import FetchTasks

@Suite("Cookies of fetches", .timeLimit(.minutes(20)), .enabled(if: ScriptedServer.isThere, "needs /usr/bin/python3"))
struct FetchCookieTests {
    private static let user: UInt32 = 1000

    /// Runs `body` with a bridge with both plugins, and a server on 127.0.0.1 and localhost.
    private func withServer(_ script: JSON, _ body: (TestBridge, ScriptedServer) async throws -> Void) async throws {
        let server = try ScriptedServer(script)
        let bridge = try await TestBridge.start(
            .cookies(), .fetch(), Plugin("door", version: "1.0.0") { Door() },
            configuration: ["fetch": ["private_networks": ["127.0.0.0/8", "::1/128"]]], daemonUID: Self.user)
        do { try await body(bridge, server) } catch {
            await bridge.stop()
            throw error
        }
        await bridge.stop()
    }

    private static func setting(_ lines: String...) -> JSON {
        Script.response("ok", headers: lines.map { "Set-Cookie: \($0)\r\n" }.joined())
    }

    /// Returns the `Cookie` header of each request for a path.
    private func cookies(_ path: String, _ server: ScriptedServer, _ session: TestSession) async throws -> [String?] {
        let result = try await session.call("http.fetch", ["url": server.url("/_seen"), "credentials": "omit"])
        return (result["body"]?["json"]?.arrayValue ?? [])
            .filter { $0["line"]?.stringValue?.contains(" \(path) ") == true }
            .map { Fetching.header("Cookie", of: $0) }
    }

    @Test("A login's cookies are sent back to its host, and each redirect sends those of its own host")
    func redirect() async throws {
        // The server has one port; its two names are two hosts.
        let script: JSON = [
            "/login": Script.response(
                "", status: "302 Found", headers: "Set-Cookie: sid=1; HttpOnly\r\nLocation: /leave\r\n"),
            "/home": Self.setting("home=2"), "/again": Script.response("ok"),
        ]
        let other = try ScriptedServer(script)
        let leaving = Script.redirect(302, to: other.url("/home", host: "localhost"))
        try await withServer(script.adding("/leave", leaving)) { bridge, server in
            let session = await bridge.session()
            let result = try await session.call("http.fetch", ["url": server.url("/login")])
            #expect(result["url"] == other.url("/home", host: "localhost"))
            try await session.call("http.fetch", ["url": server.url("/again")])
            try await session.call("http.fetch", ["url": server.url("/again", host: "localhost")])
            #expect(try await cookies("/login", server, session) == [nil])
            #expect(try await cookies("/leave", server, session) == ["sid=1"])
            #expect(try await cookies("/home", other, session) == [nil])
            #expect(try await cookies("/again", server, session) == ["sid=1", "home=2"])
        }
    }

    @Test("Cookies of one user or profile are never sent for another")
    func users() async throws {
        try await withServer(["/set": Self.setting("a=1"), "/get": Script.response("")]) { bridge, server in
            let (own, root) = (await bridge.session(), await bridge.session(uid: 0))
            try await own.call("http.fetch", ["url": server.url("/set")])
            try await root.call("http.fetch", ["url": server.url("/get")])
            try await own.call("http.fetch", ["url": server.url("/get"), "profile": "work"])
            try await own.call("http.fetch", ["url": server.url("/get")])
            #expect(try await cookies("/get", server, own) == [nil, nil, "a=1"])
            let error = await #expect(throws: BridgeError.self) {
                try await own.call("http.fetch", ["url": server.url("/get"), "profile": "no profile"])
            }
            #expect(error?.code == .optionsInvalid)
        }
    }

    @Test("A page's fetch sends HttpOnly cookies, the page never sees them, and a page cannot name a profile")
    func pages() async throws {
        let script: JSON = ["/set": Self.setting("a=1; HttpOnly", "b=2"), "/get": Script.response("")]
        try await withServer(script) { bridge, server in
            let page = await bridge.session(origin: "http://127.0.0.1:1")
            let result = try await page.call("door.fetch", ["url": server.url("/set")])
            let fields = (result["headers"]?.arrayValue ?? []).compactMap { $0[0]?.stringValue }
            #expect(fields == ["Content-Length"])
            try await page.call("door.fetch", ["url": server.url("/get")])
            try await page.call("door.fetch", ["url": server.url("/get"), "credentials": "omit"])
            let seen = try await page.call("cookies.get")
            #expect(seen["cookies"]?.arrayValue?.compactMap { $0["name"]?.stringValue } == ["b"])
            let error = await #expect(throws: BridgeError.self) {
                try await page.call("door.fetch", ["url": server.url("/get"), "profile": "work"])
            }
            #expect(error?.code == .permissionDenied)
            #expect(try await cookies("/get", server, await bridge.session()) == ["a=1; b=2", nil])
        }
    }

    @Test("With same-site, a local session's redirect sends no cookies to another site")
    func sameSite() async throws {
        let other = try ScriptedServer(["/set": Self.setting("b=2"), "/end": Script.response("")])
        let script: JSON = ["/": Script.redirect(302, to: other.url("/end", host: "localhost"))]
        try await withServer(script) { bridge, server in
            let session = await bridge.session()
            try await session.call("http.fetch", ["url": other.url("/set", host: "localhost")])
            for credentials: JSON in ["same-site", "include"] {
                try await session.call("http.fetch", ["url": server.url("/"), "credentials": credentials])
            }
            #expect(try await cookies("/end", other, session) == [nil, "b=2"])
        }
    }

    @Test("A caller's own Cookie header replaces stored cookies, and bytes that are not UTF-8 are preserved")
    func fields() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nSet-Cookie: a=\u{E9}\r\n\r\n"
        let script: JSON = ["/set": [["send": .string(head)]], "/get": Script.response("")]
        try await withServer(script) { bridge, server in
            let session = await bridge.session()
            try await session.call("http.fetch", ["url": server.url("/set")])
            try await session.call("http.fetch", ["url": server.url("/get")])
            try await session.call("http.fetch", ["url": server.url("/get"), "headers": ["Cookie": "own=1"]])
            #expect(try await cookies("/get", server, session) == ["a=\u{E9}", "own=1"])
        }
    }
}

extension JSON {
    /// Returns this object with one more member.
    fileprivate func adding(_ key: String, _ value: JSON) -> JSON {
        var object = objectValue ?? [:]
        object[key] = value
        return .object(object)
    }
}
