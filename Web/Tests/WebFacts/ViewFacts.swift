import TestSupport
import Testing

@Suite(
    "WebFacts: views, processes and dialogs (sections 2 and 3 of the design)", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: EngineProbe.isPossible, "\(EngineProbe.needs)"))
struct ViewFacts {
    @Test("pushState and fragments change the view's address, so no shim of the history is needed")
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

    @Test("go back runs no onload: a document from the page cache is shown again as it was")
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

    @Test("a view without a window is hidden and has no picture")
    func hidden() throws {
        let probe = try EngineProbe()
        try probe.page(
            "page.html",
            "addEventListener('load', () => { report(document.visibilityState); report('snapshot'); });")
        let hidden = try probe.show("app://one/page.html", "--hidden")
        #expect(hidden.reported.first == "hidden" && hidden.lines("snapshot") == ["error"])
        #expect(try probe.show("app://one/page.html").reported.first == "visible")
    }

    @Test("a dialog blocks the page but not the main loop")
    func dialogs() throws {
        let probe = try EngineProbe()
        try probe.page("page.html", "alert('held'); report('after'); report('end');")
        let run = try probe.show("app://one/page.html")
        #expect(run.lines("dialog") == ["held", "closed after ticks"])
        #expect(run.reported == ["after", "end"])
    }

    @Test("white screen: URL nil, title empty: does not occur, a view keeps both after the end of its process")
    func ended() throws {
        let probe = try EngineProbe()
        try probe.page("page.html", "addEventListener('load', () => report('kill'));")
        let run = try probe.show("app://one/page.html")
        #expect(run.lines("terminated") == ["app://one/page.html"] && run.lines("title") == ["page.html"])
    }

    @Test("process swap: another site has another web process, another page of the same site does not")
    func processSwap() throws {
        let probe = try EngineProbe()
        let next = { (uri: String) in
            """
            addEventListener("load", async () => {
                await report("processes");
                setTimeout(() => { location = "\(uri)"; });
            });
            """
        }
        try probe.page("page.html", next("app://one/second.html"))
        try probe.page("second.html", next("other://two/third.html"))
        try probe.page(
            "third.html", "addEventListener('load', async () => { await report('processes'); report('end'); });")
        let processes = try probe.show("app://one/page.html").lines("processes").map { Set($0.split(separator: " ")) }
        #expect(processes.count == 3)
        #expect(processes.first?.isEmpty == false && processes.first == processes.dropFirst().first)
        #expect(processes.last?.isSubset(of: processes[0]) == false)
    }

    @Test("hang: the engine considers a stopped process responsive, so that pages are checked directly")
    func stopped() throws {
        let probe = try EngineProbe()
        try probe.page("page.html", "addEventListener('load', () => report('stop'));")
        #expect(try probe.show("app://one/page.html").lines("responsive") == ["yes"])
    }

    @Test("a request has no setter for method and body, so web.navigate uses GET; fails with an engine that has one")
    func requests() throws {
        let probe = try EngineProbe()
        for (function, answer) in [
            ("webkit_uri_request_get_http_method", "yes"), ("webkit_uri_request_set_http_method", "no"),
            ("webkit_uri_request_set_http_body", "no"),
        ] {
            #expect(try probe.show("app://one/page.html", "--has", function).lines("has") == [answer], "\(function)")
        }
    }

    @Test("the default policy applies to pages without a policy, and does not affect injected scripts")
    func policy() throws {
        let probe = try EngineProbe()
        try probe.page("page.html", "report('inline');", body: "<script src='own.js'></script>")
        try probe.file("own.js", "\(EngineProbe.report)report('own'); report('end');")
        try probe.file("ours.js", "webkit.messageHandlers.probe.postMessage('ours');")
        let run = try probe.show(
            "app://one/page.html", "--csp", "default-src 'self'", "--script", probe.path("ours.js"))
        #expect(run.reported == ["ours", "own", "end"])
    }

    @Test("window.open without a user gesture causes no decision")
    func windows() throws {
        let probe = try EngineProbe()
        try probe.page("page.html", "report(String(window.open('app://one/other.html'))); report('end');")
        let run = try probe.show("app://one/page.html")
        #expect(run.reported == ["null", "end"] && run.lines("decide") == ["app://one/page.html"])
    }
}
