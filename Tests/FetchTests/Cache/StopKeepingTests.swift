import TaskKit
import TaskKitTesting
import TestSupport
import Testing

@testable import FetchTasks

@Suite(
    "A removal while responses are arriving", .enabled(if: ScriptedServer.isThere, "needs /usr/bin/python3"),
    .timeLimit(.minutes(20)))
struct StopKeepingTests {
    /// A response in two parts, after requests for `/head` and `/rest`. `/started` is answered after the request for
    /// it.
    private static let fields = "Cache-Control: max-age=60\r\nContent-Type: text/plain\r\n"
    private static let parts: JSON = [
        ["wait": "/head"],
        ["send": .string("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\(fields)\r\naaaaa")],
        ["wait": "/rest"], ["send": "bbbbb"],
    ]
    private static let script: JSON = [
        "/": parts, "/kept": parts,
        "/started": .array([["wait": "/"]] + (Script.response("").arrayValue ?? [])), "*": Script.response(""),
    ]

    private static func go(_ path: String, _ stage: CachingBridge, _ server: ScriptedServer) async throws {
        try await stage.fetch(server.url(path), ["cache": "no-store"])
    }

    private static func entries(_ session: TestSession) async throws -> Int? {
        try await session.call("http.cache.list")["entries"]?.arrayValue?.count
    }

    @Test(
        "keeps the response from being stored, also if no other request may share it", arguments: ["default", "reload"])
    func bodies(policy: String) async throws {
        try await CachingBridge.with(Self.script) { stage, server in
            let session = await stage.bridge.session(uid: 1000)
            let options: JSON = ["url": server.url("/"), "cache": .string(policy), "respond": "headers"]
            async let head = session.call("http.fetch", options)
            try await Self.go("/head", stage, server)
            let stream = try await head["body"]?["stream"]?.stringValue ?? ""
            #expect(try await session.call("http.cache.remove", ["all": true])["removed"] == 0)
            try await Self.go("/rest", stage, server)
            #expect(try await session.readStream(stream) == Array("aaaaabbbbb".utf8))
            #expect(try await Self.entries(session) == 0)
        }
    }

    @Test("keeps the response from being stored if its head has not arrived", arguments: ["default", "reload"])
    func heads(policy: String) async throws {
        try await CachingBridge.with(Self.script) { stage, server in
            let (session, other) = (await stage.bridge.session(uid: 1000), await stage.bridge.session(uid: 0))
            let options = ["/", "/kept"].map { ["url": server.url($0), "cache": .string(policy)] as JSON }
            async let result = session.call("http.fetch", options[0])
            async let kept = other.call("http.fetch", options[1])
            try await Self.go("/started", stage, server)
            _ = try await session.call("data.remove", ["types": ["diskCache"]])
            try await Self.go("/head", stage, server)
            try await Self.go("/rest", stage, server)
            #expect(try await result["body"]?["text"] == "aaaaabbbbb")
            _ = try await kept
            #expect(try await Self.entries(session) == 0)
            #expect(try await Self.entries(other) == 1)
        }
    }
}
