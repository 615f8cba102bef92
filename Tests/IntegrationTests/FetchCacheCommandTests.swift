import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite(
    "trestle fetch: the cache and the HAR", .blocking, .enabled(if: HTTPScriptProcess.isPossible, "needs python3"))
struct FetchCacheCommandTests {
    private static let stored = "Cache-Control: max-age=3000\r\nContent-Type: text/plain\r\n"

    /// A script in which each request of the path gets another body.
    private static let counted: JSON = [
        "/": [
            [
                "turns": [
                    FetchServer.response("first", "200 OK", stored), FetchServer.response("second", "200 OK", stored),
                ]
            ]
        ]
    ]

    /// Returns the number of requests that the server received for a path.
    private func requests(_ path: String, _ home: DaemonHome, _ base: String) throws -> Int {
        let seen = try JSON(parsing: home.trestle("fetch", "\(base)/_seen", "--policy", "no-store").output)
        return seen.arrayValue?.count { $0["line"]?.stringValue?.contains(" \(path) ") == true } ?? 0
    }

    @Test("--policy sets the use of the cache, and --include reports the source of the response")
    func policy() throws {
        try FetchServer.with(Self.counted) { home, base in
            func fetch(_ arguments: String...) throws -> (body: String, source: Substring?) {
                let run = try home.trestle(["fetch", "-i", "\(base)/"] + arguments)
                #expect(run.end == .exited(0), "\(run.errors)")
                return (run.output, run.errors.split(separator: "\n").last)
            }
            let first = try fetch()
            #expect(first.body == "first" && first.source == "(from network, miss)")
            let again = try fetch()
            #expect(again.body == "first" && again.source?.hasPrefix("(from cache, fresh, ") == true, "\(again)")
            let named = try fetch("--policy", "returnCacheDataDontLoad")
            #expect(named.body == "first" && named.source?.hasPrefix("(from cache, fresh, ") == true, "\(named)")
            let reloaded = try fetch("--policy", "reload")
            #expect(reloaded.body == "second" && reloaded.source == "(from network, bypass)")
            #expect(try requests("/", home, base) == 2)
            let wrong = try home.trestle("fetch", "\(base)/", "--policy", "none")
            #expect(wrong.end == .exited(64) && wrong.errors.contains("only-if-cached"), "\(wrong.errors)")
        }
    }

    @Test("--offline answers from the cache and sends no request, even if no response is stored")
    func offline() throws {
        try FetchServer.with(Self.counted) { home, base in
            let missed = try home.trestle("fetch", "\(base)/", "--offline")
            #expect(missed.end == .exited(1) && missed.output == "", "\(missed.output)")
            #expect(missed.errors.contains("http.cache_miss"), "\(missed.errors)")
            #expect(try home.trestle("fetch", "\(base)/").output == "first")
            #expect(try home.trestle("fetch", "\(base)/", "--offline").output == "first")
            #expect(try requests("/", home, base) == 1)
        }
    }

    @Test("A terminal shows the source of the response, in colour, before the body")
    func terminal() throws {
        try FetchServer.with(Self.counted) { home, base in
            let terminal = try PseudoTerminal(rows: 24, columns: 80)
            for source in ["network, \u{1B}[0mmiss", "cache, \u{1B}[32mfresh"] {
                let shown = try terminal.run(
                    Paths.program("trestle"), ["--socket", home.socketPath, "fetch", "\(base)/"])
                let text = try terminal.read(until: "first")
                #expect(text.contains("\u{1B}[32;1m200 OK\u{1B}[0m"), "\(text)")
                #expect(text.contains("\u{1B}[1mContent-Type\u{1B}[0m: text/plain"), "\(text)")
                #expect(text.contains("(from \(source)\u{1B}[0m"), "\(text)")
                #expect(try shown.wait() == .exited(0), "\(terminal.rest())")
            }
        }
    }

    @Test("--har writes each request and response, the last body and no secrets; an existing file stays")
    func har() throws {
        let script: JSON = [
            "/": FetchServer.response("", "302 Found", "Location: /b\r\nSet-Cookie: id=7\r\n"),
            "/b": FetchServer.response("thé", "404 Not Found", "Content-Type: text/plain\r\n"),
        ]
        try FetchServer.with(script) { home, base in
            let folder = try TemporaryFolder()
            let file = folder.file("page.har")
            let arguments = ["fetch", "\(base)/", "-H", "Authorization: Basic c2VjcmV0", "--har", file]
            let run = try home.trestle(arguments)
            #expect(run.end == .exited(0) && run.output == "thé", "\(run.errors)")
            let log = try JSON(parsing: contents(of: file))["log"]
            #expect(log?["version"] == "1.2")
            let entries = log?["entries"]?.arrayValue ?? []
            #expect(entries.map { $0["request"]?["url"] } == [.string("\(base)/"), .string("\(base)/b")])
            #expect(entries.map { $0["response"]?["status"] } == [302, 404])
            #expect(entries.last?["response"]?["content"]?["text"] == "thé")
            #expect(entries.last?["response"]?["content"]?["size"] == 4)
            let text = contents(of: file)
            #expect(text.contains("(masked)") && !text.contains("c2VjcmV0") && !text.contains("id=7"), "\(text)")
            var about = stat()
            #expect(stat(file, &about) == 0 && about.st_mode & 0o777 == 0o600)
            let refused = try home.trestle(arguments)
            #expect(refused.end == .exited(64) && refused.errors.contains("--force"), "\(refused.errors)")
            #expect(try requests("/b", home, base) == 1)
            #expect(contents(of: file) == text)
            #expect(try home.trestle(arguments + ["--force", "--fail"]).end == .exited(1))
            let failed = try JSON(parsing: contents(of: file))["log"]?["entries"]?.arrayValue?.last
            #expect(failed?["response"]?["status"] == 404 && failed?["response"]?["content"]?["text"] == nil)
        }
    }
}
