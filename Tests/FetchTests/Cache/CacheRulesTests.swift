import TaskKit
import TaskKitTesting
import TestSupport
import Testing

@testable import FetchTasks

@Suite(
    "The rules of the cache", .enabled(if: ScriptedServer.isThere, "needs /usr/bin/python3"), .timeLimit(.minutes(20)))
struct CacheRulesTests {
    private static let fresh = "Cache-Control: max-age=60\r\nContent-Type: text/plain\r\n"

    private static func fresh(_ body: String, _ headers: String = "") -> JSON {
        Script.response(body, headers: fresh + headers)
    }

    @Test("Responses with Vary are selected by the request's headers")
    func vary() async throws {
        try await CachingBridge.with(["/": Self.fresh("abc", "Vary: X-A\r\n")]) { stage, server in
            for (value, from) in [("1", "network"), ("2", "network"), ("1", "cache"), ("2", "cache")] {
                let result = try await stage.fetch(server.url("/"), ["headers": ["X-A": .string(value)]])
                #expect(result["from"] == .string(from))
            }
        }
    }

    @Test("A response with Vary: Cookie is reused only if the caller sets the same Cookie header")
    func cookies() async throws {
        try await CachingBridge.with(["/": Self.fresh("abc", "Vary: Cookie\r\n")]) { stage, server in
            try await stage.fetch(server.url("/"))
            #expect(try await stage.fetch(server.url("/"))["from"] == "network")
            try await stage.fetch(server.url("/"), ["headers": ["Cookie": "a=1"]])
            #expect(try await stage.fetch(server.url("/"), ["headers": ["Cookie": "a=1"]])["from"] == "cache")
            #expect(try await stage.fetch(server.url("/"), ["headers": ["Cookie": "a=2"]])["from"] == "network")
        }
    }

    @Test("An unsafe request removes the stored responses of its URL and of its Location")
    func invalidation() async throws {
        let changed = Script.response("", status: "201 Made", headers: "Location: /b\r\n")
        let script: JSON = [
            "/a": [["methods": ["GET": Self.fresh("a"), "POST": changed]]], "/b": Self.fresh("b"),
            "/c": Self.fresh("c"),
        ]
        try await CachingBridge.with(script) { stage, server in
            for path in ["/a", "/b", "/c"] { try await stage.fetch(server.url(path)) }
            let post = try await stage.fetch(server.url("/a"), ["method": "POST", "body": ["text": "x"]])
            #expect(post["status"] == 201 && post["cache"]?["state"] == "bypass")
            #expect(try await stage.fetch(server.url("/a"))["from"] == "network")
            #expect(try await stage.fetch(server.url("/b"))["from"] == "network")
            #expect(try await stage.fetch(server.url("/c"))["from"] == "cache")
        }
    }

    @Test("A HEAD is answered from a stored GET")
    func head() async throws {
        try await CachingBridge.with(["/": Self.fresh("abc")]) { stage, server in
            try await stage.fetch(server.url("/"))
            let head = try await stage.fetch(server.url("/"), ["method": "HEAD"])
            #expect(head["from"] == "cache" && head["bytes"]?["decoded"] == 0)
            #expect(try await stage.seen(server).count == 1)
        }
    }

    @Test("Ranges are answered from a stored body, and pieces with the same strong tag are joined")
    func ranges() async throws {
        func piece(_ first: Int, _ text: String) -> JSON {
            Script.response(
                text, status: "206 Part",
                headers: "Content-Range: bytes \(first)-\(first + text.utf8.count - 1)/10\r\nETag: \"1\"\r\n"
                    + Self.fresh)
        }
        let script: JSON = [
            "/whole": Self.fresh("0123456789"),
            "/pieces": [["turns": [piece(0, "01234"), piece(5, "56789")]]],
        ]
        try await CachingBridge.with(script) { stage, server in
            try await stage.fetch(server.url("/whole"))
            for (range, text) in [
                (["from": 2, "to": 4], "234"), (["from": 7], "789"), (["last": 2], "89"),
            ] as [(JSON, JSON)] {
                let part = try await stage.fetch(server.url("/whole"), ["range": range])
                #expect(part["from"] == "cache" && part["status"] == 206 && part["body"]?["text"] == text)
            }
            let none = try await stage.fetch(server.url("/whole"), ["range": ["from": 10]])
            #expect(none["status"] == 416 && none["from"] == "cache")
            for range: JSON in [["from": 0, "to": 4], ["from": 5, "to": 9]] {
                let part = try await stage.fetch(server.url("/pieces"), ["range": range])
                #expect(part["from"] == "network" && part["status"] == 206)
            }
            let whole = try await stage.fetch(server.url("/pieces"))
            #expect(whole["from"] == "cache" && whole["status"] == 200 && whole["body"]?["text"] == "0123456789")
        }
    }

    @Test("A truncated body with a strong tag is continued")
    func resume() async throws {
        let head = "ETag: \"1\"\r\n" + Self.fresh
        let cut: JSON = [
            ["send": .string("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\(head)\r\n01234")], ["close": true],
        ]
        let rest = Script.response("56789", status: "206 Part", headers: "Content-Range: bytes 5-9/10\r\n" + head)
        try await CachingBridge.with(["/": [["turns": [cut, rest]]]]) { stage, server in
            let error = await #expect(throws: BridgeError.self) { try await stage.fetch(server.url("/")) }
            #expect(error?.code == "http.interrupted")
            let whole = try await stage.fetch(server.url("/"))
            #expect(whole["status"] == 200 && whole["body"]?["text"] == "0123456789")
            #expect(whole["cache"]?["steps"]?["changed"] == false)
            let seen = try await stage.seen(server)
            #expect(Fetching.header("range", of: seen.last) == "bytes=5-")
            #expect(Fetching.header("if-range", of: seen.last) == "\"1\"")
            let again = try await stage.fetch(server.url("/"))
            #expect(again["from"] == "cache" && again["body"]?["text"] == "0123456789")
        }
    }

    @Test("A stale response is used when the server fails, if stale-if-error allows it")
    func staleIfError() async throws {
        func lasting(_ more: String) -> JSON {
            [
                [
                    "turns": [
                        Script.response(
                            "abc", headers: "Cache-Control: max-age=60\(more)\r\nContent-Type: text/plain\r\n"),
                        Script.response("broken", status: "503 Down", headers: "Content-Type: text/plain\r\n"),
                        [["close": true]],
                    ]
                ]
            ]
        }
        let script: JSON = ["/lasting": lasting(", stale-if-error=600"), "/plain": lasting("")]
        try await CachingBridge.with(script) { stage, server in
            for path in ["/lasting", "/plain"] { try await stage.fetch(server.url(path)) }
            stage.clock.advance(100)
            for _ in 0..<2 {
                let stale = try await stage.fetch(server.url("/lasting"))
                #expect(stale["body"]?["text"] == "abc" && stale["cache"]?["state"] == "stale")
            }
            #expect(try await stage.fetch(server.url("/plain"))["status"] == 503)
            let error = await #expect(throws: BridgeError.self) { try await stage.fetch(server.url("/plain")) }
            #expect(error?.code == "http.interrupted")
        }
    }

    @Test("With stale-while-revalidate, a stale response is used at once and validated once")
    func staleWhileRevalidate() async throws {
        let headers = "Cache-Control: max-age=60, stale-while-revalidate=600\r\nContent-Type: text/plain\r\n"
        let late: JSON = .array([["wait": "/go"]] + (Script.response("new", headers: headers).arrayValue ?? []))
        let script: JSON = [
            "/": [["turns": [Script.response("old", headers: headers), late]]], "/go": Script.response(""),
        ]
        try await CachingBridge.with(script) { stage, server in
            try await stage.fetch(server.url("/"))
            stage.clock.advance(100)
            for _ in 0..<2 {
                let stale = try await stage.fetch(server.url("/"))
                #expect(stale["body"]?["text"] == "old" && stale["cache"]?["state"] == "stale")
            }
            try await stage.fetch(server.url("/go"), ["cache": "no-store"])
            // One validation for several requests.
            #expect(try await stage.seen(server).filter { $0["line"] == "GET / HTTP/1.1" }.count == 2)
        }
    }

    @Test("A caller's own condition is answered from a fresh response, otherwise by the server")
    func conditions() async throws {
        let tagged = "ETag: \"1\"\r\n" + Self.fresh
        let script: JSON = [
            "/": [
                [
                    "turns": [
                        Script.response("abc", headers: tagged),
                        Script.response("", status: "304 Same", headers: tagged),
                    ]
                ]
            ]
        ]
        try await CachingBridge.with(script) { stage, server in
            try await stage.fetch(server.url("/"))
            let own: JSONObject = ["headers": ["If-None-Match": "\"1\""]]
            let same = try await stage.fetch(server.url("/"), own)
            #expect(same["status"] == 304 && same["from"] == "cache")
            let other = try await stage.fetch(server.url("/"), ["headers": ["If-None-Match": "\"0\""]])
            #expect(other["status"] == 200 && other["from"] == "cache")
            stage.clock.advance(100)
            let validated = try await stage.fetch(server.url("/"), own)
            #expect(validated["status"] == 304)
        }
    }
}
