import TaskKit
import TaskKitTesting
import TestSupport
import Testing

@testable import FetchTasks

@Suite(
    "Fetching from the cache", .enabled(if: ScriptedServer.isThere, "needs /usr/bin/python3"), .timeLimit(.minutes(20)))
struct CacheFetchTests {
    private static let fresh = "Cache-Control: max-age=60\r\nContent-Type: text/plain\r\n"

    /// Returns a fresh response.
    private static func fresh(_ body: String, _ headers: String = "") -> JSON {
        Script.response(body, headers: fresh + headers)
    }

    @Test("A response is stored and answers the next request with its age")
    func hit() async throws {
        try await CachingBridge.with(["/": Self.fresh("abc")]) { stage, server in
            let first = try await stage.fetch(server.url("/"))
            #expect(first["from"] == "network")
            #expect(
                first["cache"] == [
                    "state": "miss", "steps": ["exists": false, "expired": nil, "changed": nil], "stored": true,
                ])
            stage.clock.advance(7)
            let second = try await stage.fetch(server.url("/"))
            #expect(second["from"] == "cache")
            #expect(second["body"] == first["body"])
            #expect(second["status"] == 200 && second["reason"] == "OK" && second["protocol"] == "http/1.1")
            #expect(
                second["cache"] == [
                    "state": "fresh", "age": 7, "steps": ["exists": true, "expired": false, "changed": nil],
                    "stored": true,
                ])
            #expect(second["bytes"] == ["wire": 0, "decoded": 3])
            #expect(try await stage.seen(server).count == 1)
        }
    }

    @Test("A stale response is validated: a 304 confirms it, a new response replaces it")
    func validation() async throws {
        let tagged = "ETag: \"1\"\r\n" + Self.fresh
        let script: JSON = [
            "/same": [
                [
                    "turns": [
                        Script.response("abc", headers: tagged),
                        Script.response("", status: "304 Same", headers: tagged),
                    ]
                ]
            ],
            "/other": [
                [
                    "turns": [
                        Script.response("abc", headers: tagged),
                        Script.response("def", headers: "ETag: \"2\"\r\n" + Self.fresh),
                    ]
                ]
            ],
        ]
        try await CachingBridge.with(script) { stage, server in
            for (path, body, state, changed) in [
                ("/same", "abc", "revalidated", false), ("/other", "def", "miss", true),
            ] {
                try await stage.fetch(server.url(path))
                stage.clock.advance(61)
                let second = try await stage.fetch(server.url(path))
                #expect(second["body"]?["text"] == .string(body))
                #expect(second["status"] == 200)
                #expect(second["cache"]?["state"] == .string(state))
                #expect(
                    second["cache"]?["steps"] == ["exists": true, "expired": true, "changed": .bool(changed)])
                let third = try await stage.fetch(server.url(path))
                #expect(third["from"] == "cache" && third["body"]?["text"] == .string(body))
            }
            let seen = try await stage.seen(server)
            #expect(seen.count == 4)
            #expect(Fetching.header("if-none-match", of: seen[1]) == "\"1\"")
        }
    }

    @Test(
        "Each policy works as specified, with each of its names",
        arguments: [
            ("default", "cache", 1), (0, "cache", 1), ("useProtocolCachePolicy", "cache", 1),
            ("reload-local", "network", 2), (1, "network", 2), ("reloadIgnoringLocalCacheData", "network", 2),
            ("force-cache", "cache", 1), (2, "cache", 1), ("NSURLRequestReturnCacheDataElseLoad", "cache", 1),
            ("only-if-cached", "cache", 1), (3, "cache", 1), ("reload", "network", 2), (4, "network", 2),
            ("no-cache", "cache", 2), (5, "cache", 2), ("no-store", "network", 2),
        ] as [(JSON, JSON, Int)])
    func policies(policy: JSON, from: JSON, requests: Int) async throws {
        let tagged = "ETag: \"1\"\r\n" + Self.fresh
        let confirming: JSON = [
            "turns": [
                Script.response("abc", headers: tagged), Script.response("", status: "304 Same", headers: tagged),
            ]
        ]
        let isValidated = policy == "no-cache" || policy == 5
        let script: JSON = ["/": isValidated ? [confirming] : Script.response("abc", headers: tagged)]
        try await CachingBridge.with(script) { stage, server in
            try await stage.fetch(server.url("/"))
            let second = try await stage.fetch(server.url("/"), ["cache": policy])
            #expect(second["from"] == from)
            #expect(second["body"]?["text"] == "abc")
            let seen = try await stage.seen(server)
            #expect(seen.count == requests)
            let control = ["reload": "no-cache", "no-store": "no-cache", "no-cache": "max-age=0"]
            let name = policy.stringValue ?? (policy == 4 ? "reload" : policy == 5 ? "no-cache" : "")
            #expect(requests == 1 || Fetching.header("cache-control", of: seen.last) == control[name])
        }
    }

    @Test("With only-if-cached, a response that is not stored causes http.cache_miss")
    func miss() async throws {
        try await CachingBridge.with(["/": Self.fresh("abc")]) { stage, server in
            for options: JSONObject in [["cache": "only-if-cached"], ["headers": ["Cache-Control": "only-if-cached"]]] {
                let error = await #expect(throws: BridgeError.self) { try await stage.fetch(server.url("/"), options) }
                #expect(error?.code == "http.cache_miss")
            }
            let seen = try await stage.seen(server)
            #expect(seen.isEmpty)
        }
    }

    @Test("Invalid policies, keys and ranges are refused")
    func options() async throws {
        try await CachingBridge.with([:]) { stage, server in
            let wrong: [JSONObject] = [
                ["cache": "sometimes"], ["cache": 6], ["cache": true],
                ["key": .string(String(repeating: "a", count: 1025))],
                ["range": [:]], ["range": ["from": -1]], ["range": ["from": 5, "to": 4]], ["range": ["last": 0]],
                ["range": ["from": 1, "last": 1]], ["range": ["from": 1], "method": "HEAD"],
                ["range": ["from": 1], "headers": ["range": "bytes=1-"]], ["range": "bytes=1-"],
            ]
            for options in wrong {
                let error = await #expect(throws: BridgeError.self) { try await stage.fetch(server.url("/"), options) }
                #expect(error?.code == .optionsInvalid, "\(options)")
            }
        }
    }

    @Test("Another user or another key does not get a stored response")
    func partitions() async throws {
        try await CachingBridge.with(["/": Self.fresh("secret")]) { stage, server in
            try await stage.fetch(server.url("/"))
            #expect(try await stage.fetch(server.url("/"), uid: 0)["from"] == "network")
            #expect(try await stage.fetch(server.url("/"), ["key": "a"])["from"] == "network")
            #expect(try await stage.fetch(server.url("/"), ["key": "a"])["from"] == "cache")
            for (options, uid) in [(["key": "b"], 1000), (["key": "a"], 0)] as [(JSONObject, UInt32)] {
                var options = options
                options["cache"] = "only-if-cached"
                let error = await #expect(throws: BridgeError.self) {
                    try await stage.fetch(server.url("/"), options, uid: uid)
                }
                #expect(error?.code == "http.cache_miss")
            }
        }
    }

    @Test("A body is stored in its coding and decoded for each reader")
    func bodies() async throws {
        let script: JSON = [
            "/coded": [
                [
                    "send": .string(
                        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\(Self.fresh)\r\n")
                ],
                ["gzip": "0123456789", "times": 30_000], ["close": true],
            ],
            "/long": [
                ["send": .string("HTTP/1.1 200 OK\r\nContent-Length: 600000\r\n\(Self.fresh)\r\n")],
                ["repeat": "0123456789", "times": 60_000],
            ],
        ]
        try await CachingBridge.with(script) { stage, server in
            let session = await stage.bridge.session(uid: 1000)
            for (path, times) in [("/coded", 30_000), ("/long", 60_000)] {
                for from: JSON in ["network", "cache", "cache"] {
                    let options: JSON = ["url": server.url(path), "as": "stream"]
                    let result = try await session.call("http.fetch", options)
                    #expect(result["from"] == from)
                    let bytes = try await session.readStream(result["body"]?["stream"]?.stringValue ?? "")
                    #expect(bytes == Array(String(repeating: "0123456789", count: times).utf8))
                }
            }
            let short = await #expect(throws: BridgeError.self) {
                try await stage.fetch(server.url("/long"), ["maxBytes": 1000])
            }
            #expect(short?.code == "http.too_large")
            #expect(try await stage.seen(server).count == 2)
        }
    }

    @Test("Nothing is stored if the caller, the server or the setting forbids it")
    func notStored() async throws {
        let script: JSON = [
            "/": Self.fresh("abc"), "/no": Script.response("abc", headers: "Cache-Control: no-store\r\n"),
        ]
        try await CachingBridge.with(script) { stage, server in
            for (path, options) in [
                ("/no", [:]), ("/", ["cache": "no-store"]), ("/", ["headers": ["Cache-Control": "no-store"]]),
            ] as [(String, JSONObject)] {
                let result = try await stage.fetch(server.url(path), options)
                #expect(result["cache"]?["stored"] == false)
                let error = await #expect(throws: BridgeError.self) {
                    try await stage.fetch(server.url(path), ["cache": "only-if-cached"])
                }
                #expect(error?.code == "http.cache_miss")
            }
        }
        let off: JSON = ["private_networks": ["127.0.0.0/8"], "cache_bytes": 0]
        try await CachingBridge.with(script, configuration: off) { stage, server in
            for _ in 0..<2 {
                let result = try await stage.fetch(server.url("/"))
                #expect(result["from"] == "network" && result["cache"]?["state"] == "bypass")
            }
        }
    }
}
