import TaskKit
import TaskKitTesting
import TestSupport
import Testing

@testable import FetchTasks

/// Helpers for tests of the task.
enum Fetching {
    /// Settings that allow the private loopback network.
    static let open: JSON = ["private_networks": ["127.0.0.0/8"]]

    /// Returns the error of a call.
    static func error(_ bridge: PluginBridge, _ options: JSON) async -> BridgeError? {
        do {
            let result = try await bridge.call("http.fetch", options)
            Issue.record("it was answered with \(result)")
            return nil
        } catch {
            return error as? BridgeError
        }
    }

    /// Returns the requests that a server has received.
    static func seen(_ server: ScriptedServer, _ bridge: PluginBridge) async throws -> [JSON] {
        let result = try await bridge.call("http.fetch", ["url": server.url("/_seen")])
        return result["body"]?["json"]?.arrayValue ?? []
    }

    static func header(_ name: String, of request: JSON?) -> String? {
        (request?["headers"]?.arrayValue ?? []).first {
            $0[0]?.stringValue?.lowercased() == name.lowercased()
        }?[1]?.stringValue
    }
}

@Suite("Fetching", .timeLimit(.minutes(20)), .enabled(if: ScriptedServer.isThere, "needs /usr/bin/python3"))
struct FetchTests {
    @Test("The plugin passes its own check")
    func conforms() throws { try Plugin.fetch().check() }

    @Test("A result has the status, the headers in order, and the text", arguments: PluginEnvironment.all)
    func text(environment: PluginEnvironment) async throws {
        let server = try ScriptedServer([
            "/": Script.response(
                "Grüße", status: "404 Not Here", headers: "Content-Type: text/plain\r\nA: 1\r\nB: 2\r\nA: 3\r\n")
        ])
        try await withPlugin(.fetch(), in: environment, configuration: Fetching.open) { bridge in
            let result = try await bridge.call("http.fetch", ["url": server.url("/")])
            #expect(result["status"] == 404)
            #expect(result["reason"] == "Not Here")
            #expect(result["body"] == ["text": "Grüße", "charset": "utf-8"])
            #expect(result["url"] == server.url("/"))
            #expect(result["protocol"] == "http/1.1")
            #expect(result["bytes"] == ["wire": 7, "decoded": 7])
            let names = result["headers"]?.arrayValue?.compactMap { $0[0]?.stringValue }
            #expect(names == ["Content-Length", "Content-Type", "A", "B", "A"])
        }
    }

    @Test(
        "A request has its method, its headers and its body",
        arguments: [
            (["text": "a"], "a", "text/plain;charset=UTF-8"),
            (["json": ["b": [1, nil]]], #"{"b":[1,null]}"#, "application/json"),
            (["base64": "AP8="], "\u{0}\u{FF}", nil),
            (
                ["form": ["a b": "c&d", "e": "é"]], "a+b=c%26d&e=%C3%A9",
                "application/x-www-form-urlencoded;charset=UTF-8"
            ),
            (["text": "<a/>", "type": "text/xml"], "<a/>", "text/xml"),
        ] as [(JSON, String, String?)])
    func request(body: JSON, sent: String, type: String?) async throws {
        let server = try ScriptedServer(["*": Script.response("ok")])
        try await withPlugin(.fetch(), in: .inProcess, configuration: Fetching.open) { bridge in
            try await bridge.call(
                "http.fetch",
                [
                    "url": server.url("/x?y=z"), "method": "post", "headers": [["X-A", "1"], ["X-E", ""]], "body": body,
                ])
            let request = try await Fetching.seen(server, bridge).first
            #expect(request?["line"] == "POST /x?y=z HTTP/1.1")
            #expect(request?["body"] == .string(sent))
            #expect(Fetching.header("content-type", of: request) == type)
            #expect(Fetching.header("x-a", of: request) == "1")
            #expect(Fetching.header("x-e", of: request) == "")
            #expect(Fetching.header("user-agent", of: request) == "Trestle")
            #expect(Fetching.header("expect", of: request) == nil)
            #expect(Fetching.header("cookie", of: request) == nil)
        }
    }

    @Test(
        "The form of the body depends on its content type and on the option as",
        arguments: [
            ("application/json", #"{"a":1}"#, "auto", ["json": ["a": 1]]),
            ("application/json", "{", "auto", ["text": "{", "charset": "utf-8"]),
            ("application/problem+json", "[]", "auto", ["json": []]),
            ("text/html", "<p>", "auto", ["text": "<p>", "charset": "utf-8"]),
            ("image/png", "abc", "auto", ["base64": "YWJj"]),
            ("image/png", "abc", "text", ["text": "abc", "charset": "utf-8"]),
            ("text/plain", "7", "json", ["json": 7]),
            ("text/plain", "abc", "base64", ["base64": "YWJj"]),
        ] as [(String, String, JSON, JSON)])
    func forms(type: String, body: String, form: JSON, expected: JSON) async throws {
        let server = try ScriptedServer(["/": Script.response(body, headers: "Content-Type: \(type)\r\n")])
        try await withPlugin(.fetch(), in: .inProcess, configuration: Fetching.open) { bridge in
            let result = try await bridge.call("http.fetch", ["url": server.url("/"), "as": form])
            #expect(result["body"] == expected)
        }
    }

    @Test("A body with an unknown coding is returned undecoded, from the server and from the cache")
    func unknownCoding() async throws {
        let headers = "Content-Type: text/plain\r\nContent-Encoding: lzma, gzip\r\nCache-Control: max-age=60\r\n"
        let server = try ScriptedServer(["/": Script.response("abc", headers: headers)])
        try await withPlugin(.fetch(), in: .inProcess, configuration: Fetching.open) { bridge in
            for from in ["network", "cache"] as [JSON] {
                let result = try await bridge.call("http.fetch", ["url": server.url("/")])
                #expect(result["from"] == from && result["body"]?["text"] == "abc")
                #expect(result["headers"]?.arrayValue?.contains(["Content-Encoding", "lzma, gzip"]) == true)
            }
        }
    }

    @Test("A body longer than the limit for results is returned as a stream", arguments: PluginEnvironment.all)
    func stream(environment: PluginEnvironment) async throws {
        let server = try ScriptedServer([
            "/": [
                ["send": "HTTP/1.1 200 OK\r\nContent-Length: 600000\r\nContent-Type: text/plain\r\n\r\n"],
                ["repeat": "0123456789", "times": 60000],
            ]
        ])
        try await withPlugin(.fetch(), in: environment, configuration: Fetching.open) { bridge in
            let session = try await bridge.session()
            for options: JSON in [[:], ["as": "stream"], ["respond": "headers"]] {
                var options = options.objectValue ?? [:]
                options["url"] = server.url("/")
                let result = try await session.call("http.fetch", .object(options))
                #expect(result["body"]?["bytes"] == 600_000)
                let bytes = try await session.readStream(result["body"]?["stream"]?.stringValue ?? "")
                #expect(bytes.count == 600_000)
                #expect(bytes == Array(String(repeating: "0123456789", count: 60000).utf8))
            }
            let error = await Fetching.error(bridge, ["url": server.url("/"), "as": "text"])
            #expect(error?.code == "http.too_large")
        }
    }

    @Test("A stream can be the body of a request", arguments: PluginEnvironment.all)
    func upload(environment: PluginEnvironment) async throws {
        let server = try ScriptedServer([
            "/chunks": [["read": true], ["send": "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"]],
            "/length": Script.response("ok"),
        ])
        let bytes = (0..<600_000).map { UInt8(ascii: "a") + UInt8($0 % 26) }
        try await withPlugin(.fetch(), in: environment, configuration: Fetching.open) { bridge in
            let session = try await bridge.session()
            for (path, count) in [("/chunks", nil), ("/length", 600_000)] as [(String, JSON?)] {
                let stream = try await session.makeStream(bytes, type: nil)
                var body: JSONObject = ["stream": .string(stream.name)]
                body["bytes"] = count
                // Each of the stream's many steps waits for other tests on a busy machine.
                try await session.call(
                    "http.fetch", ["url": server.url(path), "method": "PUT", "body": .object(body)],
                    timeout: .seconds(600))
                try await stream.written()
            }
            let seen = try await session.call("http.fetch", ["url": server.url("/_seen"), "as": "stream"])
            let text = try await session.readStream(seen["body"]?["stream"]?.stringValue ?? "")
            let requests = try JSON(parsing: text)
            for index in 0...1 {
                #expect(requests[index]?["body"]?.stringValue.map { Array($0.utf8) == bytes } == true)
            }
            #expect(Fetching.header("content-length", of: requests[1]) == "600000")
        }
    }

    @Test("Unknown and invalid options are refused before a request is sent")
    func options() async throws {
        try await withPlugin(.fetch(), in: .inProcess, configuration: Fetching.open) { bridge in
            let wrong: [JSON] = [
                ["url": "http://127.0.0.1/", "unknown": 1], ["url": "http://a b/"],
                ["url": "http://user:password@127.0.0.1/"], ["url": "http://127.0.0.1/", "method": "CONNECT"],
                ["url": "http://127.0.0.1/", "method": "GE T"], ["url": "http://127.0.0.1/", "body": ["text": "a"]],
                ["url": "http://127.0.0.1/", "headers": ["Host": "a"]],
                ["url": "http://127.0.0.1/", "headers": ["Proxy-A": "a"]],
                ["url": "http://127.0.0.1/", "headers": ["A": "b\r\nC: d"]],
                ["url": "http://127.0.0.1/", "headers": ["A": "b\u{0}"]],
                ["url": "http://127.0.0.1/", "headers": ["A\nB": "c"]],
                ["url": "http://127.0.0.1/", "headers": ["": "c"]], ["url": "http://127.0.0.1/", "headers": [["A"]]],
                ["url": "http://127.0.0.1/", "maxBytes": -1], ["url": "http://127.0.0.1/", "integrity": "md5-abc"],
                ["url": "http://127.0.0.1/", "method": "POST", "body": [:]],
                ["url": "http://127.0.0.1/", "method": "POST", "body": ["text": "a", "json": 1]],
                ["url": "http://127.0.0.1/", "method": "POST", "body": ["text": "a", "bytes": 1]],
            ]
            for url: JSON in ["ftp://127.0.0.1/", "file:///etc/passwd", "not a URL"] {
                let error = await Fetching.error(bridge, ["url": url])
                #expect(error?.code == "http.refused" && error?.data?["reason"] == "scheme", "\(url)")
            }
            for options in wrong {
                let error = await Fetching.error(bridge, options)
                #expect(error?.code == .optionsInvalid, "\(options)")
                // The message describes the mistake itself, not a generic mismatch.
                #expect(error?.message.contains("fitting value") == false, "\(error?.message ?? "")")
            }
        }
    }
}
