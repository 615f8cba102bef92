import BridgeClient
import BridgeJSON
import EventLoop
import Glibc
import TestSupport
import Testing

@Suite(
    "Content filters of pages", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: WebRun.isPossible, "\(WebRun.needs)"))
struct FilterTests {
    /// Serves a page with two scripts and two paragraphs, and returns which of them run and are shown.
    private func look(_ run: WebRun) async throws -> JSON {
        try run.server.serve("globalThis.first = 1;", as: "first.js")
        try run.server.serve("globalThis.second = 1;", as: "second.js")
        try run.server.serve(
            "filtered.html", script: "",
            body: """
                <script src="first.js"></script><script src="second.js"></script>
                <p class="first">a</p><p class="second">b</p>
                """)
        _ = try await run.navigate("\(run.server.origins[0])/filtered.html", finished: true)
        return try await run.evaluate(
            """
            const isShown = (name) => document.querySelector(name).offsetHeight > 0;
            return [globalThis.first ?? 0, globalThis.second ?? 0, isShown(".first"), isShown(".second")];
            """)
    }

    @Test("intercept requests: filters of the profile apply from its first page, and clients cannot remove them")
    func profile() async throws {
        try await WebRun.with { run in
            let origin = run.server.origins[0]
            try run.server.serve("globalThis.first = 1;", as: "first.js")
            try run.server.serve(
                "page.html", script: "WebBridge.call('test.report', globalThis.first ?? 0);",
                body: "<script src='first.js'></script>")
            try run.write(
                profile: """
                    [[filters]]
                    action = "block"
                    url = "/first\\\\.js$"
                    types = ["script"]
                    [[filters]]
                    action = "hide"
                    domains = ["*127.0.0.1"]
                    selector = ".first"
                    """, named: "test")
            try run.start("--profile", "test", "--bridge", origin, "\(origin)/page.html")
            #expect(try await run.report().value == 0)
            try await run.awaitTasks()
            #expect(try await look(run) == [0, 1, false, true])
            _ = try await run.bridge.call("web.filters.set", ["filters": []] as JSON, as: JSON.self)
            #expect(try await look(run) == [0, 1, false, true])
            let listed = try await run.bridge.call("web.filters.get", as: JSON.self)
            #expect(listed["filters"] == [] && listed["profile"]?.arrayValue?.count == 2)
            #expect(
                listed["profile"]?.arrayValue?.last
                    == ["action": "hide", "domains": ["*127.0.0.1"], "selector": ".first"])
        }
    }

    @Test("web.filters.set replaces the filters of clients, for open pages and for new ones")
    func clients() async throws {
        try await WebRun.with { run in
            try await run.startPage(profile: "allow = [\"http://localhost\"]\n")
            #expect(try await look(run) == [1, 1, true, true])
            for (filters, seen) in [
                ([["action": "block", "url": "first\\.js"]] as JSON, [0, 1, true, true] as JSON),
                ([["action": "block", "url": "first\\.js", "types": ["image"]]], [1, 1, true, true]),
                ([["action": "block", "url": "first\\.js", "domains": ["other.example"]]], [1, 1, true, true]),
                ([["action": "hide", "selector": ".second"]], [1, 1, true, false]),
                ([], [1, 1, true, true]),
            ] {
                _ = try await run.bridge.call("web.filters.set", ["filters": filters] as JSON, as: JSON.self)
                #expect(try await look(run) == seen, "\(filters.text)")
            }
            var failures = try await run.bridge.subscribe(to: "web.navigation.failed").makeAsyncIterator()
            let https: JSON = [["action": "https", "url": "^http://localhost/"]]
            _ = try await run.bridge.call("web.filters.set", ["filters": https] as JSON, as: JSON.self)
            // No server listens there, or its certificate is not trusted.
            await run.expect("web.navigate", ["uri": "http://localhost/"], "load.failed")
            #expect(try await failures.next()?.data["uri"] == "https://localhost/")
        }
    }

    @Test("invalid filters and too many filters are refused, and the previous ones stay")
    func refused() async throws {
        try await WebRun.with { run in
            try await run.startPage()
            let good: JSON = [["action": "block", "url": "first\\.js"]]
            _ = try await run.bridge.call("web.filters.set", ["filters": good] as JSON, as: JSON.self)
            let long = String(repeating: "a", count: 1_024)
            for (filters, code) in [
                ([["action": "block", "url": "("]] as JSON, "options.invalid" as ErrorCode),
                ([["action": "block", "url": ""]], "options.invalid"),
                ([["action": "block", "domains": ["Not.Lower"]]], "options.invalid"),
                ([["action": "hide"]], "options.invalid"), ([["action": "block", "selector": "p"]], "options.invalid"),
                ([["action": "ignore-previous-rules"]], "options.invalid"), ([["url": "a"]], "options.invalid"),
                (.array(Array(repeating: ["action": "block"], count: 257)), "quota.exceeded"),
                (.array(Array(repeating: ["action": "block", "url": .string(long)], count: 65)), "quota.exceeded"),
            ] {
                await run.expect("web.filters.set", ["filters": filters], code)
            }
            #expect(try await look(run) == [0, 1, true, true])
            let listed = try await run.bridge.call("web.filters.get", as: JSON.self)
            #expect(listed == ["filters": good, "profile": []])
        }
    }

    /// Sets filters.
    ///
    /// - Returns: The error's code; `nil` if they are set.
    private static func set(_ filters: JSON, _ bridge: Bridge) async -> ErrorCode? {
        do throws(BridgeError) {
            // A busy machine needs minutes for the CPU time that the engine may use.
            _ = try await bridge.call(
                "web.filters.set", ["filters": filters] as JSON, as: JSON.self, timeout: .seconds(600))
            return nil
        } catch {
            return error.code
        }
    }

    @Test("filters that the engine would compile endlessly are refused, and other calls get busy meanwhile")
    func endless() async throws {
        try await WebRun.with { run in
            try await run.startPage()
            let bridge = run.bridge
            let expression = ".*a" + String(repeating: "[ab]", count: 24)
            async let refusal = Self.set([["action": "block", "url": .string(expression)]], bridge)
            // Repeats until the other call has arrived.
            var code: ErrorCode?
            while code == nil { code = await Self.set([], bridge) }
            #expect(code == .busy)
            #expect(try await look(run) == [1, 1, true, true])
            #expect(await refusal == "options.invalid")
            #expect(await Self.set([], bridge) == nil)
        }
    }

    @Test("a killed compiler causes engine.failed; the previous filters stay, and new ones can be set")
    func killedCompiler() async throws {
        try await WebRun.with { run in
            run.environment.append("TMPDIR=\(run.homePath)")
            try await run.startPage()
            let bridge = run.bridge
            #expect(await Self.set([["action": "block", "url": "first\\.js"]], bridge) == nil)
            let expression = ".*a" + String(repeating: "[ab]", count: 24)
            async let refusal = Self.set([["action": "block", "url": .string(expression)]], bridge)
            var compilers: [pid_t] = []
            while compilers.isEmpty {
                await Task.yield()
                compilers = try run.descendants.filter {
                    contents(of: "/proc/\($0)/cmdline").contains("compile-filters")
                }
            }
            for pid in compilers { kill(pid, SIGKILL) }
            #expect(await refusal == "engine.failed")
            #expect(try await look(run) == [0, 1, true, true])
            #expect(await Self.set([], bridge) == nil)
            #expect(try await look(run) == [1, 1, true, true])
            let left = try FolderContents.names(in: run.homePath).filter { $0.hasPrefix("trestle-web-") }
            #expect(left.isEmpty, "\(left)")
        }
    }

    @Test("a profile whose filters the engine refuses ends with 78")
    func wrongProfile() async throws {
        try await WebRun.with { run in
            try run.write(profile: "filters = [{ action = \"block\", url = \"(\" }]\n", named: "test")
            let ended = try run.spawn(["--profile", "test", "\(run.server.origins[0])/page.html"])
            #expect(try ended.wait() == .exited(78))
            #expect(run.errors.contains("trestle-web: filters: the engine does not accept the filters: "))
        }
    }
}
