import HTTPRules
import TaskKit
import TaskKitTesting
import Testing

@testable import FetchTasks

@Suite(
    "Server settings", .timeLimit(.minutes(20)), .enabled(if: ScriptedServer.isThere, "needs /usr/bin/python3"))
struct ServerSettingTests {
    /// A hash that matches no key of these tests.
    private static let other = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

    @Test(
        "A certificate must have one of the keys that are pinned for its host",
        .enabled(if: TestAuthority.isThere, "needs openssl"))
    func pins() async throws {
        let authority = try TestAuthority()
        let certificate = try authority.certificate("DNS:localhost")
        let server = try ScriptedServer(["*": Script.response("in")], certificate: certificate)
        let key: JSON = .string(try authority.keyHash(of: certificate))
        let wrong: JSON = [.string(Self.other), .string(Self.other)]
        for (pins, reason) in [
            ([["host": "localhost", "sha256": [key, .string(Self.other)]]], nil),
            ([["host": "localhost", "sha256": wrong]], "pin"), ([["host": "a.example", "sha256": wrong]], nil),
            ([["host": "*.localhost", "sha256": wrong]], nil),
            (
                [
                    ["host": "localhost", "sha256": [key, .string(Self.other)]],
                    ["host": "localhost", "sha256": wrong],
                ], "pin"
            ),
        ] as [(JSON, JSON?)] {
            let section: JSON = [
                "private_networks": ["127.0.0.0/8", "::1/128"], "ca_file": .string(authority.file), "pins": pins,
            ]
            try await withPlugin(.fetch(), in: .inProcess, configuration: section) { bridge in
                do {
                    let result = try await bridge.call("http.fetch", ["url": server.url("/", host: "localhost")])
                    #expect(reason == nil && result["status"] == 200)
                } catch let error as BridgeError {
                    #expect(error.code == "http.tls" && error.data?["reason"] == reason, "\(pins)")
                }
            }
        }
    }

    @Test("Requests use the proxy, which resolves names; addresses in URLs are still checked")
    func proxy() async throws {
        let proxy = try ScriptedServer(["*": Script.response("by proxy", headers: "Content-Type: text/plain\r\n")])
        let section: JSON = ["proxy": .string("http://127.0.0.1:\(proxy.port)/")]
        try await withPlugin(.fetch(), in: .inProcess, configuration: section) { bridge in
            let result = try await bridge.call("http.fetch", ["url": "http://name.invalid/x"])
            #expect(result["body"]?["text"] == "by proxy")
            let error = await Fetching.error(bridge, ["url": "http://10.0.0.1/"])
            #expect(error?.data?["reason"] == "private_address")
        }
        try await withPlugin(.fetch(), in: .inProcess, configuration: Fetching.open) { bridge in
            let lines = try await Fetching.seen(proxy, bridge).map { $0["line"] }
            #expect(lines == ["GET http://name.invalid/x HTTP/1.1"])
        }
    }

    @Test(
        "Invalid proxies and pins are refused",
        arguments: [
            ["proxy": "proxy.example:3128"], ["proxy": "ftp://proxy.example"], ["proxy": "http://a:b@proxy.example"],
            ["proxy": "http://"], ["pins": [["host": "a.example", "sha256": []]]],
            ["pins": [["host": "a.example", "sha256": ["AA==", "AA=="]]]],
            ["pins": [["host": "a b", "sha256": [.string(other), .string(other)]]]],
        ] as [JSON])
    func refused(section: JSON) {
        #expect(throws: JSONMismatch.self) {
            try FetchSettings(JSONCoding.decode(FetchConfiguration.self, from: section))
        }
    }

    @Test(
        "An invalid part of the user agent is reported with its own setting",
        arguments: [
            (["user_agent": "A\n"], "$.user_agent"), (["user_agent_append": "B\n"], "$.user_agent_append"),
            (["user_agent": "A/1", "user_agent_append": "B\u{20AC}"], "$.user_agent_append"),
        ] as [(JSON, String)])
    func userAgent(section: JSON, path: String) {
        let error = #expect(throws: JSONMismatch.self) {
            try FetchSettings(JSONCoding.decode(FetchConfiguration.self, from: section))
        }
        #expect(error?.path == path)
    }
}
