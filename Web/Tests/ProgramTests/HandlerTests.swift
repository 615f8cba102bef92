import BridgeClient
import BridgeJSON
import TestSupport
import Testing

@Suite(
    "Handlers that clients add to pages", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: WebRun.isPossible, "\(WebRun.needs)"))
struct HandlerTests {
    /// Starts a page that reports the types of two handlers when its first script runs, and then defines one itself.
    private func start(_ run: WebRun, settings: String = "") async throws {
        try run.server.serve(
            """
            <!doctype html><title>page</title><p>text<script>
            WebBridge.call("test.report", [typeof webkit.messageHandlers.scan, typeof webkit.messageHandlers.mine]);
            webkit.messageHandlers.mine = { postMessage: () => "the page's" };
            </script>
            """, as: "page.html")
        try run.start("page.html", settings: settings)
        #expect(try await run.report().value == ["undefined", "undefined"])
        try await run.awaitTasks()
    }

    private func addHandler(_ run: WebRun, _ name: String, task: String) async throws {
        let options: JSON = ["name": .string(name), "task": .string(task)]
        #expect(try await run.bridge.call("web.handlers.add", options, as: JSON.self) == [:])
    }

    private func remove(_ run: WebRun, _ name: String) async throws {
        _ = try await run.bridge.call("web.handlers.remove", ["name": .string(name)] as JSON, as: JSON.self)
    }

    /// Waits in the page until it has a handler, or until it no longer has one.
    private func wait(_ run: WebRun, for name: String, isThere: Bool = true) async throws {
        let lasts = "\(isThere ? "!" : "")webkit.messageHandlers.\(name)"
        try await run.evaluate("while (\(lasts)) await new Promise((done) => requestAnimationFrame(done));")
    }

    @Test("web.handlers.add gives the current and later documents a handler that calls a task")
    func add() async throws {
        try await WebRun.with(rules: WebRun.dialectRules) { run in
            try await run.bridge.register("test.scan") { (options: JSON, _) -> JSON in ["scanned": options] }
            try await start(run)
            try await addHandler(run, "scan", task: "test.scan")
            try await wait(run, for: "scan")
            let answer = try await run.evaluate("return webkit.messageHandlers.scan.postMessage({ a: 1 })")
            #expect(answer == ["scanned": ["a": 1]])
            let list = try await run.bridge.call("web.handlers.list", as: JSON.self)
            #expect(list == ["handlers": [["name": "scan", "task": "test.scan"]]])

            _ = try await run.bridge.call("web.reload", as: JSON.self)
            #expect(try await run.report().value == ["object", "undefined"])
            try await remove(run, "scan")
            try await wait(run, for: "scan", isThere: false)
            _ = try await run.bridge.call("web.reload", as: JSON.self)
            #expect(try await run.report().value == ["undefined", "undefined"])
        }
    }

    @Test("a removal cancels open calls, also at the provider, and a kept handler object stops working")
    func removal() async throws {
        try await WebRun.with(rules: WebRun.dialectRules) { run in
            let (steps, writer) = AsyncStream.makeStream(of: String.self)
            try await run.bridge.register("test.hang") { (_: JSON, _) -> JSON in
                writer.yield("began")
                for await _ in AsyncStream.makeStream(of: Void.self).stream {}
                writer.yield(Task.isCancelled ? "cancelled" : "ended")
                return .null
            }
            var step = steps.makeAsyncIterator()
            try await start(run)
            try await addHandler(run, "scan", task: "test.hang")
            try await wait(run, for: "scan")
            try await run.evaluate(
                """
                globalThis.kept = webkit.messageHandlers.scan;
                globalThis.ended = kept.postMessage({}).catch(({ code }) => code);
                """)
            #expect(await step.next() == "began")
            try await remove(run, "scan")
            #expect(try await run.evaluate("return await ended") == "call.cancelled")
            #expect(await step.next() == "cancelled")
            let later = try await run.evaluate("return kept.postMessage({}).catch(({ code }) => code)")
            #expect(later == "handler.not_found")
        }
    }

    @Test("a handler does not replace one of the page, a dialect or another client, and there are at most 64")
    func bounds() async throws {
        try await WebRun.with(rules: WebRun.dialectRules) { run in
            try await start(run, settings: #"dialects = ["cordova"]"#)
            try await addHandler(run, "mine", task: "Echo")
            try await addHandler(run, "__proto__", task: "Echo")
            try await addHandler(run, "toString", task: "Echo")
            try await wait(run, for: "hasOwnProperty('toString')")
            #expect(try await run.evaluate("return webkit.messageHandlers.mine.postMessage()") == "the page's")
            let isPlain = "return Object.getPrototypeOf(webkit.messageHandlers) === Object.prototype"
            #expect(try await run.evaluate(isPlain) == true)
            try await remove(run, "mine")
            try await remove(run, "toString")
            try await wait(run, for: "hasOwnProperty('toString')", isThere: false)
            #expect(try await run.evaluate("return webkit.messageHandlers.mine.postMessage()") == "the page's")

            for name in ["bridge", "cordova", "__proto__"] {
                await run.expect("web.handlers.add", ["name": .string(name)], "handler.taken")
            }
            for name in ["", "a b", "\u{e9}", String(repeating: "a", count: 129)] {
                await run.expect("web.handlers.add", ["name": .string(name)], "options.invalid")
            }
            for number in 1..<64 { try await addHandler(run, "n\(number)", task: "Echo") }
            await run.expect("web.handlers.add", ["name": "n64"], "quota.exceeded")
            _ = try await run.bridge.call("web.handlers.remove", ["all": true] as JSON, as: JSON.self)
            await run.expect("web.handlers.remove", ["name": "n1"], "handler.not_found")
        }
    }

    @Test("a page cannot add, list or remove handlers")
    func pages() async throws {
        try await WebRun.with(
            rules: { "\(WebRun.dialectRules($0))\n\(Self.rule($0[0]))" }
        ) { run in
            try await start(run)
            let codes = try await run.evaluate(
                """
                const calls = [["add", { name: "own", task: "Echo" }], ["list", {}], ["remove", { all: true }]];
                return await Promise.all(calls.map(([name, options]) =>
                    WebBridge.call(`web.handlers.${name}`, options).catch(({ code }) => code)));
                """)
            #expect(codes == ["permission.denied", "permission.denied", "permission.denied"])
        }
    }

    private static func rule(_ origin: String) -> String {
        "[[rule]]\nallow = \"call\"\nnames = \"web.*\"\norigin = \"\(origin)\"\n"
    }
}
