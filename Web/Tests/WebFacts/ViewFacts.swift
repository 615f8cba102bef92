import TestSupport
import Testing

@Suite(
    "WebFacts: views, processes and dialogs (sections 2 and 3 of the design)", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: EngineProbe.isPossible, "\(EngineProbe.needs)"))
struct ViewFacts {
    @Test("pushState and fragments change the view's address: no shim of the history is needed")
    func history() throws {
        let probe = try EngineProbe()
        try probe.page(
            "page.html",
            """
            (async () => {
                history.pushState({}, "", "a");
                await report(1);
                location.hash = "b";
                await report(2);
                report("end");
            })();
            """)
        let addresses = try probe.show("app://one/page.html").lines("uri")
        #expect(addresses.contains("app://one/a") && addresses.contains("app://one/a#b"))
    }

    @Test("page cache: a document that is gone back to is shown again as it was, and runs no onload")
    func pageCache() throws {
        let probe = try EngineProbe()
        try probe.page(
            "page.html",
            """
            addEventListener("load", () => report("load"));
            addEventListener("pageshow", async ({ persisted }) => {
                await report(persisted);
                if (persisted) report("end");
                else setTimeout(() => { location = "app://one/next.html"; });
            });
            """)
        try probe.page("next.html", "addEventListener('load', () => setTimeout(() => history.back()));")
        #expect(try probe.show("app://one/page.html").reported == ["load", "false", "true", "end"])
    }

    @Test("a view in no window is hidden, and has no picture")
    func hidden() throws {
        let probe = try EngineProbe()
        try probe.page(
            "page.html",
            "addEventListener('load', () => { report(document.visibilityState); report('snapshot'); });")
        let hidden = try probe.show("app://one/page.html", "--hidden")
        #expect(hidden.reported.first == "hidden" && hidden.lines("snapshot") == ["error"])
        #expect(try probe.show("app://one/page.html").reported.first == "visible")
    }

    @Test("a dialog holds the page, and not the main loop")
    func dialogs() throws {
        let probe = try EngineProbe()
        try probe.page("page.html", "alert('held'); report('after'); report('end');")
        let run = try probe.show("app://one/page.html")
        #expect(run.lines("dialog") == ["held", "closed after ticks"])
        #expect(run.reported == ["after", "end"])
    }

    @Test("white screen: after the end of its process a view still has address and title")
    func ended() throws {
        let probe = try EngineProbe()
        try probe.page("page.html", "addEventListener('load', () => report('kill'));")
        let run = try probe.show("app://one/page.html")
        #expect(run.lines("terminated") == ["app://one/page.html"] && run.lines("title") == ["page.html"])
    }

    @Test("the default policy holds for pages that bring none, and leaves scripts of ours alone")
    func policy() throws {
        let probe = try EngineProbe()
        try probe.page("page.html", "report('inline');", body: "<script src='own.js'></script>")
        try probe.file("own.js", "\(EngineProbe.report)report('own'); report('end');")
        try probe.file("ours.js", "webkit.messageHandlers.probe.postMessage('ours');")
        let run = try probe.show(
            "app://one/page.html", "--csp", "default-src 'self'", "--script", probe.path("ours.js"))
        #expect(run.reported == ["ours", "own", "end"])
    }

    @Test("window.open without a gesture of the user asks nothing")
    func windows() throws {
        let probe = try EngineProbe()
        try probe.page("page.html", "report(String(window.open('app://one/other.html'))); report('end');")
        let run = try probe.show("app://one/page.html")
        #expect(run.reported == ["null", "end"] && run.lines("decide") == ["app://one/page.html"])
    }
}
