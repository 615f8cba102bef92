import TaskKit
import TaskKitTesting
import Testing

@testable import FetchTasks

@Suite("Fetch interceptors", .timeLimit(.minutes(20)), .enabled(if: ScriptedServer.isThere, "needs /usr/bin/python3"))
struct FetchChainTests {
    /// Returns the request lines that a server received before this request.
    private func lines(_ server: ScriptedServer, _ session: TestSession) async throws -> [String] {
        let result = try await session.call("http.fetch", ["url": server.url("/_seen")])
        return (result["body"]?["json"]?.arrayValue ?? []).compactMap { $0["line"]?.stringValue }
    }

    private static func isFor(_ path: String, _ call: InterceptedCall) throws -> Bool {
        try call.options["url"]?.stringValue?.hasSuffix(path) == true
    }

    @Test("An interceptor answers instead of the server, and the result contains its from")
    func mock() async throws {
        try await LoadChain.with([:]) { call in
            guard try Self.isFor("/mock", call) else { return .pass }
            return .answer(
                ["status": 201, "headers": ["X-A": "1"], "body": ["json": ["a": 1]], "from": "mock"] as JSON)
        } _: { bridge, server in
            let session = await bridge.session()
            let result = try await session.call("http.fetch", ["url": server.url("/mock")])
            #expect(result["status"] == 201 && result["from"] == "mock")
            #expect(result["body"] == ["json": ["a": 1]])
            #expect(result["headers"] == [["X-A", "1"], ["Content-Type", "application/json"]])
            #expect(try await lines(server, session) == [])
        }
    }

    @Test("An interceptor gets each hop with its origin, and a redirect in its answer is followed")
    func redirect() async throws {
        let shown = Noted<JSON>()
        try await LoadChain.with(["/end": Script.response("there")]) { call in
            shown.note(try call.options)
            guard try Self.isFor("/start", call) else { return .pass }
            return .answer(
                ["status": 302, "headers": [["Location", "/end"]], "properties": ["seen": true]] as JSON)
        } _: { bridge, server in
            let session = await bridge.session()
            let result = try await session.call(
                "http.fetch", ["url": server.url("/start"), "headers": ["X-A": "1"], "as": "text"])
            #expect(result["body"]?["text"] == "there" && result["from"] == "network")
            #expect(result["redirects"] == [["status": 302, "url": server.url("/start")]])
            let first = shown.all[0]
            #expect(first["to"] == .string("http://127.0.0.1:\(server.port)"))
            #expect(first["method"] == "GET" && first["hop"] == 1 && first["headers"] == [["X-A", "1"]])
            #expect(shown.all[1]["hop"] == 2 && shown.all[1]["properties"] == ["seen": true])
        }
    }

    @Test("An interceptor may change URL, headers and body; the option to must be the origin of url")
    func rewrite() async throws {
        let other = try ScriptedServer(["*": Script.response("other")])
        let (moved, origin) = (other.url("/moved"), "http://127.0.0.1:\(other.port)")
        try await LoadChain.with(["*": Script.response("own")]) { call in
            var options = try call.options.objectValue ?? [:]
            guard options["url"]?.stringValue?.hasSuffix("_seen") == false else { return .pass }
            options["url"] = moved
            if options["method"] == "POST" {
                options["to"] = .string(origin)
                options["headers"] = [["X-B", "2"]]
                options["body"] = ["text": "changed"]
            }
            return .rewrite(JSON.object(options))
        } _: { bridge, server in
            let session = await bridge.session()
            let result = try await session.call(
                "http.fetch", ["url": server.url("/"), "method": "POST", "body": ["text": "own"]])
            #expect(result["body"]?["base64"] == "b3RoZXI=" && result["url"] == moved)
            let error = await #expect(throws: BridgeError.self) {
                try await session.call("http.fetch", ["url": server.url("/")])
            }
            #expect(error?.code == .optionsInvalid && error?.data?["path"] == "$.to")
            let seen = try await session.call("http.fetch", ["url": other.url("/_seen")])
            let request = seen["body"]?["json"]?[0]
            #expect(request?["line"] == "POST /moved HTTP/1.1" && request?["body"] == "changed")
            #expect(Fetching.header("X-B", of: request) == "2")
            #expect(try await lines(server, session) == [])
        }
    }

    @Test("An interceptor may refuse a request, and its answer must have a status")
    func refuse() async throws {
        try await LoadChain.with([:]) { call in
            if try Self.isFor("/refused", call) { throw BridgeError("filter.refused", "not this one") }
            return .answer(["body": ["text": "a"]] as JSON)
        } _: { bridge, server in
            let session = await bridge.session()
            for (path, code) in [("/refused", "filter.refused"), ("/odd", "reply.invalid")] as [(String, ErrorCode)] {
                let error = await #expect(throws: BridgeError.self) {
                    try await session.call("http.fetch", ["url": server.url(path)])
                }
                #expect(error?.code == code)
            }
        }
    }

    @Test("An interceptor is cancelled with the fetch")
    func cancel() async throws {
        let (asked, wasAsked) = AsyncStream.makeStream(of: Void.self)
        let (ended, wasEnded) = AsyncStream.makeStream(of: Void.self)
        let (never, isNever) = AsyncStream.makeStream(of: Void.self)
        defer { isNever.finish() }
        try await LoadChain.with([:]) { call in
            wasAsked.yield()
            defer { wasEnded.yield() }
            // Ends when the Swift task is cancelled.
            for await _ in never {}
            throw CancellationError()
        } _: { bridge, server in
            let session = await bridge.session()
            let id = await session.begin("http.fetch", ["url": server.url("/")])
            for await _ in asked { break }
            await session.cancel(id)
            for await _ in ended { break }
            let error = await #expect(throws: BridgeError.self) { try await session.outcome(of: id) }
            #expect(error?.code == .callCancelled)
        }
    }

    @Test("Bodies of any length pass, and long request bodies are marked as held", arguments: [100, 200_000])
    func pass(count: Int) async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\nContent-Type: text/plain\r\n\r\n"
        let script: JSON = [
            "/get": [["send": .string(head)], ["repeat": "0123456789", "times": .number(JSONNumber(count / 10))]],
            "/put": Script.response("ok"),
        ]
        let shown = Noted<JSON>()
        try await LoadChain.with(script) { call in
            shown.note(try call.options)
            return .pass
        } _: { bridge, server in
            let session = await bridge.session()
            let result = try await session.call("http.fetch", ["url": server.url("/get"), "as": "stream"])
            let bytes = try await session.readStream(result["body"]?["stream"]?.stringValue ?? "")
            #expect(bytes == Array(String(repeating: "0123456789", count: count / 10).utf8))
            #expect(result["from"] == "network")
            let body: JSON = ["text": .string(String(decoding: bytes, as: UTF8.self))]
            try await session.call("http.fetch", ["url": server.url("/put"), "method": "PUT", "body": body])
            #expect(shown.all[1]["body"]?["held"] == (count > 16_384 ? true : nil))
            let seen = try await session.call("http.fetch", ["url": server.url("/_seen"), "as": "stream"])
            let text = try await session.readStream(seen["body"]?["stream"]?.stringValue ?? "")
            #expect(try JSON(parsing: text)[1]?["body"] == body["text"])
        }
    }

    @Test("An interceptor may change the server's response")
    func proceed() async throws {
        try await LoadChain.with(["/": Script.response("own", headers: "Content-Type: text/plain\r\n")]) { call in
            let answer: JSON = try await call.proceed()
            var object = answer.objectValue ?? [:]
            object["body"] = ["text": .string((answer["body"]?["text"]?.stringValue ?? "") + " and more")]
            return .answer(JSON.object(object))
        } _: { bridge, server in
            let session = await bridge.session()
            let result = try await session.call("http.fetch", ["url": server.url("/")])
            #expect(result["body"]?["text"] == "own and more" && result["from"] == "network")
        }
    }

    @Test("Cookies of an interceptor's answer are stored, and interceptors do not see a request's cookies")
    func cookies() async throws {
        let shown = Noted<JSON>()
        try await LoadChain.with(["/": Script.response("")]) { call in
            shown.note(try call.options)
            guard try Self.isFor("/login", call) else { return .pass }
            return .answer(["status": 200, "headers": [["Set-Cookie", "a=1"]], "from": "network"] as JSON)
        } _: { bridge, server in
            let session = await bridge.session()
            let login = try await session.call("http.fetch", ["url": server.url("/login")])
            #expect(login["from"] == "interceptor", "none passes for the network")
            try await session.call("http.fetch", ["url": server.url("/")])
            let seen = try await session.call("http.fetch", ["url": server.url("/_seen"), "credentials": "omit"])
            #expect(Fetching.header("Cookie", of: seen["body"]?["json"]?[0]) == "a=1")
            #expect(shown.all.allSatisfy { $0["headers"] == [] })
        }
    }

    @Test("An interceptor sees the option cache and may change it")
    func cache() async throws {
        let shown = Noted<JSON>()
        try await LoadChain.with(["/": Script.response("", headers: "Cache-Control: max-age=60\r\n")]) { call in
            shown.note(try call.options)
            var options = try call.options.objectValue ?? [:]
            guard options["cache"] == "reload" else { return .pass }
            options["cache"] = "only-if-cached"
            return .rewrite(JSON.object(options))
        } _: { bridge, server in
            let session = await bridge.session()
            let miss = await #expect(throws: BridgeError.self) {
                try await session.call("http.fetch", ["url": server.url("/"), "cache": "reload"])
            }
            #expect(miss?.code == "http.cache_miss")
            try await session.call("http.fetch", ["url": server.url("/")])
            let hit = try await session.call("http.fetch", ["url": server.url("/"), "cache": 4])
            #expect(hit["from"] == "cache")
            #expect(shown.all.map { $0["cache"] } == ["reload", "default", "reload"])
            let wrong = await #expect(throws: BridgeError.self) {
                try await session.call("http.load", ["url": server.url("/"), "cache": "sometimes"])
            }
            #expect(wrong?.code == .optionsInvalid)
        }
    }

    @Test("An interceptor's answer is checked against maxBytes and integrity")
    func bounds() async throws {
        try await LoadChain.with([:]) { _ in
            .answer(["status": 200, "body": ["text": "abc"]] as JSON)
        } _: {
            bridge, server in
            let session = await bridge.session()
            let wrong = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
            for (option, code) in [
                ("integrity", "http.integrity"), ("maxBytes", "http.too_large"),
            ] as [(String, ErrorCode)] {
                let value: JSON = option == "maxBytes" ? 2 : .string(wrong)
                let error = await #expect(throws: BridgeError.self) {
                    try await session.call("http.fetch", .object(["url": server.url("/"), option: value]))
                }
                #expect(error?.code == code)
            }
        }
    }

    @Test("A page reaches its own site without a rule, but no other site")
    func pages() async throws {
        let other = try ScriptedServer(["*": Script.response("")])
        let script: JSON = [
            "/": Script.response("own"), "/away": Script.redirect(302, to: other.url("/", host: "localhost")),
        ]
        try await LoadChain.with(script) { _ in
            .pass
        } _: { bridge, server in
            let page = await bridge.session(origin: "http://127.0.0.1:1")
            let result = try await page.call("door.fetch", ["url": server.url("/"), "as": "text"])
            #expect(result["body"]?["text"] == "own")
            for url in [other.url("/", host: "localhost"), server.url("/away"), "https://127.0.0.1/"] {
                let error = await #expect(throws: BridgeError.self) { try await page.call("door.fetch", ["url": url]) }
                #expect(error?.code == .permissionDenied)
                #expect(error?.message.contains("may not reach http") == true)
                #expect(error?.data?["rule"]?.stringValue?.contains("no rule with the condition origin") == true)
            }
        }
    }
}
