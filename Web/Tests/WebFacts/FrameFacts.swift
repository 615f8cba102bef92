import TestSupport
import Testing

@Suite(
    "WebFacts: frames, worlds and origins (section 4 of the design)", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: EngineProbe.isPossible, "\(EngineProbe.needs)"))
struct FrameFacts {
    /// Returns a probe with frames of all kinds. Each frame tries to post its kind, and then sends `done` to the page.
    private func probe() throws -> EngineProbe {
        let probe = try EngineProbe()
        let post = { (kind: String) in
            "try { webkit.messageHandlers.probe.postMessage('\(kind)') } catch {} parent.postMessage('done', '*')"
        }
        try probe.file("foreign.html", "<script>\(post("foreign"))</script>")
        try probe.page(
            "page.html",
            """
            let done = 0;
            const end = () => { report("page"); report("end"); };
            addEventListener("message", () => {
                done += 1;
                if (done === 4) dispatchEvent(new CustomEvent("frames", { detail: end }));
            });
            """,
            body: """
                <script>addEventListener("frames", ({ detail }) => {
                    try { detail(); } catch { document.dispatchEvent(new Event("page-has-none")); }
                });</script>
                """)
        try probe.file(
            "frames.js",
            """
            if (self === top) addEventListener("load", () => {
                const frames = [
                    { srcdoc: "<script>\(post("srcdoc"))</scr" + "ipt>" },
                    { srcdoc: "<script>\(post("sandboxed"))</scr" + "ipt>", sandbox: "allow-scripts" },
                    { src: "data:text/html,<script>\(post("data"))</scr" + "ipt>" },
                    { src: "other://two/foreign.html" },
                ];
                for (const { sandbox, ...frame } of frames) {
                    const element = document.createElement("iframe");
                    if (sandbox) element.sandbox = sandbox;
                    document.body.append(Object.assign(element, frame));
                }
            });
            """)
        return probe
    }

    @Test("control: a handler in the page's world receives posts of frames of all kinds, as if from the page")
    func naive() throws {
        let probe = try probe()
        let run = try probe.show("app://one/page.html", "--script", probe.path("frames.js"))
        for kind in ["srcdoc", "sandboxed", "data", "foreign", "page"] {
            #expect(run.output.contains("message \(kind) [app://one/page.html]"), "\(kind)")
        }
    }

    @Test("a handler in an isolated world is accessible neither to frames nor to the page")
    func isolated() throws {
        let probe = try probe()
        try probe.file(
            "end.js",
            """
            if (self === top) document.addEventListener("page-has-none", () => {
                webkit.messageHandlers.probe.postMessage("isolated");
                webkit.messageHandlers.probe.postMessage("end");
            });
            """)
        let run = try probe.show(
            "app://one/page.html", "--world", "w", "--script", probe.path("frames.js"), "--script",
            probe.path("end.js"))
        #expect(run.reported == ["isolated", "end"])
    }

    @Test("self.origin of a sandboxed frame is null, while location.origin names its address")
    func origins() throws {
        let probe = try EngineProbe()
        let script = "report(self.origin + ' ' + location.origin); report('end');"
        try probe.file("inner.html", "<script>\(EngineProbe.report)\(script)</script>")
        try probe.page(
            "page.html", "", body: "<iframe sandbox='allow-scripts' src='app://one/inner.html'></iframe>")
        #expect(try probe.show("app://one/page.html").reported == ["null app://one", "end"])
    }

    @Test("frames cause decisions as the page does, and nothing distinguishes them")
    func decisions() throws {
        let probe = try EngineProbe()
        try probe.page("inner.html", "report('end')")
        try probe.page("page.html", "", body: "<iframe src='other://two/inner.html'></iframe>")
        #expect(
            try probe.show("app://one/page.html").lines("decide") == ["app://one/page.html", "other://two/inner.html"])
    }

    @Test("a text node can be passed to another world by relatedTarget, outside a tree; both use its data and events")
    func handover() throws {
        let probe = try EngineProbe()
        try probe.file(
            "isolated.js",
            """
            document.addEventListener("offer", ({ relatedTarget: port }) => {
                port.addEventListener("out", () => {
                    const text = port.data;
                    port.data = "";
                    webkit.messageHandlers.probe.postMessage(text);
                });
            });
            """)
        try probe.file(
            "page.html",
            """
            <!doctype html><p>text<script>
                const port = document.createTextNode("");
                document.dispatchEvent(new MouseEvent("offer", { relatedTarget: port }));
                // One event, dispatched again and again.
                const departure = new Event("out");
                for (const text of ["handed", "over", "end"]) {
                    port.data = text;
                    port.dispatchEvent(departure);
                }
            </script>
            """)
        let run = try probe.show("app://one/page.html", "--world", "w", "--script", probe.path("isolated.js"))
        #expect(run.reported == ["handed", "over", "end"])
    }

    @Test("an event cannot be dispatched again while it is being dispatched; its eventPhase shows that it is")
    func dispatching() throws {
        let probe = try EngineProbe()
        try probe.page(
            "page.html",
            """
            const port = document.createTextNode("");
            const arrival = new Event("in");
            port.addEventListener("in", () => {
                report(arrival.eventPhase !== Event.NONE);
                try { port.dispatchEvent(arrival) } catch (error) { report(error.name) }
            });
            report(arrival.eventPhase === Event.NONE);
            port.dispatchEvent(arrival);
            report("end");
            """)
        #expect(try probe.show("app://one/page.html").reported == ["true", "true", "InvalidStateError", "end"])
    }
}
