import TestSupport
import Testing

@Suite(
    "WebFacts: attacks on a porter, with the naive design as the control (section 4 of the design)", .serialized,
    .timeLimit(.minutes(20)), .enabled(if: EngineProbe.isPossible, "\(EngineProbe.needs)"))
struct AttackControls {
    /// Returns a probe with a porter that answers the event `ask`, and a page that has replaced the functions that the
    /// porter uses.
    private func tampering() throws -> EngineProbe {
        let probe = try EngineProbe()
        try probe.file(
            "porter.js",
            """
            addEventListener("ask", () => {
                webkit.messageHandlers.probe.postMessage(JSON.stringify({ origin: self.origin }));
                webkit.messageHandlers.probe.postMessage("end");
            });
            """)
        try probe.file(
            "page.html",
            """
            <!doctype html><p>text<script>
                JSON.stringify = () => "forged";
                Object.prototype.toJSON = () => "forged";
                dispatchEvent(new Event("ask"));
            </script>
            """)
        return probe
    }

    @Test("control: a page changes the messages of a porter in its own world")
    func tampered() throws {
        let probe = try tampering()
        let run = try probe.show("app://one/page.html", "--script", probe.path("porter.js"))
        #expect(run.reported == ["forged", "end"])
    }

    @Test("a page does not change the messages of a porter in an isolated world")
    func untampered() throws {
        let probe = try tampering()
        let run = try probe.show("app://one/page.html", "--world", "w", "--script", probe.path("porter.js"))
        #expect(run.reported == [#"{"origin":"app://one"}"#, "end"])
    }

    @Test("control: posts of a document that is being left have the address of the next document")
    func stale() throws {
        let probe = try EngineProbe()
        try probe.page("next.html", "report('end');")
        try probe.page(
            "page.html",
            """
            const post = () => { for (let i = 0; i < 40; i += 1) report("stale"); };
            addEventListener("pagehide", post);
            addEventListener("load", () => setTimeout(() => {
                // On a busy machine its process is ended before pagehide.
                setInterval(post, 1);
                location = "other://two/next.html";
            }));
            """)
        // The old process must post between two moments, so not every attempt succeeds.
        let isStale = try (0..<30).contains { _ in
            try probe.show("app://one/page.html").output.contains("message stale [other://two/next.html]")
        }
        #expect(isStale)
    }
}
