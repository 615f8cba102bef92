import Dispatch
import Glibc
import TaskKit
import TaskKitTesting
import TestSupport
import Testing

@testable import FetchTasks

@Suite(
    "Recording and replaying", .timeLimit(.minutes(20)), .enabled(if: ScriptedServer.isThere, "needs /usr/bin/python3"))
struct ReplayTests {
    private static func har(_ name: JSON, _ session: PluginSession) async throws -> JSON {
        let result = try await session.call("http.recordings.read", ["name": name])
        return try JSON(parsing: try await session.readStream(result["stream"]?.stringValue ?? ""))
    }

    private static func code(_ body: () async throws -> Void) async -> ErrorCode? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? BridgeError)?.code
        }
    }

    @Test("A recording is a valid HAR and is replayed without the server", arguments: PluginEnvironment.all)
    func roundTrip(environment: PluginEnvironment) async throws {
        let server = try ScriptedServer([
            "/a?b=c": Script.response("one", headers: "Content-Type: text/plain\r\nX-A: 1\r\n"),
            "/moved": Script.redirect(302, to: "/a?b=c"),
            "/zip": [
                ["send": "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n"],
                ["gzip": "0123456789", "times": 10_000], ["close": true],
            ],
        ])
        try await withPlugin(.fetch(), in: environment, configuration: Fetching.open) { bridge in
            let session = try await bridge.session()
            let begun = try await session.call("http.record", ["name": "r1"])
            #expect(begun["on"] == true && begun["entries"] == 0)
            #expect(HARValidator(try await Self.har("r1", session)).complaints == [])
            for path in ["/a?b=c", "/moved"] { _ = try await session.call("http.fetch", ["url": server.url(path)]) }
            _ = try await session.call("http.fetch", ["url": server.url("/zip"), "as": "text"])
            let post: JSON = ["url": server.url("/a?b=c"), "method": "POST", "body": ["text": "password"]]
            _ = try await session.call("http.fetch", post)
            let ended = try await session.call("http.record", ["name": "r1", "on": false])
            // The redirect counts as two entries.
            #expect(ended["entries"] == 5 && ended["missing"] == 0)
            let har = try await Self.har("r1", session)
            #expect(HARValidator(har).complaints == [])
            #expect(!har.text.contains("password"))
            #expect(har["log"]?["entries"]?[0]?["request"]?["queryString"] == [["name": "b", "value": "c"]])

            let replay = try await session.call("http.replay", ["name": "r1"])
            #expect(replay["entries"] == 5)
            let seen = try await session.call("http.record", ["name": "other", "match": ["http://none.example/*"]])
            #expect(seen["on"] == true)
            let moved = try await session.call("http.fetch", ["url": server.url("/moved")])
            #expect(moved["from"] == "replay" && moved["status"] == 200)
            #expect(moved["body"] == ["text": "one", "charset": "utf-8"])
            #expect(moved["redirects"]?.arrayValue?.count == 1)
            #expect(Fetching.header("x-a", of: moved) == "1")
            let zip = try await session.call("http.fetch", ["url": server.url("/zip"), "as": "text"])
            #expect(zip["body"]?["text"]?.stringValue?.utf8.count == 100_000)
            let missing = await Self.code { _ = try await session.call("http.fetch", ["url": server.url("/b")]) }
            #expect(missing == "http.cache_miss")
            _ = try await session.call("http.replay", ["name": "r1", "mode": "else-load"])
            #expect(try await session.call("http.fetch", ["url": server.url("/_seen")])["from"] == "network")
            _ = try await session.call("http.replay", ["name": "r1", "on": false])
            #expect(try await session.call("http.fetch", ["url": server.url("/a?b=c")])["from"] == "network")
        }
    }

    @Test("A recording does not contain the values of secret headers")
    func masks() async throws {
        let server = try ScriptedServer([
            "/": Script.response("ok", headers: "Set-Cookie: a=geheim\r\nX-Session-Token: geheim\r\n")
        ])
        try await withPlugin(.fetch(), in: .inProcess, configuration: Fetching.open) { bridge in
            let session = try await bridge.session()
            _ = try await session.call("http.record", ["name": "r"])
            let headers: JSON = [
                "Authorization": "geheim", "Cookie": "geheim", "X-Api-Key": "geheim", "Accept": "text/plain",
            ]
            _ = try await session.call("http.fetch", ["url": server.url("/"), "headers": headers])
            _ = try await session.call("http.record", ["name": "r", "on": false])
            let har = try await Self.har("r", session)
            #expect(!har.text.contains("geheim"))
            #expect(har.text.contains("text/plain") && har.text.contains("(masked)"))
            _ = try await session.call("http.replay", ["name": "r"])
            let result = try await session.call("http.fetch", ["url": server.url("/")])
            #expect(Fetching.header("set-cookie", of: result) == nil)
        }
    }

    @Test("Responses to one request are replayed in order, and the last one repeatedly")
    func order() async throws {
        let server = try ScriptedServer(["*": Script.response("ok")])
        try await withPlugin(.fetch(), in: .inProcess, configuration: Fetching.open) { bridge in
            let session = try await bridge.session()
            _ = try await session.call("http.record", ["name": "r"])
            // Each answer of /_seen is longer than the one before.
            for path in ["/", "/_seen", "/", "/_seen", "/", "/_seen"] {
                _ = try await session.call("http.fetch", ["url": server.url(path)])
            }
            _ = try await session.call("http.record", ["name": "r", "on": false])
            _ = try await session.call("http.replay", ["name": "r"])
            var counts: [Int] = []
            for _ in 0..<5 {
                let result = try await session.call("http.fetch", ["url": server.url("/_seen")])
                counts.append(result["body"]?["json"]?.arrayValue?.count ?? -1)
            }
            #expect(counts[0] < counts[1] && counts[1] < counts[2])
            #expect(counts[2...].allSatisfy { $0 == counts[2] })
        }
    }

    @Test("An interrupted response is not recorded and leaves no file")
    func cuts() async throws {
        let server = try ScriptedServer([
            "/cut": Script.raw("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123"), "/": Script.response("ok"),
        ])
        try await withPlugin(.fetch(), in: .inProcess, configuration: Fetching.open) { bridge in
            let session = try await bridge.session()
            _ = try await session.call("http.record", ["name": "r", "match": [server.url("/*")]])
            #expect(await Fetching.error(bridge, ["url": server.url("/cut")])?.code == "http.interrupted")
            _ = try await session.call("http.fetch", ["url": server.url("/")])
            let ended = try await session.call("http.record", ["name": "r", "on": false])
            #expect(ended["entries"] == 1)
            let har = try await Self.har("r", session)
            let file = har["log"]?["entries"]?[0]?["response"]?["content"]?["_file"]?.stringValue ?? ""
            let body = try await session.call(
                "http.recordings.read", ["name": "r", "body": .string(String(file.suffix(64)))])
            #expect(try await session.readStream(body["stream"]?.stringValue ?? "") == Array("ok".utf8))
            let list = try await session.call("http.recordings.list", [:])
            #expect(list["recordings"]?[0]?["bytes"] == ended["bytes"])
        }
    }

    @Test("Names are checked, and only one recording runs at a time")
    func names() async throws {
        try await withPlugin(.fetch(), in: .inProcess, configuration: Fetching.open) { bridge in
            for name: JSON in ["", "..", "a/b", "-a", ".a", "ü"] {
                #expect(await Self.code { _ = try await bridge.call("http.record", ["name": name]) } == .optionsInvalid)
                #expect(await Self.code { _ = try await bridge.call("http.replay", ["name": name]) } == .optionsInvalid)
            }
            #expect(
                await Self.code { _ = try await bridge.call("http.replay", ["name": "x"]) } == "recording.not_found")
            _ = try await bridge.call("http.record", ["name": "a"])
            #expect(await Self.code { _ = try await bridge.call("http.record", ["name": "b"]) } == .busy)
            #expect(await Self.code { _ = try await bridge.call("http.recordings.remove", ["name": "a"]) } == .busy)
            _ = try await bridge.call("http.record", ["name": "a", "on": false])
            #expect(await Self.code { _ = try await bridge.call("http.record", ["name": "a"]) } == "recording.exists")
            _ = try await bridge.call("http.record", ["name": "a", "replace": true])
            _ = try await bridge.call("http.record", ["name": "a", "on": false])
            _ = try await bridge.call("http.recordings.remove", ["name": "a"])
            #expect(try await bridge.call("http.recordings.list", [:]) == ["recordings": []])
        }
    }

    @Test("Of two recordings that begin together, one is refused")
    func together() async throws {
        let service = FetchService()
        let bridge = try await TestBridge.start(.fetch(service))
        let session = await bridge.session()
        let disk = DispatchSemaphore(value: 0)
        service.replays.threads.submit(of: geteuid()) { disk.wait() }
        let calls = [
            await session.begin("http.record", ["name": "a"]), await session.begin("http.record", ["name": "b"]),
        ]
        // Both calls have arrived when this one is answered.
        try await session.call("http.offline")
        disk.signal()
        let first = try await session.outcome(of: calls[0])
        #expect(first["name"] == "a" && first["on"] == true)
        let error = await #expect(throws: BridgeError.self) { try await session.outcome(of: calls[1]) }
        #expect(error?.code == .busy && error?.data == ["started": false])
        #expect(try await session.call("http.recordings.list")["recordings"]?.arrayValue?.count == 1)
        await bridge.stop()
    }

    @Test("With har, a result contains a HAR of all hops without secrets")
    func har() async throws {
        let server = try ScriptedServer([
            "/?q=1": Script.redirect(302, to: "/end"),
            "/end": Script.response("there", headers: "Set-Cookie: a=secret\r\n"),
        ])
        try await withPlugin(.fetch(), in: .inProcess, configuration: Fetching.open) { bridge in
            let options: JSON = [
                "url": server.url("/?q=1"), "har": true, "headers": ["Authorization": "secret", "X-A": "1"],
            ]
            let har = try await bridge.call("http.fetch", options)["har"] ?? .null
            #expect(HARValidator(har).complaints == [])
            #expect(!har.text.contains("secret"))
            let entries = har["log"]?["entries"]?.arrayValue ?? []
            #expect(entries.map { $0["response"]?["status"] } == [302, 200])
            #expect(entries.map { $0["request"]?["url"] } == [server.url("/?q=1"), server.url("/end")])
            let fields = entries.first?["request"]?["headers"]?.arrayValue ?? []
            #expect(fields.contains(["name": "X-A", "value": "1"]))
            #expect(fields.contains(["name": "User-Agent", "value": "Trestle"]))
            #expect(try await bridge.call("http.fetch", ["url": server.url("/end")])["har"] == nil)
        }
    }

    @Test("A page may not request a HAR")
    func harOfPage() async throws {
        let server = try ScriptedServer(["/": Script.response("")])
        let bridge = try await TestBridge.start(
            .fetch(), Plugin("door", version: "1.0.0") { Door() }, configuration: ["fetch": Fetching.open])
        let page = await bridge.session(origin: "http://127.0.0.1:\(server.port)")
        let error = await #expect(throws: BridgeError.self) {
            try await page.call("door.fetch", ["url": server.url("/"), "har": true])
        }
        #expect(error?.code == .permissionDenied)
        await bridge.stop()
    }

    @Test("A HAR is limited in size, and its comment states the number of omitted entries")
    func harIsBounded() async throws {
        let long = "X-Long: \(String(repeating: "a", count: 20_000))\r\n"
        var script: JSONObject = [:]
        for hop in 0..<10 {
            script["/\(hop)"] = Script.response("", status: "302 On", headers: "\(long)Location: /\(hop + 1)\r\n")
        }
        script["/10"] = Script.response("", headers: long)
        let server = try ScriptedServer(.object(script))
        try await withPlugin(.fetch(), in: .inProcess, configuration: Fetching.open) { bridge in
            let log = try await bridge.call("http.fetch", ["url": server.url("/0"), "har": true])["har"]?["log"]
            let count = log?["entries"]?.arrayValue?.count ?? 0
            #expect(count > 0 && count < 11)
            #expect(log?["comment"] == .string("\(11 - count) entries are left out: they are too long"))
        }
    }

    @Test("Offline, only packages and recordings answer")
    func offline() async throws {
        let server = try ScriptedServer(["*": Script.response("network")])
        let base = "\(server.url("/app/").stringValue ?? "")"
        let archive = try TestPackage.archive("1", base: base, ["index.html": "<p>"])
        try await withPlugin(.fetch(), in: .inProcess, configuration: TestPackage.configuration()) { bridge in
            try await TestPackage.install(archive, bridge)
            _ = try await bridge.call("http.record", ["name": "r"])
            // Not stored in the cache, because the cache would also answer offline.
            _ = try await bridge.call("http.fetch", ["url": server.url("/recorded"), "cache": "no-store"])
            _ = try await bridge.call("http.record", ["name": "r", "on": false])
            #expect(try await bridge.call("http.offline", ["on": true]) == ["on": true])
            #expect(try await bridge.call("http.fetch", ["url": server.url("/app/")])["from"] == "package")
            let error = await Fetching.error(bridge, ["url": server.url("/recorded")])
            #expect(error?.code == "http.offline" && error?.data == ["started": false])
            _ = try await bridge.call("http.replay", ["name": "r", "mode": "else-load"])
            #expect(try await bridge.call("http.fetch", ["url": server.url("/recorded")])["from"] == "replay")
            #expect(await Fetching.error(bridge, ["url": server.url("/other")])?.code == "http.offline")
            #expect(try await bridge.call("http.offline", ["on": false]) == ["on": false])
            #expect(try await bridge.call("http.fetch", ["url": server.url("/other")])["from"] == "network")
        }
    }
}
