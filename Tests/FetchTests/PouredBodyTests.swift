import TaskKit
import TaskKitTesting
import TestSupport
import Testing

@testable import FetchTasks

// These tests need a daemon, because an in-process bridge has no pipes.
@Suite(
    "Bodies that are streamed into a pipe", .timeLimit(.minutes(20)),
    .enabled(if: ScriptedServer.isThere, "needs /usr/bin/python3"))
struct PouredBodyTests {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"

    /// Starts a fetch whose body is not stored. Returns the name of its stream.
    private static func stream(_ url: JSON, _ session: PluginSession, _ more: JSONObject = [:]) async throws -> String {
        var options: JSONObject = ["url": url, "as": "stream", "cache": "no-store"]
        for (name, value) in more { options[name] = value }
        return try await session.call("http.fetch", .object(options))["body"]?["stream"]?.stringValue ?? ""
    }

    @Test("All bytes arrive in order, whether the length is known or not", arguments: PluginEnvironment.all)
    func whole(environment: PluginEnvironment) async throws {
        let body: [JSON] = [["repeat": "0123456789abc", "times": 200_000], ["close": true]]
        let server = try ScriptedServer([
            "/length": .array([["send": .string(Self.head + "Content-Length: 2600000\r\n\r\n")]] + body),
            "/end": .array([["send": .string(Self.head + "\r\n")]] + body),
        ])
        let whole = Array(String(repeating: "0123456789abc", count: 200_000).utf8)
        try await withPlugin(.fetch(), in: environment, configuration: Fetching.open) { bridge in
            let session = try await bridge.session()
            for path in ["/length", "/end"] {
                let stream = try await Self.stream(server.url(path), session)
                let bytes = try await session.readStream(stream)
                #expect(bytes == whole, "\(path)")
            }
        }
    }

    @Test("A truncated body ends its stream with the error")
    func interrupted() async throws {
        let server = try ScriptedServer([
            "/": [
                ["send": .string(Self.head + "Content-Length: 900000\r\n\r\n")], ["repeat": "a", "times": 500_000],
                ["close": true],
            ]
        ])
        try await withPlugin(.fetch(), in: .live, configuration: Fetching.open) { bridge in
            let session = try await bridge.session()
            let stream = try await Self.stream(server.url("/"), session)
            let error = await #expect(throws: BridgeError.self) { try await session.readStream(stream) }
            #expect(error?.data?["error"]?["code"] == "http.interrupted")
        }
    }

    @Test("A body with a wrong hash or above maxBytes ends its stream with the error")
    func refused() async throws {
        let server = try ScriptedServer([
            "/": [["send": .string(Self.head + "\r\n")], ["repeat": "a", "times": 500_000], ["close": true]]
        ])
        let others: [(JSONObject, JSON)] = [
            (["integrity": "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="], "http.integrity"),
            (["maxBytes": 400_000], "http.too_large"),
        ]
        try await withPlugin(.fetch(), in: .live, configuration: Fetching.open) { bridge in
            let session = try await bridge.session()
            for (options, code) in others {
                let stream = try await Self.stream(server.url("/"), session, options)
                let error = await #expect(throws: BridgeError.self) { try await session.readStream(stream) }
                #expect(error?.data?["error"]?["code"] == code)
            }
        }
    }

    @Test("A coded body is decoded")
    func decoded() async throws {
        let server = try ScriptedServer([
            "/": [
                ["send": .string(Self.head + "Content-Encoding: gzip\r\n\r\n")],
                ["gzip": "0123456789", "times": 100_000], ["close": true],
            ]
        ])
        try await withPlugin(.fetch(), in: .live, configuration: Fetching.open) { bridge in
            let session = try await bridge.session()
            let bytes = try await session.readStream(try await Self.stream(server.url("/"), session))
            #expect(bytes == Array(String(repeating: "0123456789", count: 100_000).utf8))
        }
    }

    @Test("A reader that closes the stream ends the transfer, even if the server is silent")
    func left() async throws {
        let server = try ScriptedServer([
            "/silent": [["send": .string(Self.head + "\r\n")], ["repeat": "a", "times": 1000], ["hang": true]],
            "/long": [["send": .string(Self.head + "\r\n")], ["repeat": "a", "times": 3_000_000], ["hang": true]],
            "/short": Script.response("ok"),
        ])
        // The second fetch cannot start before the first has ended.
        let one: JSON = ["private_networks": ["127.0.0.0/8"], "transfers": 1]
        try await withPlugin(.fetch(), in: .live, configuration: one) { bridge in
            let session = try await bridge.session()
            for path in ["/silent", "/long"] {
                let stream = try await Self.stream(server.url(path), session)
                try await session.call("bridge.stream.read", ["stream": .string(stream)])
                try await session.call("bridge.stream.close", ["stream": .string(stream)])
                let other = try await session.call("http.fetch", ["url": server.url("/short"), "as": "text"])
                #expect(other["body"]?["text"] == "ok", "\(path)")
            }
        }
    }

    @Test("A body waits for its slow reader, and other fetches do not")
    func late() async throws {
        let server = try ScriptedServer([
            "/long": [["send": .string(Self.head + "\r\n")], ["repeat": "ab", "times": 1_500_000], ["close": true]],
            "/short": Script.response("ok"),
        ])
        try await withPlugin(.fetch(), in: .live, configuration: Fetching.open) { bridge in
            let session = try await bridge.session()
            var streams: [JSON] = []
            for _ in 0..<4 {
                let stream: JSON = ["stream": .string(try await Self.stream(server.url("/long"), session))]
                // A stream that is never read expires after a minute.
                #expect(try await session.call("bridge.stream.read", stream)["end"] == nil)
                streams.append(stream)
            }
            let other = try await session.call("http.fetch", ["url": server.url("/short"), "as": "text"])
            #expect(other["body"]?["text"] == "ok")
            for stream in streams.reversed() {
                var piece: JSON = [:]
                while piece["end"] == nil { piece = try await session.call("bridge.stream.read", stream) }
                #expect(piece["bytes"] == 3_000_000)
            }
        }
    }
}
