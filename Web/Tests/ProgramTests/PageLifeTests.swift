import BridgeClient
import BridgeJSON
import TestSupport
import Testing

@Suite(
    "Tasks, sessions, media and recovery of pages", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: WebRun.isPossible, "\(WebRun.needs)"))
struct PageLifeTests {
    @Test("page provides tasks to others: a task ends with its document")
    func provides() async throws {
        let rules = { (origins: [String]) in
            "[[rule]]\nallow = [\"register\", \"serve\"]\nnames = \"page.*\"\norigin = \"\(origins[0])\"\n"
        }
        try await WebRun.with(rules: rules) { run in
            try await run.startPage()
            _ = try await run.evaluate(
                """
                WebBridge.register("page.double", ({ number }) => number * 2);
                await new Promise((done) => WebBridge.call("Echo", {}, done));
                """)
            let options: JSON = ["number": 21]
            #expect(try await run.bridge.call("page.double", options, as: JSON.self) == 42)
            _ = try await run.navigate("\(run.server.origins[0])/page.html")
            _ = try await run.report()
            await run.expect("page.double", options, "task.not_found")
        }
    }

    @Test("page-level calls refresh, close: web.reload if the profile permits it, and window.close()")
    func ownCalls() async throws {
        let rules = { (origins: [String]) in
            "[[rule]]\nallow = \"call\"\nnames = \"web.*\"\norigin = \"\(origins[0])\"\n"
        }
        try await WebRun.with(rules: rules) { run in
            try await run.startPage(profile: "[tasks]\npages = [\"web.reload\"]\n")
            _ = try await run.evaluate("setTimeout(() => WebBridge.call('web.reload', {}));")
            #expect(try await run.report().value == "loaded")
            _ = try await run.bridge.call(
                "web.evaluate", ["script": "setTimeout(() => close())"] as JSON, as: JSON.self)
            #expect(try run.end() == .exited(0))
        }
    }

    @Test("several web views share session and cookies (process pool): the views of one profile")
    func shared() async throws {
        try await WebRun.with { run in
            let uri = "\(run.server.origins[0])/page.html"
            try await run.startPage()
            _ = try await run.evaluate("document.cookie = 'a=1'; localStorage.setItem('b', '2');", view: 1)
            let second = try await run.bridge.call(
                "web.open", ["uri": .string(uri), "wait": "finished"] as JSON, as: JSON.self)["view"]?.int64Value
            let values = try await run.evaluate(
                "return [document.cookie, localStorage.getItem('b')]", view: second.map { Int($0) })
            #expect(values == ["a=1", "2"])
        }
    }

    @Test("process swap: a page that goes to another site gets another process and session, without a crash")
    func processSwap() async throws {
        try await WebRun.with { run in
            let origin = run.server.origins[1].replacing("127.0.0.1", with: "localhost")
            try await run.startPage(
                profile: """
                    [tasks]
                    events = ["web.crashed", "web.bridge.opened", "web.title"]
                    [pool]
                    warm = 0

                    """, "--bridge", origin)
            let before = Set(try await processes(run))
            let session = try await run.bridge.call("web.views", as: JSON.self)["views"]?[0]?["session"]
            var events = try await run.bridge.subscribe(to: "web.*").makeAsyncIterator()
            try run.server.serve(
                "other.html", script: "WebBridge.call('Echo', 1).then(() => { document.title = 'called'; });")
            let shown = try await run.navigate("\(origin)/other.html", finished: true)
            #expect(shown["view"] == 1)
            var names: [String] = []
            while let event = try await events.next() {
                names.append(event.name)
                if event.data["title"] == "called" { break }
            }
            #expect(names.contains("web.bridge.opened") && !names.contains("web.crashed"), "\(names)")
            #expect(try await !processes(run).allSatisfy { before.contains($0) })
            let views = try await run.bridge.call("web.views", as: JSON.self)["views"]
            #expect(views?[0]?["session"] != nil && views?[0]?["session"] != session)
        }
    }

    private func processes(_ run: WebRun) async throws -> [Int64] {
        try await run.bridge.call("web.pool", as: JSON.self)["processes"]?.arrayValue?
            .compactMap { $0["pid"]?.int64Value } ?? []
    }

    /// Plays a second of 8-bit silence, which counts as sound, and stores the outcome.
    private static let player = """
        const sound = new DataView(new Uint8Array(44 + 8000).fill(128).buffer);
        [0x52494646, 0, 0x57415645, 0x666d7420].forEach((word, index) => sound.setUint32(4 * index, word));
        sound.setUint32(4, 36 + 8000, true);
        [16, 0x10001, 8000, 8000, 0x80001].forEach((word, index) => sound.setUint32(16 + 4 * index, word, true));
        sound.setUint32(36, 0x64617461);
        sound.setUint32(40, 8000, true);
        const audio = new Audio(URL.createObjectURL(new Blob([sound], { type: "audio/wav" })));
        const outcome = await audio.play().then(() => "plays", ({ name }) => name);
        """

    @Test("autoplay: media with sound play before a user gesture only if the profile permits it")
    func autoplay() async throws {
        for setting in ["refuse", "silent", "allow"] {
            try await WebRun.with { run in
                let origin = run.server.origins[0]
                try run.server.serve(
                    "player.html",
                    script: "(async () => { \(Self.player) WebBridge.call('test.report', outcome); })();")
                try run.write(profile: "[media]\nautoplay = \"\(setting)\"\n", named: "test")
                try run.start("--profile", "test", "--bridge", origin, "\(origin)/player.html")
                let outcome = try await run.report().value
                #expect((outcome == "NotAllowedError") == (setting != "allow"), "\(setting): \(outcome.text)")
            }
        }
    }

    @Test("local storage as persistence, CRUD by bridge: a page's records belong to its origin")
    func persistence() async throws {
        let rules = { (origins: [String]) in
            "[[rule]]\nallow = \"call\"\nnames = \"persistence.*\"\norigin = [\"\(origins[0])\", \"\(origins[1])\"]\n"
        }
        try await WebRun.with(rules: rules, plugins: ["Persistence"]) { run in
            let other = run.server.origins[1]
            try await run.startPage("--bridge", other)
            let call = { (task: String, options: String) in
                try await run.evaluate("return await WebBridge.call('persistence.\(task)', \(options))")
            }
            let read = "{ table: 'notes', key: 'a' }"
            let version = try await call("create", "{ table: 'notes', key: 'a', record: { count: 1 } }")["version"]
            #expect(version == 1)
            #expect(try await call("read", read)["record"] == ["count": 1])
            #expect(try await call("update", "{ table: 'notes', key: 'a', record: { count: 2 } }")["version"] == 2)
            _ = try await run.navigate("\(other)/page.html", finished: true)
            _ = try await run.report()
            let foreign = "return WebBridge.call('persistence.read', \(read)).catch(({ code }) => code)"
            #expect(try await run.evaluate(foreign) == "record.not_found")
            _ = try await run.navigate("\(run.server.origins[0])/page.html", finished: true)
            _ = try await run.report()
            #expect(try await call("read", read)["record"] == ["count": 2])
            _ = try await call("delete", read)
            #expect(try await run.evaluate(foreign) == "record.not_found")
        }
    }

    @Test("blank page: a page that shows nothing is loaded once more")
    func blank() async throws {
        try await WebRun.with { run in
            try await run.startPage()
            try run.server.serve(
                "<!doctype html><title>blank</title><script src='bridge.js'></script>"
                    + "<script>WebBridge.call('test.report', 'blank');</script>", as: "blank.html")
            var blanks = try await run.bridge.subscribe(to: "web.blank").makeAsyncIterator()
            _ = try await run.navigate("\(run.server.origins[0])/blank.html")
            #expect(try await run.report().value == "blank")
            #expect(try await blanks.next()?.data["view"] == 1)
            #expect(try await run.report().value == "blank")
        }
    }

    @Test("a page that shows nothing when its window becomes visible again is loaded once more")
    func blankInSight() async throws {
        let profile = "[navigation]\nkeep_pages = true\n[tasks]\nevents = [\"web.kept\", \"web.blank\"]\n"
        try await WebRun.with { run in
            try await run.startPage(profile: profile)
            var events = try await run.bridge.subscribe(to: "web.kept", "web.blank").makeAsyncIterator()
            try await run.loadUntilKept(&events)
            for isVisible in [false, true] {
                let options: JSON = ["visible": .bool(isVisible)]
                _ = try await run.bridge.call("web.window.set", options, as: JSON.self)
                if !isVisible { _ = try await run.evaluate("document.body.innerHTML = ''") }
            }
            #expect(try await events.next()?.name == "web.blank")
            #expect(try await run.report().value == "loaded")
        }
    }

    @Test("hang: the page's process is ended, and the page is loaded again")
    func hang() async throws {
        try await WebRun.with { run in
            // A waiting view may be starting its process, and the engine crashes if that process ends.
            try await run.startPage(profile: "[recovery]\nunresponsive = \"1s\"\n[pool]\nwarm = 0\n")
            var events = try await run.bridge.subscribe(to: "web.unresponsive", "web.crashed").makeAsyncIterator()
            // The loop may begin before the answer is sent.
            _ = try? await run.evaluate("setTimeout(() => { for (;;); });")
            #expect(try await events.next()?.name == "web.unresponsive")
            #expect(try await events.next()?.data["willReload"] == true)
            #expect(try await run.report().value == "loaded")
        }
    }

    @Test("memory: the process of a page that exceeds pool.memory is ended, and the page is loaded again")
    func memory() async throws {
        try await WebRun.with { run in
            try await run.startPage(profile: "[pool]\nmemory = 400\nwarm = 0\n")
            var crashes = try await run.bridge.subscribe(to: "web.crashed").makeAsyncIterator()
            // At most 600 MiB, also if nothing ends it.
            let take = """
                const take = () => {
                    held.push(new Uint8Array(20 << 20).fill(held.length + 1));
                    if (held.length < 30) setTimeout(take, 10);
                };
                globalThis.held = [];
                setTimeout(take);
                """
            _ = try? await run.evaluate(take)
            let crash = try await crashes.next()?.data ?? JSON.null
            #expect(crash["reason"] == "exceeded-memory" && crash["willReload"] == true)
            #expect(try await run.report().value == "loaded")
            #expect(try await run.evaluate("return typeof held") == "undefined")
        }
    }
}
