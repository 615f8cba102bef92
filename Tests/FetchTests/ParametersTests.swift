import HTTPRules
import TaskKit
import TaskKitTesting
import Testing

@testable import FetchTasks

@Suite("Public parameters", .timeLimit(.minutes(20)))
struct ParametersTests {
    private static let caller = Caller(session: 1, uid: 1000, gid: 1000, pid: 1, user: "ada", client: "app")
    private static let values = PublicParameters.Values(caller: caller, install: "i1")

    private func parameters(_ tables: JSON...) throws -> PublicParameters {
        let section = try JSONCoding.decode(FetchConfiguration.self, from: ["parameters": .array(tables)])
        return try FetchSettings(section).parameters
    }

    private func hop(_ url: String, _ parameters: PublicParameters, _ fields: [HeaderField] = []) throws -> Hop {
        var hop = Hop(url: try WebURL(url), method: "GET", headers: HeaderList(fields), body: nil)
        try parameters.add(to: &hop, Self.values)
        return hop
    }

    @Test("are appended to URLs of their origins, and to no others")
    func query() throws {
        let some = try parameters(["origins": ["https://*.a.example"], "query": ["u": "${uid}-${user}", "c": "a b&"]])
        for (url, expected) in [
            ("https://x.a.example/p", "https://x.a.example/p?c=a+b%26&u=1000-ada"),
            ("https://x.a.example/p?q=1&c=2#f", "https://x.a.example/p?q=1&c=2&u=1000-ada#f"),
            ("https://a.example/", "https://a.example/"), ("http://x.a.example/", "http://x.a.example/"),
        ] {
            #expect(try hop(url, some).url.textWithFragment == expected)
        }
    }

    @Test("replace existing values with override, and are excluded from the cache key with in_key false")
    func options() throws {
        let table: JSON = [
            "origins": ["https://a.example"], "query": ["c": "${client}"], "headers": ["X-I": "${install}"],
            "override": true, "in_key": false,
        ]
        let field = try #require(HeaderField(name: "x-i", value: "own"))
        let changed = try hop("https://a.example/?c=1&c=2&d", parameters(table), [field])
        #expect(changed.url.text == "https://a.example/?d&c=app")
        #expect(changed.keyURL?.text == "https://a.example/?c=1&c=2&d")
        #expect(changed.headers.map(\.value) == ["i1"])
        let twice = try parameters(["origins": ["https://a.example"], "headers": ["X-I": "${install}"]])
        #expect(try hop("https://a.example/", twice, [field]).headers.map(\.value) == ["own"])
        #expect(try hop("https://a.example/", twice).keyURL == nil)
    }

    @Test(
        "are refused if an origin, a variable or a header name is invalid",
        arguments: [
            ["origins": ["a.example"]], ["origins": ["https://*.co.uk"]],
            ["origins": ["https://a.example"], "query": ["a": "${b}"]],
            ["origins": ["https://a.example"], "query": ["a": "${uid"]],
            ["origins": ["https://a.example"], "headers": ["Host": "b"]],
        ] as [JSON])
    func refused(table: JSON) {
        #expect(throws: JSONMismatch.self) { try parameters(table) }
    }

    @Test(
        "are added to each hop by its own origin, and http.parameters returns them",
        .enabled(if: ScriptedServer.isThere, "needs /usr/bin/python3"))
    func redirect() async throws {
        let other = try ScriptedServer(["*": Script.response("")])
        let server = try ScriptedServer(["*": Script.redirect(302, to: other.url("/end"))])
        let own: JSON = .string("http://127.0.0.1:\(server.port)")
        let tables: JSON = [["origins": [own], "query": ["a": "1"], "headers": ["X-A": "${origin}"]]]
        try await withPlugin(
            .fetch(), in: .inProcess,
            configuration: ["private_networks": ["127.0.0.0/8", "::1/128"], "parameters": tables]
        ) { bridge in
            let result = try await bridge.call("http.fetch", ["url": server.url("/")])
            #expect(result["url"] == other.url("/end"))
            #expect(result["redirects"]?[0]?["url"] == server.url("/?a=1"))
            let first = try await bridge.call("http.fetch", ["url": server.url("/_seen", host: "localhost")])
            let request = first["body"]?["json"]?[0]
            #expect(request?["line"] == "GET /?a=1 HTTP/1.1" && Fetching.header("X-A", of: request) == "local")
            let last = try await Fetching.seen(other, bridge).last
            #expect(last?["line"] == "GET /end HTTP/1.1" && Fetching.header("X-A", of: last) == nil)
            let parameters = try await bridge.call("http.parameters", ["url": server.url("/")])
            #expect(parameters == ["query": [["a", "1"]], "headers": [["X-A", "local"]]])
        }
    }
}
