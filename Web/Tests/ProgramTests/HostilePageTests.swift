import BridgeClient
import BridgeJSON
import TestSupport
import Testing

@Suite(
    "Pages that use resources without limit", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: WebRun.isPossible, "\(WebRun.needs)"))
struct HostilePageTests {
    /// Lets a page attack while another page is used. The calls of the other page must be answered.
    ///
    /// - Parameters:
    ///   - script: The action that the hostile page repeats; `turn` counts the repetitions.
    ///   - body: Checks during the attack.
    private func beside(_ script: String, _ body: (WebRun) async throws -> Void = { _ in }) async throws {
        try await WebRun.with { run in
            let origin = run.server.origins[0]
            try await run.startPage(profile: "[tasks]\nevents = [\"web.*\"]\n[pool]\nwarm = 0\n")
            try run.server.serve(
                "hostile.html",
                script: """
                    let turn = 0;
                    const attack = async () => {
                        for (;;) {
                            turn += 1;
                            try { await (async () => { \(script) })(); } catch {}
                            await new Promise((done) => setTimeout(done));
                        }
                    };
                    attack();
                    """)
            let hostile =
                try await run.bridge.call(
                    "web.open", ["uri": .string("\(origin)/hostile.html")] as JSON, as: JSON.self)["view"] ?? JSON.null
            for number in 0..<20 {
                let answer = try await run.evaluate(
                    "return await WebBridge.call('Echo', { number: \(number) })", view: 1)
                #expect(answer == ["number": .number(JSONNumber(Int64(number)))])
            }
            try await body(run)
            // Its document may not exist yet, and a script ends with the document in which it runs.
            let attacks = "return typeof turn === 'number' && turn > 0"
            while (try? await run.evaluate(attacks, view: hostile.int64Value.map { Int($0) })) != true {
                try Task.checkCancellation()
            }
        }
    }

    // The waiting posts of a page are limited to 1 MiB; these are 1.6 MiB.
    @Test("calls: more than the number of held posts get one callback each, beside another page's calls")
    func calls() async throws {
        try await beside(
            """
            globalThis.counts = new Array(800).fill(0);
            const text = "x".repeat(2048);
            const echo = (index) => new Promise((done) => WebBridge.call("Echo", { index, text }, (result) => {
                counts[index] += result?.index === index && result.text === text ? 1 : 1000;
                done();
            }));
            const ends = counts.map((_, index) => echo(index));
            await Promise.all(ends);
            globalThis.isGood = (globalThis.isGood ?? true) && counts.every((count) => count === 1);
            """
        ) { run in
            let isGood = try await run.evaluate(
                """
                while (globalThis.isGood === undefined) await new Promise((done) => setTimeout(done, 10));
                return isGood;
                """, view: 2)
            #expect(isGood == true)
        }
    }

    @Test("posts: more than are held keep their order, and reach the daemon before their page is left")
    func posts() async throws {
        let rules = { (origins: [String]) in
            "[[rule]]\nallow = \"publish\"\nnames = \"test.*\"\norigin = \"\(origins[0])\"\n"
        }
        try await WebRun.with(rules: rules) { run in
            try await run.startPage(profile: "[pool]\nwarm = 0\n")
            var events = try await run.bridge.subscribe(to: "test.number").makeAsyncIterator()
            for round in 0..<3 {
                _ = try await run.evaluate(
                    """
                    const text = "x".repeat(2048);
                    for (let index = 0; index < 800; index += 1) {
                        const data = { number: \(round) * 800 + index, text };
                        WebBridge.call("bridge.publish", { event: "test.number", data });
                    }
                    location = "/page.html?\(round)";
                    """)
                for index in 0..<800 {
                    let event = try await events.next()
                    try #require(event?.data["number"]?.int64Value == Int64(round * 800 + index))
                }
                _ = try await run.report()
            }
        }
    }

    @Test("sockets and ports, opened and closed, leave no descriptors in the container")
    func sockets() async throws {
        try await beside(
            """
            const own = location.host;
            for (let i = 0; i < 10; i += 1) {
                new WebSocket(`ws://${own}/`).close();
                const { port1, port2 } = new MessageChannel();
                port1.postMessage("x", [port2]);
                port1.close();
                const ended = new AbortController();
                fetch("/bridge.js", { signal: ended.signal }).catch(() => {});
                ended.abort();
                new BroadcastChannel("x").close();
                new EventSource("/bridge.js").close();
            }
            """
        ) { run in
            let early = try run.openDescriptors
            for _ in 0..<100 { _ = try await run.evaluate("return await WebBridge.call('Echo', {})", view: 1) }
            let late = try run.openDescriptors
            #expect(late <= early + 8)
        }
    }

    @Test("history entries, fragments and titles do not block another page")
    func history() async throws {
        try await beside(
            """
            for (let i = 0; i < 200; i += 1) {
                document.title = `title ${turn} ${i}`;
                location.hash = `${turn}-${i}`;
                try { history.pushState({}, "", `?${turn}-${i}`); } catch {}
                try { history.replaceState({}, "", `?${turn}-${i}`); } catch {}
            }
            """)
    }

    @Test("windows, dialogs, downloads and prints without permission do not block another page")
    func requests() async throws {
        try await beside(
            """
            for (let i = 0; i < 20; i += 1) {
                window.open(`/bridge.js?${turn}`);
                const link = document.createElement("a");
                Object.assign(link, { href: "/bridge.js", download: "x" });
                link.click();
                Notification.requestPermission();
                navigator.geolocation.getCurrentPosition(() => {}, () => {});
            }
            """)
    }
}
