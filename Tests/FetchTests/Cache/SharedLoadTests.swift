import Glibc
import Synchronization
import TaskKit
import TaskKitTesting
import TestSupport
import Testing

@testable import FetchTasks

@Suite(
    "Several requests for one URL", .enabled(if: ScriptedServer.isThere, "needs /usr/bin/python3"),
    .timeLimit(.minutes(20)))
struct SharedLoadTests {
    private static let fresh = "Cache-Control: max-age=60\r\nContent-Type: text/plain\r\n"

    /// Returns a response whose first half is sent after a request for `/head`, and whose second half after one for
    /// `/rest`.
    private static func halves(_ length: Int, _ headers: String = fresh) -> JSON {
        [
            ["wait": "/head"], ["send": .string("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\(headers)\r\n")],
            ["repeat": "a", "times": .number(JSONNumber(length / 2))], ["wait": "/rest"],
            ["repeat": "b", "times": .number(JSONNumber(length - length / 2))],
        ]
    }

    private static func script(_ length: Int, _ headers: String = fresh) -> JSON {
        ["/": halves(length, headers), "*": Script.response("")]
    }

    private static func go(_ path: String, _ stage: CachingBridge, _ server: ScriptedServer) async throws {
        try await stage.fetch(server.url(path), ["cache": "no-store"])
    }

    @Test("share one transfer, and each gets the whole body", arguments: [10, 20_000, 700_000])
    func share(length: Int) async throws {
        try await CachingBridge.with(Self.script(length)) { stage, server in
            let url = server.url("/")
            let bodies = try await withThrowingTaskGroup(of: [UInt8].self) { group in
                for _ in 0..<5 {
                    group.addTask {
                        let session = await stage.bridge.session(uid: 1000)
                        let result = try await session.call("http.fetch", ["url": url, "as": "stream"])
                        return try await session.readStream(result["body"]?["stream"]?.stringValue ?? "")
                    }
                }
                try await Self.go("/head", stage, server)
                try await Self.go("/rest", stage, server)
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let whole = Array(
                (String(repeating: "a", count: length / 2) + String(repeating: "b", count: length - length / 2)).utf8)
            #expect(bodies.count == 5 && bodies.allSatisfy { $0 == whole })
            #expect(try await stage.seen(server).filter { $0["line"] == "GET / HTTP/1.1" }.count == 1)
            #expect(try await stage.fetch(url, ["as": "none"])["from"] == "cache")
        }
    }

    @Test("The transfer continues for other readers when the first has closed its stream")
    func firstLeaves() async throws {
        let length = 200_000
        try await CachingBridge.with(Self.script(length)) { stage, server in
            let options: JSON = ["url": server.url("/"), "respond": "headers"]
            let (first, second) = (await stage.bridge.session(uid: 1000), await stage.bridge.session(uid: 1000))
            async let head = first.call("http.fetch", options)
            try await Self.go("/head", stage, server)
            let stream = try await head["body"]?["stream"]?.stringValue ?? ""
            let other = try await second.call("http.fetch", options)
            #expect(other["from"] == "cache")
            try await first.call("bridge.stream.close", ["stream": .string(stream)])
            try await Self.go("/rest", stage, server)
            let bytes = try await second.readStream(other["body"]?["stream"]?.stringValue ?? "")
            #expect(bytes.count == length && bytes.last == UInt8(ascii: "b"))
            #expect(try await stage.seen(server).filter { $0["line"] == "GET / HTTP/1.1" }.count == 1)
        }
    }

    @Test("A response that may not be stored is not shared: each request is sent")
    func unshared() async throws {
        let headers = "Cache-Control: no-store\r\nContent-Type: text/plain\r\n"
        try await CachingBridge.with(Self.script(10, headers)) { stage, server in
            let url = server.url("/")
            let bodies = try await withThrowingTaskGroup(of: JSON?.self) { group in
                for _ in 0..<3 { group.addTask { try await stage.fetch(url)["body"]?["text"] } }
                try await Self.go("/head", stage, server)
                try await Self.go("/rest", stage, server)
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(bodies == Array(repeating: "aaaaabbbbb", count: 3))
            #expect(try await stage.seen(server).filter { $0["line"] == "GET / HTTP/1.1" }.count == 3)
        }
    }

    @Test("A body that fails during the transfer fails for all its readers and is not stored")
    func failure() async throws {
        let script: JSON = [
            "/": [
                ["send": .string("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\(Self.fresh)\r\naaaaa")], ["wait": "/rest"],
                ["close": true],
            ], "*": Script.response(""),
        ]
        try await CachingBridge.with(script) { stage, server in
            let url = server.url("/")
            try await withThrowingTaskGroup(of: ErrorCode?.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        do {
                            try await stage.fetch(url)
                            return nil
                        } catch let error as BridgeError { return error.code }
                    }
                }
                try await Self.go("/rest", stage, server)
                for try await code in group { #expect(code == "http.interrupted") }
            }
            let error = await #expect(throws: BridgeError.self) {
                try await stage.fetch(url, ["cache": "only-if-cached"])
            }
            #expect(error?.code == "http.cache_miss")
        }
    }

    @Test("A body that becomes too long to be stored is still delivered whole, also to a slow reader")
    func tooLong() async throws {
        let length = 3_000_000
        let script: JSON = [
            "/": [
                ["send": .string("HTTP/1.1 200 OK\r\nConnection: close\r\n\(Self.fresh)\r\n")],
                ["repeat": "0123456789", "times": .number(JSONNumber(length / 10))], ["close": true],
            ]
        ]
        let small: JSON = ["private_networks": ["127.0.0.0/8"], "cache_origin_bytes": 500_000]
        try await CachingBridge.with(script, configuration: small) { stage, server in
            let session = await stage.bridge.session(uid: 1000)
            for _ in 0..<2 {
                let result = try await session.call("http.fetch", ["url": server.url("/"), "as": "stream"])
                #expect(result["from"] == "network")
                let bytes = try await session.readStream(result["body"]?["stream"]?.stringValue ?? "")
                #expect(bytes == Array(String(repeating: "0123456789", count: length / 10).utf8))
            }
        }
    }

    @Test("If the first request is cancelled before its response, another one loads for all that wait")
    func firstIsCancelled() async throws {
        var script = Self.script(10).objectValue ?? [:]
        script["/started"] = .array([["wait": "/"]] + (Script.response("").arrayValue ?? []))
        try await CachingBridge.with(.object(script)) { stage, server in
            let url = server.url("/")
            let first = Task { try await stage.fetch(url) }
            try await Self.go("/started", stage, server)
            try await withThrowingTaskGroup(of: JSON.self) { group in
                for _ in 0..<3 { group.addTask { try await stage.fetch(url) } }
                first.cancel()
                let error = await #expect(throws: BridgeError.self) { try await first.value }
                #expect(error?.code == .callCancelled)
                try await Self.go("/head", stage, server)
                try await Self.go("/rest", stage, server)
                for try await result in group { #expect(result["body"]?["text"] == "aaaaabbbbb") }
            }
            let seen = try await stage.seen(server)
            #expect(seen.filter { $0["line"] == "GET / HTTP/1.1" }.count <= 2)
        }
    }

    @Test("The request ends when all calls that waited for its response are cancelled")
    func allAreCancelled() async throws {
        let script: JSON = [
            "/": [["closing": "/closed"], ["hang": true]],
            "/started": .array([["wait": "/"]] + (Script.response("").arrayValue ?? [])),
            "/ended": .array([["wait": "/closed"]] + (Script.response("").arrayValue ?? [])),
        ]
        try await CachingBridge.with(script) { stage, server in
            let session = await stage.bridge.session(uid: 1000)
            var calls = [await session.begin("http.fetch", ["url": server.url("/")])]
            try await stage.fetch(server.url("/started"))
            for _ in 0..<2 { calls.append(await session.begin("http.fetch", ["url": server.url("/")])) }
            // Cancels the loading call last: the others still wait for its response, or have not reached that point.
            for call in calls.reversed() { await session.cancel(call) }
            for call in calls {
                let error = await #expect(throws: BridgeError.self) { try await session.outcome(of: call) }
                #expect(error?.code == .callCancelled)
            }
            try await stage.fetch(server.url("/ended"))
            let seen = try await stage.seen(server).filter { $0["line"] == "GET / HTTP/1.1" }
            #expect(seen.count == 1, "\(seen.map(\.text))")
        }
    }

    @Test("The transfer is abandoned when the last reader of its body leaves, and not before")
    func lastReaderLeaves() {
        let given = Mutex(0)
        let body = GrowingBody { _, _ in given.withLock { $0 += 1 } }
        let (first, second) = (body.reader(), body.reader())
        #expect(first != nil && second != nil && body.abandonment == nil)
        first?.leave()
        #expect(body.abandonment == nil && given.withLock { $0 } == 0)
        second?.leave()
        #expect(body.abandonment != nil && given.withLock { $0 } == 1)
    }

    @Test("A body that is no longer kept continues if its readers have read all of it", .timeLimit(.minutes(5)))
    func readBeforeItIsNotKept() async throws {
        let body = GrowingBody { _, _ in }
        let reader = try #require(body.reader())
        let threads = BlockingThreads(name: "test-bodies")
        for _ in 0..<3 {
            body.append([UInt8](repeating: 0x78, count: GrowingBody.windowBytes / 2))
            #expect(try await reader.next(threads, of: 0)?.count == GrowingBody.windowBytes / 2)
        }
        body.stopKeeping()
        await body.waitForRoom()
        #expect(body.unfiled.bytes.isEmpty)
    }

    @Test("A body is delivered whole if it cannot be written or is announced as too long to be stored")
    func notWritten() async throws {
        let length = 400_000
        let script: JSON = [
            "/": [
                ["send": .string("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\(Self.fresh)\r\n")],
                ["repeat": "0123456789", "times": .number(JSONNumber(length / 10))],
            ]
        ]
        let whole = Array(String(repeating: "0123456789", count: length / 10).utf8)
        try await CachingBridge.with(script) { stage, server in
            #expect(rmdir(stage.bridge.stateDirectory + "/fetch-cache/new") == 0)
            let session = await stage.bridge.session(uid: 1000)
            for _ in 0..<2 {
                let result = try await session.call("http.fetch", ["url": server.url("/"), "as": "stream"])
                #expect(result["from"] == "network" && result["cache"]?["stored"] == true)
                let bytes = try await session.readStream(result["body"]?["stream"]?.stringValue ?? "")
                #expect(bytes == whole)
            }
        }
        let small: JSON = ["private_networks": ["127.0.0.0/8"], "cache_origin_bytes": 300_000]
        try await CachingBridge.with(script, configuration: small) { stage, server in
            let session = await stage.bridge.session(uid: 1000)
            let result = try await session.call("http.fetch", ["url": server.url("/"), "as": "stream"])
            #expect(result["cache"]?["stored"] == false)
            let bytes = try await session.readStream(result["body"]?["stream"]?.stringValue ?? "")
            #expect(bytes == whole)
        }
    }
}
