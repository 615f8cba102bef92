import BridgeJSON
import TestSupport
import Testing

@Suite(
    "Pages that attack the bridge", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: WebRun.isPossible, "\(WebRun.needs)"))
struct AttackTests {
    /// Posts a call by everything that a frame could find, and tells its page what it found.
    private static let frame = """
        const call = JSON.stringify({ task: "test.report", options: { attack: KIND } });
        let found = typeof webkit;
        try { webkit.messageHandlers.bridge.postMessage(call); found = "bridge"; } catch {}
        try { webkit.messageHandlers.trestle.postMessage(call); found = "handler"; } catch {}
        parent.postMessage({ kind: KIND, found }, "*");
        """

    private static func frame(_ kind: String) -> String { frame.replacing("KIND", with: "\"\(kind)\"") }

    @Test("no frame of any kind finds the bridge, or posts to the container")
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

    @Test("a page of another port has no bridge, though the engine's patterns have no ports")
    func port() async throws {
        try await WebRun.with { run in
            let (origin, other) = (run.server.origins[0], run.server.origins[1])
            try run.server.serveReporter()
            try run.server.serve("page.html", script: PageServer.callAndTell(origin))
            try run.start("--bridge", origin, "--allow", other, "\(other)/page.html")
            #expect(try await run.report() == Report(origin: origin, value: "permission.denied"))
        }
    }

    @Test("a document in a sandbox speaks for nobody, whatever its address")
    func sandbox() async throws {
        try await WebRun.with { run in
            let origin = run.server.origins[0]
            try run.server.serveReporter()
            try run.server.serve("page.html", script: PageServer.callAndTell(origin))
            try run.start("--bridge", origin, "\(origin)/sandboxed/page.html")
            #expect(try await run.report() == Report(origin: origin, value: "permission.denied"))
        }
    }

    @Test("calls that wait for a refused hello are refused with it, and never run as local")
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
                script: "WebBridge.call('test.report', { attack: 'local' });" + PageServer.callAndTell(other))
            try run.start("--bridge", origin, "--bridge", other, "\(origin)/page.html")
            #expect(try await run.report() == Report(origin: other, value: "permission.denied"))
        }
    }

    @Test("what a document posts while it is left is never another document's")
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

    @Test("a document that returns from the page cache gets a session of its own, and hears that the old one is lost")
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
}
