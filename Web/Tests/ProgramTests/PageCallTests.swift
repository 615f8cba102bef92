import BridgeJSON
import TestSupport
import Testing

@Suite(
    "A page and its bridge", .serialized, .timeLimit(.minutes(10)), .enabled(if: WebRun.isPossible, "\(WebRun.needs)"))
struct PageCallTests {
    @Test("page calls native, native answers once: with the unchanged client library, under the page's own origin")
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

    @Test("a call of nearly 1 MiB is answered; a longer one is message.too_large, and the next one is answered")
    func longest() async throws {
        try await WebRun.with { run in
            try await run.startPage()
            let lengths = try await run.evaluate(
                """
                const echo = async (length) => {
                    try {
                        return (await WebBridge.call("Echo", { text: "ä".repeat(length / 2) })).text.length * 2;
                    } catch (error) {
                        return error.code;
                    }
                };
                const lengths = [];
                for (const length of [1_000_000, 1_100_000, 2, 1_000_000]) lengths.push(await echo(length));
                return lengths;
                """)
            #expect(lengths == [1_000_000, "message.too_large", 2, 1_000_000])
        }
    }

    @Test("each of 800 concurrent calls has one callback with its own result, three times")
    func atOnce() async throws {
        try await WebRun.with { run in
            let origin = run.server.origins[0]
            try run.server.serve(
                "page.html",
                script: """
                    const counts = new Array(2400).fill(0);
                    const call = (number) => new Promise((done) => {
                        WebBridge.call("Echo", { number }, (result, error) => {
                            if (error === null && result.number === number) counts[number] += 1;
                            done();
                        });
                    });
                    (async () => {
                        for (const first of [0, 800, 1600]) {
                            await Promise.all(Array.from({ length: 800 }, (_, index) => call(first + index)));
                        }
                        await new Promise((done) => WebBridge.call("Echo", {}, done));
                        WebBridge.call("test.report", counts.filter((count) => count === 1).length);
                    })();
                    """)
            try run.start("--bridge", origin, "\(origin)/page.html")
            #expect(try await run.report().value == 2_400)
        }
    }
}
