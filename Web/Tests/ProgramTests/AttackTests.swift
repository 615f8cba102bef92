import BridgeJSON
import TestSupport
import Testing

@Suite(
    "Pages that attack the bridge", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: WebRun.isPossible, "\(WebRun.needs)"))
struct AttackTests {
    /// Posts a call through every object that a frame could find, and posts the findings to its page.
    private static let frame = """
        const call = JSON.stringify({ task: "test.report", options: { attack: KIND } });
        let found = typeof webkit;
        try { webkit.messageHandlers.bridge.postMessage(call); found = "bridge"; } catch {}
        try { webkit.messageHandlers.trestle.postMessage(call); found = "handler"; } catch {}
        parent.postMessage({ kind: KIND, found }, "*");
        """

    private static func frame(_ kind: String) -> String { frame.replacing("KIND", with: "\"\(kind)\"") }

    @Test("frames of every kind find no bridge and cannot post to the container")
    func frames() async throws {
        try await WebRun.with { run in
            let (origin, other) = (run.server.origins[0], run.server.origins[1])
            for kind in ["own", "foreign"] { try run.server.serve("\(kind).html", script: Self.frame(kind)) }
            let inner = Self.frame("srcdoc").replacing("\"", with: "&quot;")
            let sandboxed = Self.frame("sandboxed").replacing("\"", with: "&quot;")
            try run.server.serve(
                "page.html",
                script: """
                    const found = {};
                    addEventListener("message", ({ data }) => {
                        found[data.kind] = data.found;
                        if (Object.keys(found).length === 4) WebBridge.call("test.report", found);
                    });
                    """,
                body: """
                    <iframe src="\(origin)/own.html"></iframe>
                    <iframe src="\(other)/foreign.html"></iframe>
                    <iframe srcdoc="<script>\(inner)</script>"></iframe>
                    <iframe sandbox="allow-scripts" srcdoc="<script>\(sandboxed)</script>"></iframe>
                    <iframe src="data:text/html,<script>parent.postMessage({kind:'data',found:'ran'},'*')</script>">
                    </iframe>
                    """)
            try run.start("--bridge", origin, "--allow", other, "\(origin)/page.html")
            let found = try await run.report().value
            for kind in ["own", "foreign", "srcdoc", "sandboxed"] { #expect(found[kind] == "undefined", "\(kind)") }
        }
    }

    @Test("a page of another port has no bridge, although the engine's patterns have no ports")
    func port() async throws {
        try await WebRun.with { run in
            let (origin, other) = (run.server.origins[0], run.server.origins[1])
            try run.server.serveReporter()
            try run.server.serve("page.html", script: PageServer.callAndReport(origin))
            try run.start("--bridge", origin, "--allow", other, "\(other)/page.html")
            #expect(try await run.report() == Report(origin: origin, value: "permission.denied"))
        }
    }

    @Test("a sandboxed document represents no origin, whatever its address")
    func sandbox() async throws {
        try await WebRun.with { run in
            let origin = run.server.origins[0]
            try run.server.serveReporter()
            try run.server.serve("page.html", script: PageServer.callAndReport(origin))
            try run.start("--bridge", origin, "\(origin)/sandboxed/page.html")
            #expect(try await run.report() == Report(origin: origin, value: "permission.denied"))
        }
    }

    @Test("calls that wait for a refused hello are refused too, and never run as local")
    func refusedHello() async throws {
        try await WebRun.with(
            rules: { origins in
                """
                [[rule]]
                deny = "origin"
                names = "\(origins[0])"
                """
            }
        ) { run in
            let (origin, other) = (run.server.origins[0], run.server.origins[1])
            try run.server.serveReporter()
            try run.server.serve(
                "page.html",
                script: "WebBridge.call('test.report', { attack: 'local' });" + PageServer.callAndReport(other))
            try run.start("--bridge", origin, "--bridge", other, "\(origin)/page.html")
            #expect(try await run.report() == Report(origin: other, value: "permission.denied"))
        }
    }

    @Test("posts of a document that is being left never count as another document's")
    func stale() async throws {
        try await WebRun.with { run in
            let (origin, other) = (run.server.origins[0], run.server.origins[1])
            try run.server.serve(
                "page.html",
                script: """
                    for (const name of ["pagehide", "visibilitychange", "unload"]) {
                        addEventListener(name, () => {
                            for (let i = 0; i < 40; i++) WebBridge.call("test.report", { from: location.origin });
                        });
                    }
                    WebBridge.call("Echo", {}, () => { location = "\(other)/next.html"; });
                    """)
            try run.server.serve(
                "next.html", script: "WebBridge.call('test.report', { from: location.origin, last: true });")
            try run.start("--bridge", origin, "--bridge", other, "\(origin)/page.html")
            var report = try await run.report()
            while report.value["last"] == nil {
                #expect(report.origin == origin && report.value["from"]?.stringValue == origin)
                report = try await run.report()
            }
            #expect(report.origin == other && report.value["from"]?.stringValue == other)
        }
    }

    @Test("a document that returns from the page cache gets its own session")
    func pageCache() async throws {
        try await WebRun.with { run in
            let (origin, other) = (run.server.origins[0], run.server.origins[1])
            try run.server.serve(
                "page.html",
                script: """
                    addEventListener("pageshow", ({ persisted }) => {
                        WebBridge.call("test.report", { persisted }, () => {
                            if (!persisted) location = "\(other)/next.html";
                        });
                    });
                    """)
            try run.server.serve(
                "next.html", script: "WebBridge.call('test.report', 'next', () => setTimeout(() => history.back()));")
            try run.start("--bridge", origin, "--bridge", other, "\(origin)/page.html")
            #expect(try await run.report() == Report(origin: origin, value: ["persisted": false]))
            #expect(try await run.report() == Report(origin: other, value: "next"))
            #expect(try await run.report() == Report(origin: origin, value: ["persisted": true]))
        }
    }

    @Test("document.domain does not share the bridge: a page keeps its host, and a frame of another host has none")
    func domain() async throws {
        try await WebRun.with(
            rules: { origins in
                let port = origins[0].split(separator: ":").last ?? ""
                return """
                    [[rule]]
                    allow = "call"
                    names = "test.report"
                    origin = "http://one.localhost:\(port)"
                    """
            }
        ) { run in
            let port = run.server.origins[0].split(separator: ":").last ?? ""
            let (one, two) = ("http://one.localhost:\(port)", "http://two.localhost:\(port)")
            try run.server.serve(
                "inner.html",
                script: """
                    document.domain = "localhost";
                    let found = typeof globalThis.webkit;
                    try { found = typeof parent.WebBridge; } catch { found += " and nothing of its page"; }
                    parent.postMessage(found, "*");
                    """)
            try run.server.serve(
                "page.html",
                script: """
                    addEventListener("message", ({ data }) => {
                        document.domain = "localhost";
                        WebBridge.call("test.report", data);
                    });
                    """, body: "<iframe src='\(two)/inner.html'></iframe>")
            try run.start("--bridge", one, "--allow", two, "\(one)/page.html")
            #expect(try await run.report() == Report(origin: one, value: "undefined and nothing of its page"))
        }
    }

    @Test("a service worker has no bridge, and documents that it creates belong to its origin")
    func serviceWorker() async throws {
        try await WebRun.with { run in
            let (origin, other) = (run.server.origins[0], run.server.origins[1])
            try run.server.serve(
                """
                addEventListener("install", () => skipWaiting());
                addEventListener("activate", (event) => event.waitUntil(clients.claim()));
                addEventListener("message", ({ data, ports }) => {
                    const attempt = fetch(data).then(() => "done", () => "refused");
                    attempt.then((end) => ports[0].postMessage([typeof webkit, typeof WebBridge, end]));
                });
                addEventListener("fetch", (event) => {
                    if (!event.request.url.endsWith("/made-up.html")) return;
                    const text = "<script src='/bridge.js'></script><script>"
                        + "WebBridge.call('test.report', 'made up');</script>";
                    event.respondWith(new Response(text, { headers: { "Content-Type": "text/html" } }));
                });
                """, as: "worker.js")
            try run.server.serve(
                "page.html",
                script: """
                    (async () => {
                        const registration = await navigator.serviceWorker.register("/worker.js");
                        await navigator.serviceWorker.ready;
                        const { port1, port2 } = new MessageChannel();
                        const answer = new Promise((done) => { port1.onmessage = ({ data }) => done(data); });
                        registration.active.postMessage("trestle://notes/index.html", [port2]);
                        WebBridge.call("test.report", await answer, () => { location = "/made-up.html"; });
                    })().catch((error) => WebBridge.call("test.report", String(error)));
                    """)
            try run.start("--bridge", origin, "--allow", other, "\(origin)/page.html")
            #expect(
                try await run.report() == Report(origin: origin, value: ["undefined", "undefined", "refused"]))
            #expect(try await run.report() == Report(origin: origin, value: "made up"))
        }
    }
}
