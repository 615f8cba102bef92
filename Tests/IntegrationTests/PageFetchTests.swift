import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite(
    "A page that fetches, under the rules of a daemon", .blocking,
    .enabled(if: HTTPScriptProcess.isPossible, "needs python3"))
struct PageFetchTests {
    /// The page has the same site as the server, but another origin.
    private static let origin = "http://127.0.0.1:1"
    private static let rules = """
        [[rule]]
        allow = "call"
        names = "http.fetch"
        origin = ["\(origin)", "http://localhost:1"]

        """

    /// Runs `body` with a daemon and with the port of a server at 127.0.0.1 and localhost.
    private func withServer(
        _ script: JSON, rules: (Int) -> String = { _ in "" }, _ body: (DaemonProcess, Int) throws -> Void
    ) throws {
        let server = try HTTPScriptProcess(script.text)
        let home = try DaemonHome("[plugins.fetch]\nprivate_networks = [\"127.0.0.0/8\", \"::1/128\"]\n")
        mkdir(home.folder.file("policy.d"), 0o755)
        try home.folder.write(Self.rules + rules(server.port), to: "policy.d/10.toml")
        try withDaemon(in: home) { daemon in try body(daemon, server.port) }
    }

    private static func response(_ headers: String = "") -> JSON {
        [["send": .string("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\(headers)\r\nok")]]
    }

    private func page(_ daemon: DaemonProcess, _ origin: String) throws -> Wire {
        let page = try daemon.connect()
        _ = try page.result("bridge.hello", ["origin": .string(origin)])
        return page
    }

    private func fetch(_ url: String, _ session: Wire, _ more: JSONObject = [:]) throws -> JSON {
        var options: JSONObject = ["url": .string(url)]
        for (key, value) in more { options[key] = value }
        return try session.call("http.fetch", .object(options))
    }

    /// Returns a header field of the last request for a path.
    private func field(_ name: String, _ path: String, _ port: Int, _ daemon: DaemonProcess) throws -> String? {
        let program = try daemon.connect()
        let seen = try program.result(
            "http.fetch", ["url": .string("http://127.0.0.1:\(port)/_seen"), "credentials": "omit"])
        let request = seen["body"]?["json"]?.arrayValue?.last {
            $0["line"]?.stringValue?.contains(" \(path) ") == true
        }
        return (request?["headers"]?.arrayValue ?? []).first { $0[0]?.stringValue == name }?[1]?.stringValue
    }

    @Test(
        "It reaches its own site at any port, and another site only with a reach rule",
        arguments: [false, true])
    func reach(hasRule: Bool) throws {
        let script: JSON = ["*": Self.response()]
        let rule: (Int) -> String = { port in
            hasRule
                ? "[[rule]]\nallow = \"reach\"\nnames = \"http://localhost:\(port)\"\norigin = \"\(Self.origin)\"\n"
                : ""
        }
        try withServer(script, rules: rule) { daemon, port in
            let page = try page(daemon, Self.origin)
            #expect(try fetch("http://127.0.0.1:\(port)/", page)["result"]?["status"] == 200)
            let other = try fetch("http://localhost:\(port)/", page)
            #expect(other["result"]?["status"] == (hasRule ? 200 : nil), "\(other.text)")
            #expect(other["error"]?["code"] == (hasRule ? nil : "permission.denied"), "\(other.text)")
            // Another scheme makes another site.
            #expect(try fetch("https://127.0.0.1:\(port)/", page)["error"]?["code"] == "permission.denied")
        }
    }

    @Test("It cannot set fields that are forbidden to pages, gets no Set-Cookie, and sends the cookies of its site")
    func fields() throws {
        let script: JSON = ["/": Self.response("Set-Cookie: a=1; HttpOnly\r\nX-A: 1\r\n"), "*": Self.response()]
        try withServer(script) { daemon, port in
            let page = try page(daemon, Self.origin)
            let base = "http://127.0.0.1:\(port)"
            for name in ["Cookie", "Origin", "Referer", "Sec-Fetch-Site", "Host", "cookie", "Proxy-Authorization"] {
                let answer = try fetch("\(base)/", page, ["headers": [[.string(name), "x"]]])
                #expect(answer["error"]?["code"] == "options.invalid", "\(name): \(answer.text)")
            }
            let result = try fetch("\(base)/", page)["result"]
            #expect(result?["headers"] == [["Content-Length", "2"], ["X-A", "1"]], "\(result?.text ?? "")")
            _ = try fetch("\(base)/again", page)
            #expect(try field("Cookie", "/again", port, daemon) == "a=1")
            // A script of the page does not get the cookie.
            #expect(try page.result("cookies.get")["cookies"] == [])
            // A program of the user may set these fields.
            let program = try daemon.connect()
            _ = try fetch("\(base)/own", program, ["headers": [["Cookie", "own=1"], ["Origin", "http://a.example"]]])
            #expect(try field("Cookie", "/own", port, daemon) == "own=1")
            #expect(try field("Origin", "/own", port, daemon) == "http://a.example")
        }
    }

    @Test("Origin, Referer and Sec-Fetch-Site are correct, and cookies obey SameSite")
    func sites() throws {
        let lines = ["strict=1; SameSite=Strict", "lax=1; SameSite=Lax", "unset=1", "none=1; SameSite=None; Secure"]
        let script: JSON = [
            "/set": Self.response(lines.map { "Set-Cookie: \($0)\r\n" }.joined()), "*": Self.response(),
        ]
        let rule: (Int) -> String = { port in
            "[[rule]]\nallow = \"reach\"\nnames = \"http://127.0.0.1:\(port)\"\norigin = \"http://localhost:1\"\n"
        }
        try withServer(script, rules: rule) { daemon, port in
            let base = "http://127.0.0.1:\(port)"
            let (own, other) = try (page(daemon, Self.origin), page(daemon, "http://localhost:1"))
            _ = try fetch("\(base)/set", own)
            _ = try fetch("\(base)/own", own)
            _ = try fetch("\(base)/post", own, ["method": "POST"])
            _ = try fetch("\(base)/other", other, ["credentials": "include"])
            _ = try fetch("\(base)/default", other)
            let expected: [(String, [String?])] = [
                ("/own", [Self.origin, Self.origin + "/", "same-site", "strict=1; lax=1; unset=1; none=1"]),
                ("/post", [Self.origin, Self.origin + "/", "same-site", "strict=1; lax=1; unset=1; none=1"]),
                ("/other", ["http://localhost:1", "http://localhost:1/", "cross-site", "none=1"]),
                ("/default", ["http://localhost:1", "http://localhost:1/", "cross-site", nil]),
            ]
            for (path, values) in expected {
                let seen = try ["Origin", "Referer", "Sec-Fetch-Site", "Cookie"].map {
                    try field($0, path, port, daemon)
                }
                #expect(seen == values, "\(path)")
            }
        }
    }

    @Test(
        "An origin similar to the one of a rule does not match the rule",
        arguments: [
            "http://127.0.0.1:2", "http://127.0.0.1", "http://127.0.0.1.:1", "HTTP://127.0.0.1:1",
            "http://127.0.0.1:01",
            "http://127.0.0.1:1/", " http://127.0.0.1:1", "http://0x7f.1:1", "http://①27.0.0.1:1",
            "http://u@127.0.0.1:1",
            "https://127.0.0.1:1", "http://xn--127-0.0.1:1",
        ])
    func near(origin: String) throws {
        try withServer(["*": Self.response()]) { daemon, port in
            let page = try daemon.connect()
            let hello = try page.call("bridge.hello", ["origin": .string(origin)])
            #expect(hello["result"] != nil || hello["error"]?["code"] == "options.invalid", "\(hello.text)")
            guard hello["result"] != nil else { return }
            let answer = try fetch("http://127.0.0.1:\(port)/", page)
            #expect(answer["error"]?["code"] == "permission.denied", "\(answer.text)")
            // The session cannot change its origin later.
            let again = try page.call("bridge.hello", ["origin": .string(Self.origin)])
            #expect(again["error"]?["code"] == "permission.denied", "\(again.text)")
        }
    }
}
