import BridgeClient
import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite(
    "Scripts, parameters and history of pages", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: WebRun.isPossible && OddServer.isPossible, "\(WebRun.needs); needs openssl"))
struct DocumentTests {
    @Test("user scripts, start/end, main frame/all, remove all: added scripts run in later documents of their origins")
    func scripts() async throws {
        try await WebRun.with { run in
            let (origin, other) = (run.server.origins[0], run.server.origins[1])
            try await run.startPage("--allow", other)
            try run.server.serve("plain.html", script: "", body: "<b>bold</b>")
            let added = try await run.bridge.call(
                "web.scripts.add",
                ["source": "globalThis.added = 1;", "origins": .array([.string(origin)])] as JSON, as: JSON.self)
            _ = try await run.bridge.call(
                "web.styles.add", ["source": "b { color: rgb(1, 2, 3) }"] as JSON, as: JSON.self)
            let look = "return [globalThis.added ?? 0, getComputedStyle(document.querySelector('b')).color]"
            _ = try await run.navigate("\(origin)/plain.html", finished: true)
            #expect(try await run.evaluate(look) == [1, "rgb(1, 2, 3)"])
            // The engine's patterns have no ports. The script is still kept from documents of another port.
            _ = try await run.navigate("\(other)/plain.html", finished: true)
            #expect(try await run.evaluate(look) == [0, "rgb(1, 2, 3)"])
            _ = try await run.bridge.call("web.scripts.remove", added, as: JSON.self)
            _ = try await run.bridge.call("web.styles.remove", ["all": true] as JSON, as: JSON.self)
            _ = try await run.navigate("\(origin)/plain.html", finished: true)
            #expect(try await run.evaluate(look) == [0, "rgb(0, 0, 0)"])
            await run.expect("web.scripts.remove", added, "script.not_found")
            let bridged = try await run.evaluate("return typeof webkit.messageHandlers.bridge")
            #expect(bridged == "object")
        }
    }

    @Test(
        "user script versus evaluate: one runs in later documents without a result, the other runs now and returns one")
    func scriptsAndEvaluate() async throws {
        try await WebRun.with { run in
            try await run.startPage()
            let source: JSON = ["source": "globalThis.added = document.URL; 7"]
            let added = try await run.bridge.call("web.scripts.add", source, as: JSON.self)
            #expect(added["result"] == nil && added["script"] != nil)
            #expect(try await run.evaluate("return typeof globalThis.added") == "undefined")
            #expect(try await run.evaluate("return 7") == 7)
            let uri = "\(run.server.origins[0])/page.html?again"
            _ = try await run.navigate(uri, finished: true)
            #expect(try await run.evaluate("return globalThis.added") == .string(uri))
        }
    }

    @Test("an added script runs in all pages, twice if it was added twice, and not after its removal")
    func sharedScripts() async throws {
        try await WebRun.with { run in
            try await run.startPage()
            let uri = "\(run.server.origins[0])/page.html"
            _ = try await run.bridge.call("web.open", ["uri": .string(uri)] as JSON, as: JSON.self)
            _ = try await run.report()
            let call = { (task: String, options: JSON) in
                try await run.bridge.call("web.scripts.\(task)", options, as: JSON.self)
            }
            let look = {
                for view: JSON in [1, 2] {
                    _ = try await run.bridge.call("web.reload", ["view": view] as JSON, as: JSON.self)
                    _ = try await run.report()
                }
                return (
                    try await run.evaluate("return globalThis.runs ?? 0", view: 1),
                    try await run.evaluate("return globalThis.runs ?? 0", view: 2)
                )
            }
            let source: JSON = ["source": "globalThis.runs = (globalThis.runs ?? 0) + 1;"]
            let first = try await call("add", source)
            _ = try await call("add", source)
            #expect(try await look() == (2, 2))
            _ = try await call("remove", first)
            #expect(try await look() == (1, 1))
            _ = try await call("remove", ["all": true])
            #expect(try await look() == (0, 0))
        }
    }

    @Test("scripts of the profile run in their origins, worlds and frames, and clients cannot remove them")
    func ownScripts() async throws {
        try await WebRun.with { run in
            let (origin, other) = (run.server.origins[0], run.server.origins[1])
            let text = "globalThis.own = (globalThis.own ?? '') + location.pathname + document.readyState;"
            try run.write(profile: "", named: "test")
            try run.writeScript(text, named: "own.js")
            try run.server.serve("frame.html", script: "", body: "<iframe src='page.html?frame'></iframe>")
            try await run.startPage(
                profile: """
                    allow = ["\(other)"]
                    [[scripts]]
                    file = "own.js"
                    at = "end"
                    origins = ["\(origin)"]
                    [[scripts]]
                    file = "own.js"
                    world = "isolated"
                    frames = "all"
                    """)
            let look = "return globalThis.own ?? ''"
            #expect(try await run.evaluate(look) == "/page.htmlinteractive")
            _ = try await run.bridge.call("web.scripts.remove", ["all": true] as JSON, as: JSON.self)
            #expect(try await run.bridge.call("web.scripts.list", as: JSON.self) == ["scripts": []])
            _ = try await run.navigate("\(other)/page.html", finished: true)
            #expect(try await run.evaluate(look) == "")
            _ = try await run.navigate("\(origin)/frame.html", finished: true)
            #expect(try await run.evaluate(look) == "/frame.htmlinteractive")
            #expect(try await run.evaluate("return frames[0].own ?? ''") == "")
        }
    }

    @Test("public parameters at several places: the address, headers and a script, only for the listed origins")
    func parameters() async throws {
        try await WebRun.with { run in
            let odd = try OddServer()
            let other = run.server.origins[1]
            try await run.startPage("--allow", odd.origin, "--allow", other)
            _ = try await run.bridge.call(
                "web.parameters.set",
                [
                    "values": ["x-token": "a b"], "in": ["url", "header", "js"],
                    "origins": .array([.string(odd.origin)]),
                ] as JSON, as: JSON.self)
            _ = try await run.navigate("\(odd.origin)/headers?y=1", finished: true)
            let text = try await run.evaluate("return document.body.innerText.toLowerCase()").stringValue ?? ""
            #expect(text.hasPrefix("/headers?y=1&x-token=a%20b"))
            #expect(text.contains("x-token: a%20b"))
            let parameters = try await run.evaluate("return [TrestleParameters, Object.isFrozen(TrestleParameters)]")
            #expect(parameters == [["x-token": "a b"], true])
            try run.server.serve("plain.html", script: "")
            let state = try await run.navigate("\(other)/plain.html", finished: true)
            #expect(state["uri"]?.stringValue == "\(other)/plain.html")
            #expect(try await run.evaluate("return typeof TrestleParameters") == "undefined")
        }
    }

    @Test("--param and --param-in apply to the first page")
    func parameterFlags() async throws {
        try await WebRun.with { run in
            let origin = run.server.origins[0]
            try run.server.serve(
                "page.html", script: "WebBridge.call('test.report', [TrestleParameters, location.search]);")
            try run.start(
                "--param", "k=v", "--param-in", "url,js", "--bridge", origin, "\(origin)/page.html")
            #expect(try await run.report().value == [["k": "v"], "?k=v"])
        }
    }

    @Test("user agent append, replace: from the next load on")
    func userAgent() async throws {
        try await WebRun.with { run in
            let odd = try OddServer()
            try await run.startPage("--allow", odd.origin)
            for (options, expected) in [
                (["append": "Extra/1"] as JSON, "extra/1"), (["replace": "Only/2"], "user-agent: only/2"),
            ] {
                _ = try await run.bridge.call("web.userAgent.set", options, as: JSON.self)
                _ = try await run.navigate("\(odd.origin)/headers", finished: true)
                let text = try await run.evaluate("return document.body.innerText.toLowerCase()").stringValue
                #expect(text?.contains(expected) == true, "\(expected)")
            }
            await run.expect("web.userAgent.set", ["append": "a", "replace": "b"], "options.invalid")
        }
    }

    @Test("history shim (pushState, replaceState, popstate): web.history reports how the address changed")
    func history() async throws {
        try await WebRun.with { run in
            let origin = run.server.origins[0]
            try await run.startPage(profile: "[tasks]\nevents = [\"web.history\"]\n")
            var changes = try await run.bridge.subscribe(to: "web.history").makeAsyncIterator()
            for (script, kind, address) in [
                ("history.pushState(1, '', '?a')", "push", "?a"), ("location.hash = 'f'", "push", "?a#f"),
                ("history.replaceState(2, '', '?b')", "replace", "?b"), ("history.go(-2)", "backforward", ""),
            ] {
                _ = try await run.evaluate("setTimeout(() => { \(script) })")
                let change = try await changes.next()?.data
                #expect(change?["kind"]?.stringValue == kind, "\(script)")
                #expect(change?["uri"]?.stringValue == "\(origin)/page.html\(address)", "\(script)")
            }
        }
    }

    @Test("web.back and web.forward move through the documents, and fail if there is none")
    func backAndForward() async throws {
        try await WebRun.with { run in
            let origin = run.server.origins[0]
            try await run.startPage()
            try run.server.serve("second.html", script: "")
            await run.expect("web.back", [:], "history.none")
            _ = try await run.navigate("\(origin)/second.html", finished: true)
            let back = try await run.bridge.call("web.back", as: JSON.self)
            #expect(back["uri"]?.stringValue == "\(origin)/page.html")
            let forward = try await run.bridge.call("web.forward", as: JSON.self)
            #expect(forward["uri"]?.stringValue == "\(origin)/second.html")
            await run.expect("web.forward", [:], "history.none")
            await run.expect("web.back", ["steps": 0], "options.invalid")
            let within = try await run.navigate("\(origin)/second.html#part", finished: true)
            #expect(within["uri"]?.stringValue == "\(origin)/second.html#part")
            let again = try await run.navigate("\(origin)/second.html#part", finished: true)
            #expect(again["uri"]?.stringValue == "\(origin)/second.html#part")
        }
    }

    @Test("progress, title, icon: progress ends with 1, and the window gets the given title")
    func progressAndWindow() async throws {
        try await WebRun.with { run in
            try await run.startPage(profile: "[tasks]\nevents = [\"web.progress\", \"web.title\"]\n")
            var steps = try await run.bridge.subscribe(to: "web.progress").makeAsyncIterator()
            try run.server.serve("second.html", script: "")
            _ = try await run.navigate("\(run.server.origins[0])/second.html", finished: true)
            while let step = try await steps.next(), step.data["progress"]?.doubleValue != 1 {}
            let set = try await run.bridge.call(
                "web.window.set", ["title": "mine", "size": "640x480", "zoom": 1.5] as JSON, as: JSON.self)
            #expect(set["title"] == "mine" && set["size"] == "640x480" && set["zoom"] == 1.5)
            _ = try await run.bridge.call("web.title.set", ["title": ""] as JSON, as: JSON.self)
            #expect(try await run.bridge.call("web.window.get", as: JSON.self)["title"] == "second.html")
            await run.expect("web.window.set", ["zoom": 100], "options.invalid")
        }
    }

    @Test("content height and insets: the page has the size of its window divided by the zoom")
    func layout() async throws {
        try await WebRun.with { run in
            try await run.startPage()
            let look = "return [innerWidth, innerHeight, Math.ceil(document.documentElement.scrollHeight)]"
            for (options, width, height): (JSON, Int64, Int64) in [
                (["size": "640x480", "zoom": 1], 640, 480), (["size": "800x600", "zoom": 2], 400, 300),
            ] {
                _ = try await run.bridge.call("web.window.set", options, as: JSON.self)
                // The page gets its new size when it is drawn.
                var found: [Int64] = []
                while found.prefix(2) != [width, height] {
                    found = try await run.evaluate(look).arrayValue?.compactMap(\.int64Value) ?? []
                }
                #expect(found.last == height)
            }
        }
    }

    @Test(
        "pool: global first view, visible, reusable: web.pool reports views, limits, starts, processes and long turns")
    func pool() async throws {
        try await WebRun.with { run in
            try await run.startPage(profile: "[pool]\nwarm = 0\nmax = 3\n")
            let pool = try await run.bridge.call("web.pool", as: JSON.self)
            #expect(pool["visible"] == 1 && pool["maximum"] == 3 && pool["coldStarts"] == 1)
            let processes = pool["processes"]?.arrayValue ?? []
            #expect(processes.count == 1)
            // A plausible amount: more than 1 MiB and less than 1 TiB.
            let memory = processes.first?["memory"]?.int64Value ?? 0
            #expect(memory > 1 << 20 && memory < 1 << 40)
            // CPU time does not exceed elapsed time, apart from the precision of the measurement.
            let turns = pool["longTurns"]
            #expect(turns?["count"]?.int64Value ?? -1 >= 0)
            let works = turns?["work"]?.objectValue?.map { $0.value.int64Value ?? -1 } ?? [-1]
            #expect(works.reduce(0, +) == turns?["count"]?.int64Value)
            #expect((turns?["longestUs"]?.int64Value ?? 0) <= (turns?["longestByClockUs"]?.int64Value ?? -1) + 1_000)
        }
    }
}
