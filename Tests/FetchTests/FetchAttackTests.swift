import TaskKit
import TaskKitTesting
import TestSupport
import Testing

@testable import FetchTasks

@Suite(
    "Attacks by servers and callers", .timeLimit(.minutes(20)),
    .enabled(if: ScriptedServer.isThere, "needs /usr/bin/python3"))
struct FetchAttackTests {
    // MARK: Addresses

    @Test("No request is sent to a private address, however it is written", arguments: PluginEnvironment.all)
    func addresses(environment: PluginEnvironment) async throws {
        let server = try ScriptedServer(["*": Script.response("secret")])
        try await withPlugin(.fetch(), in: environment) { bridge in
            for host in ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"] {
                let error = await Fetching.error(bridge, ["url": server.url("/", host: host)])
                #expect(error?.code == "http.refused", "\(host)")
                #expect(error?.data?["reason"] == "private_address", "\(host)")
                #expect(error?.data?["address"] != nil, "\(host)")
            }
            for host in ["0x7f.1", "2130706433", "0177.0.0.1", "127.1", "①②⑦.0.0.1"] {
                let error = await Fetching.error(bridge, ["url": server.url("/", host: host)])
                #expect(error?.code == .optionsInvalid, "\(host)")
            }
            for host in ["10.0.0.1", "169.254.169.254", "[fd00::1]", "[fe80::1]", "0.0.0.0", "[64:ff9b::7f00:1]"] {
                let error = await Fetching.error(bridge, ["url": .string("http://\(host)/")])
                #expect(error?.data?["reason"] == "private_address", "\(host)")
            }
        }
    }

    @Test("A redirect to a private address is refused with the address, before a request is sent there")
    func redirectToPrivateAddress() async throws {
        let inner = try ScriptedServer(["*": Script.response("secret")])
        let outer = try ScriptedServer([
            "/address": Script.redirect(302, to: inner.url("/", host: "127.0.0.2")),
            "/name": Script.redirect(302, to: inner.url("/", host: "localhost")),
            "/file": Script.redirect(302, to: "file:///etc/passwd"),
            "/port": Script.redirect(302, to: "http://127.0.0.1:22/"),
        ])
        // localhost may resolve to ::1 first, which is not allowed either.
        let open: JSON = ["private_networks": ["127.0.0.1/32"]]
        try await withPlugin(.fetch(), in: .inProcess, configuration: open) { bridge in
            let address = await Fetching.error(bridge, ["url": outer.url("/address")])
            #expect(address?.code == "http.refused")
            #expect(address?.data == ["reason": "private_address", "host": "127.0.0.2", "address": "127.0.0.2"])
            #expect(await Fetching.error(bridge, ["url": outer.url("/file")])?.data?["reason"] == "scheme")
            #expect(await Fetching.error(bridge, ["url": outer.url("/port")])?.data?["reason"] == "port")
            let seen = try await Fetching.seen(inner, bridge)
            #expect(seen.isEmpty)
        }
    }

    // MARK: Broken responses

    private static let head = "HTTP/1.1 200 OK\r\n"

    @Test(
        "A response that violates the protocol is an error",
        arguments: [
            (head + "Content-Length: 10\r\n\r\nabc", "http.interrupted"),
            (head + "Transfer-Encoding: chunked\r\n\r\n5\r\nab", "http.interrupted"),
            (head + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", "http.protocol"),
            (head + "Content-Length: -1\r\n\r\nabc", "http.protocol"),
            (head + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "http.protocol"),
            (head + "A: 1\r\n folded\r\n\r\n", "http.protocol"),
            (head + "A\rB: 1\r\n\r\n", "http.protocol"),
            ("hello", "http.protocol"),
            ("HTTP/1.1 99 No\r\n\r\n", "http.protocol"),
            ("", "http.interrupted"),
            (head + "Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc", "http.decoding"),
            ("HTTP/1.1 302 Found\r\nLocation: /a\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n", "http.protocol"),
            ("HTTP/1.1 302 Found\r\nLocation: http://\r\nContent-Length: 0\r\n\r\n", "http.protocol"),
            (String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 11) + head + "\r\n", "http.protocol"),
        ])
    func brokenResponse(response: String, code: String) async throws {
        let server = try ScriptedServer(["/": Script.raw(response)])
        try await withPlugin(.fetch(), in: .inProcess, configuration: Fetching.open) { bridge in
            #expect(await Fetching.error(bridge, ["url": server.url("/")])?.code.rawValue == code)
        }
    }

    @Test("Ten interim responses and bytes beyond the Content-Length are ignored")
    func oddResponses() async throws {
        let server = try ScriptedServer([
            "/hints": Script.raw(
                String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", count: 10) + Self.head
                    + "Content-Length: 2\r\n\r\nok"),
            "/more": Script.raw(Self.head + "Content-Length: 2\r\n\r\nok and more"),
        ])
        try await withPlugin(.fetch(), in: .inProcess, configuration: Fetching.open) { bridge in
            for path in ["/hints", "/more"] {
                let result = try await bridge.call("http.fetch", ["url": server.url(path), "as": "text"])
                #expect(result["body"]?["text"] == "ok")
            }
        }
    }

    @Test("Headers and trailers are limited in number and in bytes")
    func headerFloods() async throws {
        let server = try ScriptedServer([
            "/lines": [["send": "HTTP/1.1 200 OK\r\n"], ["repeat": "A: 1\r\n", "times": 100_000]],
            "/bytes": [["send": "HTTP/1.1 200 OK\r\nA: "], ["repeat": "a", "times": 1_000_000]],
            "/trailers": [
                ["send": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"],
                ["repeat": "A: 1\r\n", "times": 100_000],
            ],
        ])
        try await withPlugin(.fetch(), in: .inProcess, configuration: Fetching.open) { bridge in
            for path in ["/lines", "/bytes", "/trailers"] {
                let error = await Fetching.error(bridge, ["url": server.url(path)])
                #expect(error?.code == "http.too_large" && error?.data?["what"] == "headers", "\(path)")
            }
        }
    }

    @Test("A body is limited in size, both as received and decoded", arguments: PluginEnvironment.all)
    func bodies(environment: PluginEnvironment) async throws {
        let server = try ScriptedServer([
            "/endless": [
                ["send": "HTTP/1.1 200 OK\r\n\r\n"], ["repeat": "0123456789", "times": 10_000_000], ["close": true],
            ],
            "/announced": [["send": "HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n"], ["hang": true]],
            "/bomb": [
                ["send": "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"],
                ["gzip": "aaaaaaaaaa", "times": 1_000_000],
                ["close": true],
            ],
        ])
        try await withPlugin(.fetch(), in: environment, configuration: Fetching.open) { bridge in
            for (path, what) in [("/announced", "body"), ("/endless", "body"), ("/bomb", "decoded")] as [(String, JSON)]
            {
                let options: JSON = ["url": server.url(path), "maxBytes": 100_000]
                let error = await Fetching.error(bridge, options)
                #expect(error?.code == "http.too_large", "\(path)")
                #expect(error?.data == ["what": what, "limit": 100_000], "\(path)")
            }
        }
    }

    // MARK: Slow servers

    @Test("A silent server causes a timeout after idleMs that names the phase")
    func silence() async throws {
        let server = try ScriptedServer([
            "/head": [["hang": true]],
            "/body": [["send": "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"], ["hang": true]],
        ])
        try await withPlugin(.fetch(), in: .inProcess, configuration: Fetching.open) { bridge in
            for (path, phase) in [("/head", "waiting"), ("/body", "receiving")] as [(String, JSON)] {
                let error = await Fetching.error(bridge, ["url": server.url(path), "idleMs": 50])
                #expect(error?.code == "http.timeout")
                #expect(error?.data == ["phase": phase, "started": true])
                #expect(error?.isTransient == true)
            }
        }
    }

    @Test("A fetch from a server that sends single bytes ends at the caller's deadline")
    func drip() async throws {
        let drip: [JSON] = (0..<10_000).flatMap { _ -> [JSON] in [["send": "a"], ["pause": 0.05]] }
        let server = try ScriptedServer([
            "/": .array([["send": "HTTP/1.1 200 OK\r\nContent-Length: 100001\r\n\r\n"]] + drip)
        ])
        let options: JSON = ["url": server.url("/")]
        let bridge = try await TestBridge.start(.fetch(), configuration: ["fetch": Fetching.open])
        let session = await bridge.session()
        let call = await session.begin("http.fetch", options, timeout: .seconds(5))
        await bridge.advance(by: .seconds(6))
        let error = await #expect(throws: BridgeError.self) { try await session.outcome(of: call) }
        #expect(error?.code == .callTimeout)
        await bridge.stop()
    }

    // MARK: Callers

    @Test("A caller that does not read its stream does not block other fetches")
    func unread() async throws {
        let server = try ScriptedServer([
            "/long": [["send": "HTTP/1.1 200 OK\r\n\r\n"], ["repeat": "a", "times": 3_000_000], ["close": true]],
            "/short": Script.response("ok"),
        ])
        try await withPlugin(.fetch(), in: .inProcess, configuration: Fetching.open) { bridge in
            let slow = try await bridge.session()
            let result = try await slow.call("http.fetch", ["url": server.url("/long"), "as": "stream"])
            let other = try await bridge.call("http.fetch", ["url": server.url("/short"), "as": "text"])
            #expect(other["body"]?["text"] == "ok")
            // A late reader still gets the whole body.
            let bytes = try await slow.readStream(result["body"]?["stream"]?.stringValue ?? "")
            #expect(bytes.count == 3_000_000)
        }
    }

    @Test("A fetch can be cancelled in every phase", arguments: ["waiting", "receiving", "sending"])
    func cancelled(phase: String) async throws {
        let server = try ScriptedServer([
            "/waiting": [["hang": true]],
            "/receiving": [["send": "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"], ["hang": true]],
            "/sending": [["hang": true]], "/after": Script.response("ok"),
        ])
        let bridge = try await TestBridge.start(.fetch(), configuration: ["fetch": Fetching.open])
        let session = await bridge.session()
        var options: JSONObject = ["url": server.url("/\(phase)")]
        if phase == "sending" {
            options["method"] = "PUT"
            options["body"] = ["stream": try await session.call("bridge.stream.new")["stream"] ?? nil]
        }
        let call = await session.begin("http.fetch", .object(options))
        // The server has received the request once it answers a later one.
        var count = 0
        while count == 0 {
            let result = try await session.call("http.fetch", ["url": server.url("/_seen")])
            count = result["body"]?["json"]?.arrayValue?.count ?? 0
        }
        await session.cancel(call)
        let error = await #expect(throws: BridgeError.self) { try await session.outcome(of: call) }
        #expect(error?.code == .callCancelled)
        let result = try await session.call("http.fetch", ["url": server.url("/after"), "as": "text"])
        #expect(result["body"]?["text"] == "ok")
        await bridge.stop()
    }

    @Test("A user's fetches above the transfer limit wait; those above the queue limit fail as busy")
    func quota() async throws {
        let server = try ScriptedServer(["/hang": [["hang": true]], "/": Script.response("ok")])
        let bridge = try await TestBridge.start(
            .fetch(),
            configuration: ["fetch": ["private_networks": ["127.0.0.0/8"], "transfers": 1, "queue": 1]])
        let session = await bridge.session()
        let first = await session.begin("http.fetch", ["url": server.url("/hang")])
        let second = await session.begin("http.fetch", ["url": server.url("/"), "as": "text"])
        let error = await #expect(throws: BridgeError.self) {
            try await session.call("http.fetch", ["url": server.url("/")])
        }
        #expect(error?.code == .busy && error?.isTransient == true)
        await session.cancel(first)
        let result = try await session.outcome(of: second)
        #expect(result["body"]?["text"] == "ok")
        await bridge.stop()
    }
}
