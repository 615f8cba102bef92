import BridgeJSON
import TestSupport
import Testing

@Suite(
    "A page and its bridge", .serialized, .timeLimit(.minutes(10)), .enabled(if: WebRun.isPossible, "\(WebRun.needs)"))
struct PageCallTests {
    @Test("a page with the unchanged client library calls a task, and gets its callback under the page's own origin")
    func call() async throws {
        try await WebRun.with { run in
            let origin = run.server.origins[0]
            try run.server.serve(
                "page.html",
                script: """
                    WebBridge.call("Echo", { hello: "world" }, (result, error) => {
                        WebBridge.call("test.report", { result, error: error?.code ?? null });
                    });
                    """)
            try run.start("--bridge", origin, "\(origin)/page.html")
            let report = try await run.report()
            #expect(report == Report(origin: origin, value: ["result": ["hello": "world"], "error": nil]))
        }
    }
}
