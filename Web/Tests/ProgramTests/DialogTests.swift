import BridgeClient
import BridgeJSON
import TestSupport
import Testing

@Suite(
    "Dialogs of pages", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: WebRun.isPossible, "\(WebRun.needs)"))
struct DialogTests {
    /// Starts trestle-web with a page that reports when it is loaded, and waits for the container's tasks.
    private func start(_ run: WebRun, _ arguments: String...) async throws {
        let origin = run.server.origins[0]
        try run.server.serve("page.html", script: "WebBridge.call('test.report', 'loaded');", body: "<p>text")
        try run.start(arguments + ["--bridge", origin, "\(origin)/page.html"])
        _ = try await run.report()
        try await run.awaitTasks()
    }

    /// Presents alerts without answering. Reports each alert that is shown and each that is cancelled.
    private func holdAlerts(_ run: WebRun) async throws -> (shown: AsyncStream<JSON>, gone: AsyncStream<JSON>) {
        let (shown, shows) = AsyncStream.makeStream(of: JSON.self)
        let (gone, goes) = AsyncStream.makeStream(of: JSON.self)
        try await run.bridge.register("ui.alert") { (options: JSON, call) -> JSON in
            shows.yield(["options": options, "origin": .string(call.caller.origin)])
            await withTaskCancellationHandler {
                for await _ in AsyncStream<Never>.makeStream().stream {}
            } onCancel: {
                goes.yield(options)
            }
            throw CancellationError()
        }
        return (shown, gone)
    }

    @Test("alert, confirm, prompt to native; handler called exactly once: on the page's own session, with its answer")
    func session() async throws {
        try await WebRun.with { run in
            try await start(run)
            let origin = run.server.origins[0]
            let (shown, shows) = AsyncStream.makeStream(of: String.self)
            try await run.bridge.register("ui.alert") { (options: JSON, call) -> JSON in
                shows.yield("\(call.caller.origin) \(options["title"]?.stringValue ?? "")")
                return options["kind"] == "prompt" ? ["index": 0, "text": "typed"] : ["index": 0]
            }
            let value = try await run.bridge.call(
                "web.evaluate", ["script": "return [alert('a') === undefined, confirm('b'), prompt('c', 'd')]"] as JSON,
                as: JSON.self)
            #expect(value == ["result": [true, true, "typed"]])
            var alerts = shown.makeAsyncIterator()
            for _ in 0..<3 { #expect(await alerts.next(isolation: #isolation) == "\(origin) \(origin)") }
        }
    }

    @Test("a page without a bridge asks on the container's connection, and the title contains the page's origin")
    func withoutBridge() async throws {
        try await WebRun.with { run in
            try await start(run)
            let (origin, other) = (run.server.origins[0], run.server.origins[1])
            #expect(origin != other)
            let (shown, shows) = AsyncStream.makeStream(of: String.self)
            try await run.bridge.register("ui.alert") { (options: JSON, call) -> JSON in
                shows.yield("\(call.caller.origin) \(options["title"]?.stringValue ?? "")")
                return ["index": 0]
            }
            try run.server.serve("plain.html", script: "")
            try run.stop()
            try run.start(["--bridge", origin, "--allow", other, "\(other)/plain.html"])
            try await run.awaitTasks()
            // Before the first load has committed, a script runs in a document without an origin.
            _ = try await run.navigate("\(other)/plain.html", finished: true)
            let value = try await run.bridge.call(
                "web.evaluate", ["script": "return confirm('b')"] as JSON, as: JSON.self)
            #expect(value == ["result": true])
            var alerts = shown.makeAsyncIterator()
            #expect(await alerts.next(isolation: #isolation) == "local \(other)")
        }
    }

    @Test("a dialog and its alert are closed when the view navigates, its page closes or its process ends")
    func closed() async throws {
        try await WebRun.with { run in
            try run.write(profile: "[pool]\nwarm = 0\n", named: "cold")
            try await start(run, "--profile", "cold")
            let origin = run.server.origins[0]
            let held = try await holdAlerts(run)
            var (shown, gone) = (held.shown.makeAsyncIterator(), held.gone.makeAsyncIterator())
            let page: JSON = ["uri": .string("\(origin)/page.html")]

            ask(run, "first")
            #expect(await shown.next(isolation: #isolation)?["options"]?["content"] == "first")
            _ = try await run.bridge.call("web.navigate", page, as: JSON.self)
            #expect(await gone.next(isolation: #isolation)?["content"] == "first")
            _ = try await run.report()

            ask(run, "second")
            #expect(await shown.next(isolation: #isolation)?["options"]?["content"] == "second")
            try run.killWebProcesses()
            #expect(await gone.next(isolation: #isolation)?["content"] == "second")
            _ = try await run.report()

            ask(run, "third")
            #expect(await shown.next(isolation: #isolation)?["options"]?["content"] == "third")
            // The program ends with its last page, possibly before it has answered.
            _ = try? await run.bridge.call("web.close", as: JSON.self)
            #expect(await gone.next(isolation: #isolation)?["content"] == "third")
            #expect(try run.end() == .exited(0))
        }
    }

    /// Makes the page call `alert`. The script ends only after the alert, so this does not wait for it.
    private func ask(_ run: WebRun, _ text: String) {
        let bridge = run.bridge
        Task {
            _ = try? await bridge.call("web.evaluate", ["script": .string("alert('\(text)')")] as JSON, as: JSON.self)
        }
    }

    @Test("with panels = \"none\" questions are declined without asking the user")
    func none() async throws {
        try await WebRun.with { run in
            try run.write(profile: "panels = \"none\"\n", named: "silent")
            try await start(run, "--profile", "silent")
            try await run.bridge.register("ui.alert") { (_: JSON, _) -> JSON in ["index": 0] }
            let value = try await run.bridge.call(
                "web.evaluate", ["script": "return [confirm('b'), prompt('c', 'd')]"] as JSON, as: JSON.self)
            #expect(value == ["result": [false, nil]])
        }
    }

    @Test("leave page? is a confirm if the page requests it, and the page is left if the user agrees")
    func leave() async throws {
        try await WebRun.with { run in
            try await start(run)
            let (origin, bridge) = (run.server.origins[0], run.bridge)
            let (shown, shows) = AsyncStream.makeStream(of: JSON.self)
            try await bridge.register("ui.alert") { (options: JSON, _) -> JSON in
                shows.yield(options)
                return ["index": 0]
            }
            try run.server.serve("next.html", script: "WebBridge.call('test.report', 'next');")
            _ = try await bridge.call(
                "web.evaluate",
                [
                    "script": .string(
                        """
                        addEventListener("beforeunload", (event) => event.preventDefault());
                        location = "\(origin)/next.html";
                        """)
                ] as JSON, as: JSON.self)
            #expect(try await run.report() == Report(origin: origin, value: "next"))
            var alerts = shown.makeAsyncIterator()
            #expect(await alerts.next(isolation: #isolation)?["kind"] == "confirm")
        }
    }
}
