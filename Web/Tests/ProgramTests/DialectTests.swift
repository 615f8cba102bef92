import BridgeClient
import BridgeJSON
import TestSupport
import Testing

@Suite(
    "The calls of other bridges, in small pages", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: WebRun.isPossible, "\(WebRun.needs)"))
struct DialectTests {
    private func report(_ settings: String, _ script: String, body: String = "") async throws -> JSON {
        var value = JSON.null
        try await WebRun.with(rules: WebRun.dialectRules) { run in
            try run.server.serve("<!doctype html><title>page</title>\(body)<script>\(script)</script>", as: "page.html")
            try run.start("page.html", settings: settings)
            value = try await run.report().value
        }
        return value
    }

    @Test("bridge injected, so that it does not hang on a script server: WebBridge exists without a script of the page")
    func injected() async throws {
        let value = try await report(
            "",
            """
            WebBridge.call("Echo", { a: 1 }, async (result, error) => {
                const promised = await WebBridge.call("Echo", { b: 2 });
                const code = await WebBridge.call("no.such").catch(({ code }) => code);
                WebBridge.call("test.report", { result, error, promised, code });
            });
            """)
        #expect(
            value == ["result": ["a": 1], "error": nil, "promised": ["b": 2], "code": "permission.denied"]
                || value == ["result": ["a": 1], "error": nil, "promised": ["b": 2], "code": "task.not_found"])
    }

    @Test("a page with its own WebBridge keeps it")
    func own() async throws {
        let value = try await report(
            "",
            """
            WebBridge.call("test.report", { isLibrary: WebBridge.container !== undefined });
            """, body: "<script src='bridge.js'></script>")
        #expect(value == ["isLibrary": true])
    }

    @Test("add, remove a script message handler: webkit.messageHandlers.NAME calls the task NAME and gets its result")
    func messageHandlers() async throws {
        let value = try await report(
            #"dialects = ["messageHandlers"]"#,
            """
            (async () => {
                const { messageHandlers } = webkit;
                const echo = await messageHandlers.Echo.postMessage({ a: 1 });
                const code = await messageHandlers["no.such"].postMessage({}).catch(({ code }) => typeof code);
                const isSame = messageHandlers.Echo === messageHandlers.Echo;
                messageHandlers["test.report"].postMessage({ echo, code, isSame });
            })();
            """)
        #expect(value == ["echo": ["a": 1], "code": "string", "isSame": true])
    }

    @Test("URL calls jxaction://scan?x=1: a clicked link is a call whose callback is a function of the page")
    func url() async throws {
        let value = try await report(
            #"dialects = ["url"]"#,
            """
            const app = { onCode: (code) => WebBridge.call("test.report", { scanned, code }) };
            globalThis.app = app;
            let scanned;
            function onScan(value) {
                scanned = value;
                webkit.messageHandlers.bridge.postMessage({ funName: "Echo", value: { b: 2 }, callback: "app.onCode" });
            }
            document.querySelector("b").click();
            """, body: "<a href='jxaction://Echo?x=1&callback=onScan'><b>scan</b></a>")
        #expect(value == ["scanned": ["x": "1"], "code": ["b": 2]])
    }

    @Test("a URL call of a frame has no effect, however its link is followed")
    func frames() async throws {
        let attack = """
            document.querySelector('a').click();
            location = 'jxaction://test.report?b=2';
            setTimeout(() => parent.postMessage('tried', '*'), 200);
            """
        let value = try await report(
            #"dialects = ["url"]"#,
            "addEventListener('message', () => WebBridge.call('test.report', 'the page'));",
            body: """
                <iframe sandbox="allow-scripts"
                    srcdoc="<a href='jxaction://test.report?a=1'>x</a><script>\(attack)</script>">
                </iframe>
                """)
        #expect(value == "the page")
    }

    @Test("exported objects and functions call tasks; arguments are a list or named by the task's schema")
    func exports() async throws {
        try await WebRun.with(rules: WebRun.dialectRules) { run in
            let options: JSON = [
                "type": "object", "properties": ["code": ["type": "string"], "count": ["type": "integer"]],
                "required": ["code"],
            ]
            try await run.bridge.register("test.named", description: TaskDescription(options: options)) {
                (options: JSON, _) in options
            }
            try await run.bridge.register("test.plain") { (options: JSON, _) in options }
            try run.server.serve(
                """
                <!doctype html><title>page</title>
                <script>
                    let heard;
                    function onScan(value) { heard = value; }
                    (async () => {
                        const named = await app.scan("4006381333931", 2);
                        const plain = await app.plain(1, "two", "onScan");
                        const called = await echo("x");
                        const code = await app.none().catch(({ code }) => typeof code);
                        app.report({ named, plain, heard, called, code, document: typeof document.querySelector });
                    })();
                </script>
                """, as: "page.html")
            try run.start(
                "page.html",
                settings: """
                    [[exports]]
                    name = "app"
                    methods = { scan = "test.named", plain = "test.plain", report = "test.report", none = "test.none" }
                    [[exports]]
                    name = "echo"
                    task = "test.plain"
                    [[exports]]
                    name = "document"
                    task = "test.plain"
                    """)
            let value = try await run.report().value["arguments"]?[0] ?? JSON.null
            #expect(
                value == [
                    "named": ["code": "4006381333931", "count": 2], "plain": ["arguments": [1, "two"]],
                    "heard": ["arguments": [1, "two"]], "called": ["arguments": ["x"]], "code": "string",
                    "document": "function",
                ])
        }
    }
}
