import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("trestle fetch", .blocking, .enabled(if: HTTPScriptProcess.isPossible, "needs python3"))
struct FetchCommandTests {
    @Test("The body goes to standard output unchanged; status and headers go to standard error with --include")
    func body() throws {
        try FetchServer.with(["/": FetchServer.response("a\u{1B}b", "200 OK", "X-A: 1\r\n")]) { home, base in
            let plain = try home.trestle("fetch", "\(base)/")
            #expect(plain.end == .exited(0), "\(plain.errors)")
            #expect(plain.output == "a\u{1B}b" && plain.errors == "")
            let full = try home.trestle("fetch", "--include", "\(base)/")
            #expect(full.output == "a\u{1B}b")
            #expect(full.errors.hasPrefix("http/1.1 200 OK\n"), "\(full.errors)")
            #expect(full.errors.contains("\nX-A: 1\n") && full.errors.contains("\n(from network"), "\(full.errors)")
            let json = try JSON(parsing: home.trestle("fetch", "--json", "\(base)/").errors)
            #expect(json["status"] == 200 && json["body"] == nil)
        }
    }

    @Test("A body is text, a file or standard input, and is sent with the matching headers")
    func data() throws {
        try FetchServer.with(["*": FetchServer.response("")]) { home, base in
            let folder = try TemporaryFolder()
            let file = try folder.write("from a file", to: "f")
            for arguments in [
                ["--data", "-x"], ["--data", "@\(file)", "-X", "PUT"], ["--data-json", "{\"a\": 1}"],
                ["--form", "a=1 2", "--form", "b="], ["-H", "X-A: 1", "-H", "X-A:2"],
            ] {
                let run = try home.trestle(["fetch", "\(base)/"] + arguments)
                #expect(run.end == .exited(0), "\(run.errors)")
            }
            let piped = try home.trestle("fetch", "\(base)/", "--data", "@-", input: "piped")
            #expect(piped.end == .exited(0), "\(piped.errors)")
            let seen = try JSON(parsing: home.trestle("fetch", "\(base)/_seen").output).arrayValue ?? []
            try #require(seen.count >= 6)
            func header(_ index: Int, _ name: String) -> [String] {
                (seen[index]["headers"]?.arrayValue ?? []).filter { $0.arrayValue?[0] == .string(name) }
                    .compactMap { $0.arrayValue?[1].stringValue }
            }
            #expect(seen[0]["line"] == "POST / HTTP/1.1" && seen[0]["body"] == "-x")
            #expect(seen[1]["line"] == "PUT / HTTP/1.1" && seen[1]["body"] == "from a file")
            #expect(header(1, "Content-Length") == ["11"])
            #expect(seen[2]["body"] == "{\"a\": 1}" && header(2, "Content-Type") == ["application/json"])
            #expect(seen[3]["body"] == "a=1+2&b=")
            #expect(seen[4]["line"] == "GET / HTTP/1.1" && header(4, "X-A") == ["1", "2"])
            #expect(header(5, "Transfer-Encoding") == ["chunked"] || seen[5]["body"] == "piped")
        }
    }

    @Test("A response of any status is a success; with --fail the body is not written and the status is 1")
    func failure() throws {
        try FetchServer.with(["/": FetchServer.response("sorry", "404 Not Found")]) { home, base in
            let run = try home.trestle("fetch", "\(base)/")
            #expect(run.end == .exited(0) && run.output == "sorry", "\(run.errors)")
            let failed = try home.trestle("fetch", "--fail", "\(base)/")
            #expect(failed.end == .exited(1) && failed.output == "")
            #expect(failed.errors == "trestle: the server answered 404 Not Found\n")
            let json = try home.trestle("fetch", "--fail", "--json", "\(base)/")
            #expect(json.end == .exited(1) && json.output == "", "\(json)")
            let lines = try json.errors.split(separator: "\n").map { try JSON(parsing: String($0)) }
            #expect(lines.last?["error"]?["code"] == "http.status", "\(json.errors)")
        }
    }

    @Test("--output writes a complete file or none; an existing file stays, and no request is sent")
    func output() throws {
        let cut: JSON = [["send": "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"], ["close": true]]
        let script: JSON = ["/": FetchServer.response("whole"), "/cut": cut, "/no": FetchServer.response("")]
        try FetchServer.with(script) { home, base in
            let folder = try TemporaryFolder()
            let file = folder.file("f")
            let run = try home.trestle("fetch", "\(base)/", "--output", file)
            #expect(run.end == .exited(0) && run.output == "", "\(run.errors)")
            #expect(contents(of: file) == "whole")
            let refused = try home.trestle("fetch", "\(base)/no", "-o", file)
            #expect(refused.end == .exited(64) && refused.errors.contains("--force"), "\(refused.errors)")
            #expect(try !home.trestle("fetch", "\(base)/_seen").output.contains("/no"))
            for option in ["-o", "--har"] {
                let nowhere = try home.trestle("fetch", "\(base)/no", option, "/nowhere/x")
                #expect(nowhere.end == .exited(1) && nowhere.errors.contains("/nowhere/x cannot be created"))
            }
            #expect(try !home.trestle("fetch", "\(base)/_seen").output.contains("/no"))
            let policy = try home.trestle("fetch", "\(base)/no", "--policy", "foo")
            #expect(policy.end == .exited(64), "\(policy.errors)")
            #expect(policy.errors.hasPrefix("trestle: --policy: expected one of default, "), "\(policy.errors)")
            #expect(policy.errors.contains("got 'foo'"), "\(policy.errors)")
            let broken = try home.trestle("fetch", "\(base)/cut", "-o", folder.file("cut"))
            #expect(
                broken.end != .exited(0) && broken.errors.contains("ended before the response did"), "\(broken.errors)")
            #expect(try TestSupport.run("/bin/ls", ["-A", folder.path]).output == "f\n")
            #expect(try home.trestle("fetch", "\(base)/_seen", "-o", file, "--force").end == .exited(0))
            #expect(contents(of: file).contains("GET /cut"))
        }
    }

    @Test("Redirects are followed and reported; with --no-follow the first response is the result")
    func redirects() throws {
        let script: JSON = [
            "/": FetchServer.response("", "302 Found", "Location: /b\r\n"), "/b": FetchServer.response("there"),
        ]
        try FetchServer.with(script) { home, base in
            let followed = try home.trestle("fetch", "-i", "\(base)/")
            #expect(followed.output == "there")
            #expect(followed.errors.hasPrefix("302 \(base)/\nhttp/1.1 200 OK\n"), "\(followed.errors)")
            let first = try home.trestle("fetch", "-i", "--no-follow", "\(base)/")
            #expect(first.output == "" && first.errors.hasPrefix("http/1.1 302 Found\n"), "\(first.errors)")
        }
    }

    @Test("--head requests only the header: a line of JSON, or text with --text")
    func head() throws {
        try FetchServer.with(["/": [["send": "HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n"]]]) { home, base in
            let line = try home.trestle("fetch", "--head", "\(base)/")
            #expect(line.end == .exited(0), "\(line.errors)")
            #expect(try JSON(parsing: line.output)["status"] == 204)
            let text = try home.trestle("fetch", "--head", "--text", "\(base)/")
            #expect(text.output.hasPrefix("http/1.1 204 No Content\nX-A: 1\n"), "\(text.output)")
            #expect(try home.trestle("fetch", "\(base)/_seen").output.contains("HEAD / HTTP/1.1"))
        }
    }

    @Test(
        "On a terminal the header is in colour, control characters of the body are escaped, and binary is refused")
    func terminal() throws {
        let script: JSON = ["/": FetchServer.response("é\u{1B}[2J"), "/b": FetchServer.response("a\u{0}b")]
        try FetchServer.with(script) { home, base in
            let terminal = try PseudoTerminal(rows: 24, columns: 80)
            let shown = try terminal.run(Paths.program("trestle"), ["--socket", home.socketPath, "fetch", "\(base)/"])
            let text = try terminal.read(until: "[2J")
            #expect(text.contains("\u{1B}[32;1m200 OK\u{1B}[0m"), "\(text)")
            #expect(text.hasSuffix(#"\u{1B}[2J"#), "\(text)")
            let end = try shown.wait()
            #expect(end == .exited(0), "\(text)\(terminal.rest())")
            let binary = try terminal.run(
                Paths.program("trestle"), ["--socket", home.socketPath, "fetch", "\(base)/b"])
            _ = try terminal.read(until: "the body is not a text")
            #expect(try binary.wait() == .exited(64))
        }
    }

    @Test(
        "Invalid arguments are reported before a request is sent",
        arguments: [
            ([], "url"), (["http://a", "--data", "1", "--form", "a=1"], "exclude each other"),
            (["http://a", "--form", "a"], "name=value"), (["http://a", "--form", "a=1", "--form", "a=2"], "twice"),
            (["http://a", "-H", "no"], "a colon"), (["http://a", "--data-json", "{"], "not valid JSON"),
            (["http://a", "--head", "--data", "1"], "no body"), (["http://a", "--head", "-o", "f"], "exclude"),
            (["http://a", "--offline", "--policy", "reload"], "exclude each other"),
        ])
    func wrong(arguments: [String], words: String) throws {
        let run = try run(Paths.program("trestle"), ["--socket", "/nowhere", "fetch"] + arguments)
        #expect(run.end == .exited(64) && run.errors.contains(words), "\(run.errors)")
    }

    @Test("Errors name the missing plugin, or the setting that permits a private address")
    func refused() throws {
        try withDaemon("[plugins]\ndisabled = [\"fetch\"]\n") { daemon in
            let run = try daemon.home.trestle("fetch", "http://127.0.0.1/")
            #expect(run.end == .exited(1) && run.errors.contains("no plugin fetch"), "\(run.errors)")
        }
        try withDaemon { daemon in
            let run = try daemon.home.trestle("fetch", "http://127.0.0.1/")
            #expect(run.end == .exited(1) && run.errors.contains("private_networks"), "\(run.errors)")
        }
    }
}
