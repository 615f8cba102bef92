import HTTPRules
import TaskKit
import TaskKitTesting
import TestSupport
import Testing

@testable import FetchTasks

/// The purposes of requests for a program or a page, each tested once and end to end.
@Suite(
    "Purposes of requests", .enabled(if: ScriptedServer.isThere, "needs /usr/bin/python3"), .timeLimit(.minutes(20)))
struct RequestPurposeTests {
    private static let stored = "ETag: \"1\"\r\nCache-Control: max-age=60\r\nContent-Type: text/plain\r\n"

    // MARK: The cache

    @Test(
        "The result of each of the six policies states whether the response exists, expired and changed",
        arguments: [
            (0, "cache", [true, true, false]), (1, "network", [nil, nil, nil]), (2, "cache", [true, nil, nil]),
            (3, "cache", [true, nil, nil]), (4, "network", [nil, nil, nil]), (5, "cache", [true, true, false]),
        ] as [(Int, JSON, [Bool?])])
    func policies(policy: Int, from: JSON, steps: [Bool?]) async throws {
        let full = Script.response("abc", headers: Self.stored)
        // Confirms the stored response if the policy validates.
        let turns: JSON = [full, policy == 1 || policy == 4 ? full : Script.response("", status: "304 Same")]
        try await CachingBridge.with(["/": [["turns": turns]]]) { stage, server in
            try await stage.fetch(server.url("/"))
            stage.clock.advance(61)
            let second = try await stage.fetch(server.url("/"), ["cache": .number(JSONNumber(policy))])
            #expect(second["from"] == from && second["body"]?["text"] == "abc")
            let reported = second["cache"]?["steps"]
            let names = ["exists", "expired", "changed"]
            for (name, step) in zip(names, steps) where step != nil {
                #expect(reported?[name]?.boolValue == step, "\(name): \(reported?.text ?? "")")
            }
        }
    }

    @Test("Cache-Control, Expires, ETag and Last-Modified apply, and a 304 confirms the stored response")
    func validators() async throws {
        let date = "Date: Sun, 01 Mar 2026 00:04:16 GMT\r\n"
        let ends = "Expires: Sun, 01 Mar 2026 00:05:16 GMT\r\n"
        let modified = "Last-Modified: Sat, 28 Feb 2026 00:00:00 GMT\r\n"
        let same = Script.response("", status: "304 Same")
        let script: JSON = [
            "/max-age": [["turns": [Script.response("abc", headers: Self.stored), same]]],
            "/expires": [["turns": [Script.response("abc", headers: date + ends + modified), same]]],
            "/no-store": Script.response("abc", headers: "Cache-Control: no-store\r\n"),
        ]
        try await CachingBridge.with(script) { stage, server in
            for (path, field, value) in [
                // First, because the clock must still be at the response's Date.
                ("/expires", "If-Modified-Since", "Sat, 28 Feb 2026 00:00:00 GMT"),
                ("/max-age", "If-None-Match", "\"1\""),
            ] {
                try await stage.fetch(server.url(path))
                #expect(try await stage.fetch(server.url(path))["cache"]?["state"] == "fresh", "\(path)")
                stage.clock.advance(61)
                let third = try await stage.fetch(server.url(path))
                #expect(third["cache"]?["state"] == "revalidated", "\(path)")
                let seen = try await stage.seen(server)
                #expect(Fetching.header(field, of: seen.last) == value)
            }
            for _ in 0..<2 { #expect(try await stage.fetch(server.url("/no-store"))["from"] == "network") }
        }
    }

    @Test("Website data is listed by site and type, and can be removed since a time")
    func websiteData() async throws {
        try await CachingBridge.with(["*": Script.response("abc", headers: Self.stored)]) { stage, server in
            let session = await stage.bridge.session(uid: 1000)
            #expect(try await session.call("data.types")["types"]?.arrayValue?.contains("diskCache") == true)
            try await stage.fetch(server.url("/old"))
            stage.clock.advance(10)
            let since = stage.clock.now.seconds
            try await stage.fetch(server.url("/new"))
            let record = try await session.call("data.records")["records"]?[0]
            #expect(record?["name"] == "127.0.0.1" && record?["types"] == ["diskCache"] && record?["count"] == 2)
            let options: JSON = ["types": ["diskCache"], "since": .number(JSONNumber(since))]
            #expect(try await session.call("data.remove", options) == ["removed": ["diskCache": 1]])
            #expect(try await stage.fetch(server.url("/old"))["from"] == "cache")
            #expect(try await stage.fetch(server.url("/new"))["from"] == "network")
        }
    }

    // MARK: Interceptors

    @Test("The newest interceptor is called first, and is not called for its own request")
    func chain() async throws {
        let order = Noted<String>()
        let newer = Plugin("newer", version: "1.0.0").interceptor(
            NewerInterceptor { call in
                order.note("newer")
                var options = try call.options.objectValue ?? [:]
                options["headers"] = [["X-Mark", "1"]]
                // Its own request replaces the caller's.
                let answer: JSON = try await call.call("http.load", JSON.object(options))
                return .answer(answer)
            })
        try await LoadChain.with(["*": Script.response("ok")], newer: newer) { call in
            order.note("older \(try call.options["headers"]?.text ?? "")")
            return .pass
        } _: { bridge, server in
            let session = await bridge.session()
            let result = try await session.call("http.fetch", ["url": server.url("/"), "as": "text"])
            #expect(result["body"]?["text"] == "ok")
            #expect(order.all == ["newer", #"older [["X-Mark","1"]]"#])
        }
    }

    @Test("Interceptors mock a request, answer with a file, refuse it, or move it to another host")
    func interceptors() async throws {
        let test = try ScriptedServer(["*": Script.response("from the test host")])
        let (there, origin) = (test.url("/"), "http://127.0.0.1:\(test.port)")
        let folder = try TemporaryFolder()
        let image = try folder.write("GIF89a", to: "a.gif")
        let plugin = Plugin("chain", version: "1.0.0") { Door() }.interceptor(
            ChainInterceptor { call in
                var options = try call.options.objectValue ?? [:]
                switch options["url"]?.stringValue?.split(separator: "/").last {
                case "mock": return .answer(["status": 200, "body": ["json": ["mocked": true]]] as JSON)
                case "filtered": throw BridgeError("filter.refused", "not this one")
                case "a.gif":
                    let headers: JSON = [["Content-Type", "image/gif"]]
                    return .answer(
                        ["status": 200, "headers": headers, "body": ["text": .string(contents(of: image))]] as JSON)
                default:
                    options["url"] = there
                    options["to"] = .string(origin)
                    return .rewrite(JSON.object(options))
                }
            })
        let bridge = try await TestBridge.start(.fetch(), plugin, configuration: ["fetch": Fetching.open])
        let session = await bridge.session()
        func body(_ path: String) async throws -> JSON? {
            try await session.call("http.fetch", ["url": .string("https://app.example/\(path)")])["body"]
        }
        #expect(try await body("mock") == ["json": ["mocked": true]])
        #expect(try await body("a.gif") == ["base64": "R0lGODlh"])
        #expect(try await body("moved") == ["base64": "ZnJvbSB0aGUgdGVzdCBob3N0"])
        let error = await #expect(throws: BridgeError.self) { try await body("filtered") }
        #expect(error?.code == "filter.refused")
        await bridge.stop()
    }

    @Test("An offline package answers while the plugin is offline")
    func package() async throws {
        let archive = try TestPackage.archive("1", base: "https://app.example/", ["index.html": "<p>"])
        try await withPlugin(.fetch(), in: .inProcess, configuration: TestPackage.configuration()) { bridge in
            try await TestPackage.install(archive, bridge)
            try await bridge.call("http.offline", ["on": true])
            let result = try await bridge.call("http.fetch", ["url": "https://app.example/"])
            #expect(result["from"] == "package" && result["body"]?["text"] == "<p>")
        }
    }

    // MARK: Additions to each request

    @Test("Public parameters are added to URLs and headers, and http.parameters returns them")
    func parameters() async throws {
        let server = try ScriptedServer(["*": Script.response("")])
        var section = Fetching.open.objectValue ?? [:]
        let origin = "http://127.0.0.1:\(server.port)"
        section["parameters"] = [
            ["origins": [.string(origin)], "query": ["uid": "${uid}"], "headers": ["X-Client": "test"]]
        ]
        let bridge = try await TestBridge.start(.fetch(), configuration: ["fetch": .object(section)], daemonUID: 1000)
        let session = await bridge.session(uid: 1000)
        try await session.call("http.fetch", ["url": server.url("/?q=1")])
        let sent = try await session.call("http.parameters", ["url": server.url("/")])
        #expect(sent == ["query": [["uid", "1000"]], "headers": [["X-Client", "test"]]])
        let requests = try await seenRequests(server)
        #expect(requests.first?["line"] == "GET /?q=1&uid=1000 HTTP/1.1")
        #expect(Fetching.header("X-Client", of: requests.first) == "test")
        await bridge.stop()
    }

    /// Returns the requests that a server received, through a bridge without parameters.
    private func seenRequests(_ server: ScriptedServer) async throws -> [JSON] {
        try await withPlugin(.fetch(), in: .inProcess, configuration: Fetching.open) { bridge in
            try await Fetching.seen(server, bridge)
        }
    }

    @Test("The user agent is set by a setting or a header, and can have a suffix")
    func userAgent() async throws {
        let server = try ScriptedServer(["*": Script.response("")])
        for (setting, headers, expected) in [
            (["user_agent": "A/1"], [:], "A/1"), (["user_agent": "A/1", "user_agent_append": "B/2"], [:], "A/1 B/2"),
            (["user_agent": "A/1"], ["User-Agent": "C/3"], "C/3"),
        ] as [(JSONObject, JSON, String)] {
            var section = Fetching.open.objectValue ?? [:]
            for (key, value) in setting { section[key] = value }
            try await withPlugin(.fetch(), in: .inProcess, configuration: .object(section)) { bridge in
                try await bridge.call("http.fetch", ["url": server.url("/"), "headers": headers])
                let seen = try await Fetching.seen(server, bridge)
                let own = seen.last { $0["line"] == "GET / HTTP/1.1" }
                #expect(Fetching.header("User-Agent", of: own) == expected)
            }
        }
    }

    @Test("A long download is returned as a stream")
    func download() async throws {
        let script: JSON = [
            "/": [["send": "HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n"], ["repeat": "a", "times": 3_000_000]]
        ]
        let server = try ScriptedServer(script)
        try await withPlugin(.fetch(), in: .inProcess, configuration: Fetching.open) { bridge in
            let session = try await bridge.session()
            let result = try await session.call("http.fetch", ["url": server.url("/"), "as": "stream"])
            let bytes = try await session.readStream(result["body"]?["stream"]?.stringValue ?? "")
            #expect(bytes.count == 3_000_000)
        }
    }
}
