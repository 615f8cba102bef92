import HTTPRules
import TaskKit
import TaskKitTesting
import TestSupport
import Testing

@testable import FetchTasks

@Suite("Redirects", .timeLimit(.minutes(20)), .enabled(if: ScriptedServer.isThere, "needs /usr/bin/python3"))
struct RedirectTests {
    private func withServer(_ script: JSON, _ body: (PluginBridge, ScriptedServer) async throws -> Void) async throws {
        let server = try ScriptedServer(script)
        try await withPlugin(.fetch(), in: .inProcess, configuration: Fetching.open) { try await body($0, server) }
    }

    @Test("The result contains the redirects and the final URL", arguments: [301, 302, 303, 307, 308])
    func way(status: Int) async throws {
        let script: JSON = ["/a": Script.redirect(status, to: "b?c"), "/b?c": Script.response("there")]
        try await withServer(script) { bridge, server in
            let result = try await bridge.call("http.fetch", ["url": server.url("/a#d"), "as": "text"])
            #expect(result["body"]?["text"] == "there")
            #expect(result["url"] == server.url("/b?c#d"))
            #expect(result["redirects"] == [["status": .number(JSONNumber(status)), "url": server.url("/a#d")]])
        }
    }

    @Test(
        "The status decides whether the method and the body are kept",
        arguments: [(301, "GET", ""), (302, "GET", ""), (303, "GET", ""), (307, "POST", "abc"), (308, "POST", "abc")])
    func methods(status: Int, method: String, body: String) async throws {
        let script: JSON = ["/a": Script.redirect(status, to: "/b"), "/b": Script.response("")]
        try await withServer(script) { bridge, server in
            let options: JSON = ["url": server.url("/a"), "method": "POST", "body": ["text": "abc"]]
            try await bridge.call("http.fetch", options)
            let second = try await Fetching.seen(server, bridge).last
            #expect(second?["line"] == .string("\(method) /b HTTP/1.1"))
            #expect(second?["body"] == .string(body))
            #expect((Fetching.header("content-type", of: second) == nil) == body.isEmpty)
        }
    }

    @Test("At most 20 redirects are followed, and none if the option redirect forbids it")
    func loops() async throws {
        try await withServer(["/": Script.redirect(302, to: "/")]) { bridge, server in
            let error = await Fetching.error(bridge, ["url": server.url("/")])
            #expect(error?.code == "http.redirects" && error?.data == ["url": server.url("/")])
            let seen = try await Fetching.seen(server, bridge)
            #expect(seen.count == 21)
            let forbidden = await Fetching.error(bridge, ["url": server.url("/"), "redirect": "error"])
            #expect(forbidden?.code == "http.redirects")
            let manual = try await bridge.call("http.fetch", ["url": server.url("/"), "redirect": "manual"])
            #expect(manual["status"] == 302 && manual["redirects"] == [])
        }
    }

    @Test("If a redirect leads to an unreachable server, the error states that a request was sent")
    func unreachable() async throws {
        let port = try BoundPort()
        let target: JSON = .string("http://127.0.0.1:\(port.number)/")
        try await withServer(["/": Script.redirect(303, to: target)]) { bridge, server in
            let direct = await Fetching.error(bridge, ["url": target])
            #expect(direct?.code == "http.connect" && direct?.data?["started"] == false)
            let options: JSON = ["url": server.url("/"), "method": "POST", "body": ["text": "abc"]]
            let error = await Fetching.error(bridge, options)
            #expect(error?.code == "http.connect" && error?.data?["started"] == true && error?.isTransient == true)
        }
    }

    @Test("Secret headers are not sent to another origin")
    func secrets() async throws {
        let other = try ScriptedServer(["/": Script.response("")])
        let script: JSON = [
            "/same": Script.redirect(302, to: "/end"), "/end": Script.redirect(302, to: other.url("/")),
        ]
        try await withServer(script) { bridge, server in
            let headers: JSON = ["Authorization": "a", "Cookie": "b", "X-Api-Key": "c", "X-Trace": "d"]
            try await bridge.call("http.fetch", ["url": server.url("/same"), "headers": headers])
            let same = try await Fetching.seen(server, bridge).last
            let elsewhere = try await Fetching.seen(other, bridge).first
            for name in ["Authorization", "Cookie", "X-Api-Key"] {
                #expect(Fetching.header(name, of: same) != nil)
                #expect(Fetching.header(name, of: elsewhere) == nil)
            }
            #expect(Fetching.header("X-Trace", of: elsewhere) == "d")
        }
    }

    @Test("A stream body is sent again if it fits in 1 MiB, otherwise the fetch fails")
    func streams() async throws {
        let script: JSON = [
            "/a": .array([["read": true]] + (Script.redirect(307, to: "/b").arrayValue ?? [])),
            "/b": .array([["read": true]] + (Script.response("ok").arrayValue ?? [])),
        ]
        let server = try ScriptedServer(script)
        try await withPlugin(.fetch(), in: .inProcess, configuration: Fetching.open) { bridge in
            let session = try await bridge.session()
            for (count, code) in [(1 << 19, nil), (2 << 20, "http.body_used")] as [(Int, ErrorCode?)] {
                let stream = try await session.makeStream([UInt8](repeating: 0x61, count: count), type: nil)
                let options: JSON = [
                    "url": server.url("/a"), "method": "POST", "body": ["stream": .string(stream.name)],
                ]
                do {
                    try await session.call("http.fetch", options, timeout: .seconds(600))
                    #expect(code == nil)
                } catch let error as BridgeError {
                    #expect(error.code == code)
                }
            }
        }
    }

    @Test("A redirect from https to http is refused, unless the setting allows it")
    func downgrade() throws {
        var head = ResponseHead(status: 302, reason: "", version: "h2", headers: HeaderList())
        let isField = head.headers.append(name: "Location", value: "http://b.example/")
        #expect(isField)
        var settings = FetchSettings()
        let url = try WebURL("https://a.example/")
        let error = #expect(throws: BridgeError.self) { try Redirects.target(of: head, from: url, settings) }
        #expect(error?.data == ["reason": "downgrade", "host": "b.example"])
        settings.allowsDowngrade = true
        #expect(try Redirects.target(of: head, from: url, settings).text == "http://b.example/")
    }

    @Test("A page's own site is its scheme and registrable domain, and a page must not set forbidden headers")
    func pages() throws {
        let caller = Caller(session: 1, uid: 1000, gid: 1000, pid: 1, origin: "https://app.example.org")
        let reach = Reach(caller, PublicSuffixList())
        for url in ["https://app.example.org/", "https://api.example.org:8443/"] {
            #expect(try reach.isOwnSite(WebURL(url)))
        }
        for url in ["http://app.example.org/", "https://example.com/", "https://org/"] {
            #expect(try !reach.isOwnSite(WebURL(url)))
        }
        let odd = Reach(Caller(session: 1, uid: 1, gid: 1, pid: 1, origin: "app://x"), nil)
        #expect(try !odd.isOwnSite(WebURL("http://x/")))
        for name in ["Cookie", "origin", "Sec-Fetch-Site", "Referer"] {
            #expect(throws: BridgeError.self) { try RequestCheck(isPage: true).fields([(name, "a")]) }
            #expect(try RequestCheck(isPage: false).fields([(name, "a")]).count == 1)
        }
        #expect(throws: BridgeError.self) {
            try RequestCheck(isPage: true).fields([("X-HTTP-Method-Override", "GET, trace")])
        }
    }
}
