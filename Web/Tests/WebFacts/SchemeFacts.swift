import TestSupport
import Testing

@Suite(
    "WebFacts: schemes and request bodies (section 3 of the design)", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: EngineProbe.isPossible, "\(EngineProbe.needs)"))
struct SchemeFacts {
    private func foreign() throws -> EngineProbe {
        let probe = try EngineProbe()
        try probe.file("x.js", "export const x = 1;")
        try probe.page("inner.html", "parent.postMessage('framed', '*');")
        try probe.page(
            "page.html",
            """
            (async () => {
                const attempt = (promise) => promise.then(() => "done", () => "refused");
                await report("fetch " + await attempt(fetch("app://one/x.js", { mode: "no-cors" })));
                // A refused frame says nothing: one of the page's own scheme, which begins later, does.
                const origins = new Set();
                const own = new Promise((done) => addEventListener("message", ({ origin }) => {
                    origins.add(origin);
                    if (origin === self.origin) setTimeout(done);
                }));
                for (const scheme of ["app://one", "other://two"]) {
                    const frame = document.createElement("iframe");
                    frame.src = scheme + "/inner.html";
                    document.body.append(frame);
                }
                await own;
                await report("frame " + (origins.has("app://one") ? "done" : "refused"));
                report("end");
            })();
            """)
        return probe
    }

    @Test("control: pages of another scheme fetch and frame a scheme that is not display-isolated")
    func open() throws {
        #expect(try foreign().show("other://two/page.html").reported == ["fetch done", "frame done", "end"])
    }

    @Test("pages of another scheme neither fetch nor frame a display-isolated scheme")
    func isolated() throws {
        let run = try foreign().show("other://two/page.html", "--isolate")
        #expect(run.reported == ["fetch refused", "frame refused", "end"])
    }

    @Test("own schemes are secure contexts with storage but without cookies")
    func context() throws {
        let probe = try EngineProbe()
        try probe.page(
            "page.html",
            """
            document.cookie = "a=b";
            localStorage.setItem("a", "b");
            report([isSecureContext, typeof crypto.subtle, localStorage.getItem("a"), document.cookie].join());
            report("end");
            """)
        #expect(try probe.show("app://one/page.html").reported == ["true,object,b,", "end"])
    }

    @Test("bodies of texts, buffers, forms and fields arrive whole")
    func bodies() throws {
        let probe = try EngineProbe()
        try probe.page(
            "page.html",
            """
            (async () => {
                const form = new FormData();
                form.append("a", "b");
                const buffers = [70000, 5000000].map((count) => new Uint8Array(count));
                for (const body of ["abc", new URLSearchParams({ a: "b" }), ...buffers, form]) {
                    await (await fetch("page.html", { method: "POST", body })).text();
                }
                report("end");
            })();
            """)
        let bodies = try probe.show("app://one/page.html", "--bodies").lines("body")
        #expect(bodies.prefix(4) == ["POST 3", "POST 3", "POST 70000", "POST 5000000"] && bodies.count == 5)
    }

    @Test("own schemes support no stream bodies and no beacons")
    func streams() throws {
        let probe = try EngineProbe()
        try probe.page(
            "page.html",
            """
            (async () => {
                const stream = new ReadableStream({ start: (controller) => controller.close() });
                const attempt = (body) => fetch("page.html", { method: "POST", body, duplex: "half" });
                await report(await attempt(stream).then(() => "sent", ({ name }) => name));
                let isSent = false;
                try { isSent = navigator.sendBeacon("page.html", "abc"); } catch {}
                await report("beacon " + isSent);
                await attempt("end");
                report("end");
            })();
            """)
        let run = try probe.show("app://one/page.html", "--bodies")
        #expect(run.reported == ["NotSupportedError", "beacon false", "end"] && run.lines("body") == ["POST 3"])
    }

    @Test("reading the body of a blob ends the program; this test fails with an engine without this fault")
    func blob() throws {
        let probe = try EngineProbe()
        try probe.page(
            "page.html",
            """
            fetch("page.html", { method: "POST", body: new Blob(["abc"]) }).then((answer) => answer.text())
                .finally(() => report("end"));
            """)
        #expect(try probe.show("app://one/page.html", "--bodies").end != .exited(0))
        #expect(try probe.show("app://one/page.html").lines("body") == ["POST 0"])
    }
}
