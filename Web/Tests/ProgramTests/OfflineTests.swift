import BridgeClient
import BridgeJSON
import OfflinePackages
import TestSupport
import Testing

@Suite(
    "Pages whose servers cannot be reached", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: WebRun.isPossible, "\(WebRun.needs)"))
struct OfflineTests {
    /// Waits until a view has this title.
    private func wait(_ titles: EventStream, _ title: String, view: JSON = 1) async throws {
        for try await event in titles where event.data["view"] == view {
            if event.data["title"]?.stringValue == title { return }
        }
    }

    private static let unreached = "This page cannot be shown"
    /// Content that tries to run in the copy of a page.
    private static let hostile = """
        <p onclick="ran = 1">text</p><img src="data:none" onerror="ran = 2"><svg onload="ran = 3"></svg>
        <iframe srcdoc="<script>parent.ran = 4</script>"></iframe><a href="javascript:ran = 5">link</a>
        <noscript><p>none</p></noscript><input type="password" value="secret"><b>bold</b><plaintext></html>
        """

    @Test("the last good page is shown offline as a copy that runs and loads nothing and has no bridge")
    func lastPage() async throws {
        try await WebRun.with { run in
            let site = try PageServer()
            let (origin, other) = (site.origins[0], site.origins[1])
            try await run.startPage(
                profile: """
                    allow = ["\(origin)", "\(other)"]
                    bridge = ["\(origin)"]
                    [navigation]
                    keep_pages = true
                    [tasks]
                    events = ["web.kept", "web.title"]
                    """)
            try site.serve("b { color: rgb(1, 2, 3) }", as: "style.css")
            try site.serve(
                """
                <!doctype html><title>kept</title><link rel="stylesheet" href="style.css"><p id="made"></p>
                <a id="next" href="next.html">next</a>
                <script>ran = 1; document.getElementById("made").textContent = "by a script";</script>\(Self.hostile)
                """, as: "page.html")
            let titles = try await run.bridge.subscribe(to: "web.title")
            var copies = try await run.bridge.subscribe(to: "web.kept").makeAsyncIterator()
            let unstored = "\(origin)/unstored/page.html?unstored"
            let second =
                try await run.bridge.call(
                    "web.open", ["uri": .string(unstored), "wait": "finished"] as JSON, as: JSON.self)["view"] ?? nil
            _ = try await run.bridge.call(
                "web.navigate", ["view": 1, "uri": .string("\(origin)/page.html#a"), "wait": "finished"] as JSON,
                as: JSON.self)
            // The start page may be copied first.
            while let copy = try await copies.next(), copy.data["uri"]?.stringValue != "\(origin)/page.html" {}
            try site.stop()
            for (view, uri, title) in [
                (1, "\(origin)/page.html", "kept"), (second, unstored, Self.unreached),
                (second, "\(other)/page.html", Self.unreached),
            ] {
                await run.expect("web.navigate", ["view": view, "uri": .string(uri)], "load.failed")
                try await wait(titles, title, view: view)
            }

            let facts = try await run.evaluate(
                """
                const request = await fetch("data:,x").then(() => "done", () => "refused");
                document.querySelector("p[id]").click();
                for (const link of document.links) if (link.protocol === "javascript:") link.click();
                return {
                    request, ran: typeof ran, made: document.getElementById("made").innerText,
                    color: getComputedStyle(document.querySelector("b")).color,
                    password: document.querySelector("input").value, scripts: document.scripts.length,
                    frames: frames.length, bridge: typeof globalThis.WebBridge,
                    next: document.getElementById("next").href, retry: document.getElementById("retry").href,
                };
                """, view: 1)
            #expect(
                facts == [
                    "request": "refused", "ran": "undefined", "made": "by a script", "color": "rgb(1, 2, 3)",
                    "password": "", "scripts": 0, "frames": 0, "bridge": "undefined",
                    "next": .string("\(origin)/next.html"), "retry": .string("\(origin)/page.html"),
                ])
        }
    }

    @Test("a page of a package replaces one whose server cannot be reached, and gets its address")
    func packagePage() async throws {
        let rule = "[[rule]]\nallow = \"call\"\nnames = \"test.report\"\norigin = \"trestle://notes\"\n"
        try await WebRun.with(rules: { _ in rule }) { run in
            let port = try UnusedPort()
            let origin = "http://127.0.0.1:\(port.number)"
            try await run.startPage(
                profile: """
                    allow = ["\(origin)", "trestle://notes"]
                    bridge = ["trestle://notes"]
                    [packages]
                    keys = ["\(TestPackage.key.publicKey)"]
                    [navigation]
                    offline_page = "trestle://notes/offline.html"
                    [tasks]
                    events = ["web.title"]
                    """)
            let titles = try await run.bridge.subscribe(to: "web.title")
            let uri = "\(origin)/a?b=c&d#e"
            // Without the package the error page is shown.
            await run.expect("web.navigate", ["uri": .string(uri)], "load.failed")
            try await wait(titles, Self.unreached)

            let script = "WebBridge.call('test.report', new URLSearchParams(location.search).get('uri'))"
            let package = try TestPackage(["offline.html": "<!doctype html><p>offline<script>\(script)</script>"])
            let installed = try run.command("install", "--key", "\(TestPackage.key.publicKey)", package.file)
            try #require(installed.end == .exited(0), "\(installed.errors)")
            await run.expect("web.navigate", ["uri": .string(uri)], "load.failed")
            #expect(try await run.report() == Report(origin: "trestle://notes", value: .string(uri)))
            _ = try await run.navigate("\(run.server.origins[0])/page.html")
            #expect(try await run.report().value == "loaded")
        }
    }
}
