import TaskKit
import TaskKitTesting
import TestSupport
import Testing

@testable import FetchTasks

@Suite(
    "Fetching from nginx", .timeLimit(.minutes(20)),
    .enabled(if: NginxServer.isThere && TestAuthority.isThere, "needs nginx and openssl"))
struct NginxTests {
    private static let locations = """
        gzip on; gzip_types *; gzip_min_length 1; gzip_proxied any; return 200 "hello, hello, hello, hello, hello";
        """

    private func settings(_ authority: TestAuthority?) -> JSON {
        var settings: JSONObject = ["private_networks": ["127.0.0.0/8"]]
        settings["ca_file"] = authority.map { .string($0.file) }
        return .object(settings)
    }

    @Test("Fetches gzip over HTTP/2 and TLS from a server whose CA is in ca_file", arguments: PluginEnvironment.all)
    func http2(environment: PluginEnvironment) async throws {
        let authority = try TestAuthority()
        let server = try NginxServer(certificate: authority.certificate("IP:127.0.0.1"), Self.locations)
        try await withPlugin(.fetch(), in: environment, configuration: settings(authority)) { bridge in
            let url: JSON = .string("https://127.0.0.1:\(server.port)/")
            for _ in 0..<3 {
                let result = try await bridge.call("http.fetch", ["url": url])
                #expect(result["protocol"] == "h2" && result["status"] == 200)
                #expect(result["body"]?["text"] == "hello, hello, hello, hello, hello")
            }
            let hash = "sha256-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
            let error = await Fetching.error(bridge, ["url": url, "integrity": .string(hash)])
            #expect(error?.code == "http.integrity")
        }
    }

    @Test("Refuses a certificate that is expired, is for another name, or has an untrusted issuer")
    func certificates() async throws {
        let authority = try TestAuthority()
        for (name, isExpired, trusted, reason) in [
            ("IP:127.0.0.1", true, authority, "expired"), ("DNS:other.example", false, authority, "name"),
            ("IP:127.0.0.1", false, nil, "issuer"),
        ] as [(String, Bool, TestAuthority?, JSON)] {
            let certificate = try authority.certificate(name, isExpired: isExpired)
            let server = try NginxServer(certificate: certificate, Self.locations)
            try await withPlugin(.fetch(), in: .inProcess, configuration: settings(trusted)) { bridge in
                let error = await Fetching.error(bridge, ["url": .string("https://127.0.0.1:\(server.port)/")])
                #expect(error?.code == "http.tls")
                #expect(
                    error?.data == ["reason": reason, "started": false], "\(error?.data?.text ?? ""), not \(reason)")
                #expect((error?.message.contains("ca_file") == true) == (reason == "issuer"))
            }
        }
    }

    @Test("Answers concurrent fetches of several sessions each with its own response")
    func many() async throws {
        let server = try NginxServer("location / { return 200 $request_uri; }")
        let port = server.port
        let bridge = try await TestBridge.start(.fetch(), configuration: ["fetch": settings(nil)])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<4 {
                let session = await bridge.session()
                group.addTask {
                    for number in 0..<50 {
                        let path = "/\(client)/\(number)"
                        let url: JSON = .string("http://127.0.0.1:\(port)\(path)")
                        let result = try await session.call("http.fetch", ["url": url, "as": "text"])
                        #expect(result["body"]?["text"] == .string(path))
                    }
                }
            }
            try await group.waitForAll()
        }
        await bridge.stop()
    }
}
