import BridgeClient
import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite(
    "Navigation of pages", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: WebRun.isPossible && OddServer.isPossible, "\(WebRun.needs); needs openssl"))
struct NavigationTests {
    @Test("decide about a navigation: other origins open in the desktop's browser, at once or if the user agrees")
    func external() async throws {
        for (external, answer) in [("open", 0), ("ask", 0)] {
            try await WebRun.with { run in
                let other = run.server.origins[1]
                let opened = try run.installBrowser()
                try await run.bridge.register("ui.alert") { (_: JSON, _) -> JSON in
                    ["index": .number(JSONNumber(Int64(answer)))]
                }
                try await run.startPage(profile: "external = \"\(external)\"\n")
                _ = try await run.evaluate("setTimeout(() => { location = '\(other)/elsewhere'; })")
                #expect(try opened.line() == "\(other)/elsewhere", "\(external)")
            }
        }
    }

    @Test("load: start, redirect, commit, finish, fail, cancelled are events in this order, each one object")
    func steps() async throws {
        try await WebRun.with { run in
            let (origin, other) = (run.server.origins[0], run.server.origins[1])
            try await run.startPage()
            var events = try await run.bridge.subscribe(to: "web.navigation.*").makeAsyncIterator()
            let target = "\(origin)/page.html"
            _ = try await run.navigate("\(origin)/redirect?\(target)", finished: true)
            // The page's own load may still be in progress when the events are subscribed.
            var event = try await events.next()
            while let other = event, other.name != "web.navigation.started" { event = try await events.next() }
            for step in ["redirected", "committed", "finished"] {
                event = try await events.next()
                #expect(event?.name == "web.navigation.\(step)")
            }
            #expect(event?.data == ["view": 1, "uri": .string(target)])
            _ = try await run.report()
            await run.expect("web.navigate", ["uri": .string("\(origin)/redirect?\(other)/")], "navigation.denied")
            var names: [String] = []
            while let event = try await events.next() {
                names.append(event.name)
                if event.name == "web.navigation.failed" {
                    #expect(event.data["code"] == "cancelled")
                    break
                }
            }
            #expect(names.contains("web.navigation.denied"))
        }
    }

    @Test("are published before the callback of the call that caused them: a later subscriber does not receive them")
    func eventsBeforeCallbacks() async throws {
        try await WebRun.with { run in
            try await run.startPage(profile: "[tasks]\nevents = [\"web.history\"]\n")
            _ = try await run.evaluate("for (let i = 0; i < 50; i++) history.pushState(i, '', `?${i}`)")
            let subscription = try await run.bridge.subscribe(to: "web.history", "test.marker")
            try await run.bridge.publish("test.marker")
            var events = subscription.makeAsyncIterator()
            #expect(try await events.next()?.name == "test.marker")
        }
    }

    @Test("a load that fails ends with one web.navigation.failed; steps of the error page are not published")
    func failedSteps() async throws {
        try await WebRun.with { run in
            let odd = try OddServer()
            let (closed, target) = ("http://127.0.0.1:9/", "\(run.server.origins[0])/page.html")
            try await run.startPage(profile: "allow = [\"\(odd.secureOrigin)\", \"http://127.0.0.1:9\"]\n")
            _ = try await run.navigate(target, finished: true)
            var events = try await run.bridge.subscribe(to: "web.navigation.*").makeAsyncIterator()
            for failing in ["\(odd.secureOrigin)/", closed] {
                await run.expect("web.navigate", ["uri": .string(failing)], "load.failed")
                _ = try await run.navigate(target, finished: true)
                let expected = [
                    "started \(failing)", "failed \(failing)", "started \(target)", "committed \(target)",
                    "finished \(target)",
                ]
                var steps: [String] = []
                while steps.count < expected.count, let event = try await events.next() {
                    steps.append("\(event.name.dropFirst(15)) \(event.data["uri"]?.stringValue ?? "")")
                }
                #expect(steps == expected)
            }
        }
    }

    @Test("callback as one event object: a name, and data that identify the page")
    func objects() async throws {
        try await WebRun.with { run in
            try await run.startPage(profile: "[tasks]\nevents = [\"web.title\"]\n")
            var titles = try await run.bridge.subscribe(to: "web.title").makeAsyncIterator()
            _ = try await run.evaluate("document.title = 'new'")
            let event = try await titles.next()
            #expect(event == BridgeEvent(name: "web.title", data: ["view": 1, "title": "new"]))
        }
    }

    @Test("a document that does not arrive in time fails, and the next navigation succeeds")
    func timeout() async throws {
        try await WebRun.with { run in
            let odd = try OddServer()
            let page = "\(run.server.origins[0])/page.html"
            try run.server.serve("page.html", script: "", body: "<p>text")
            try run.write(
                profile: "allow = [\"\(odd.origin)\"]\n[navigation]\ntimeout = \"1s\"\n", named: "test")
            try run.start("--profile", "test", "--allow", run.server.origins[0], "\(odd.origin)/waits")
            try await run.awaitTasks()
            var failures = try await run.bridge.subscribe(to: "web.navigation.failed").makeAsyncIterator()
            await run.expect("web.navigate", ["uri": .string("\(odd.origin)/waits")], "load.failed")
            // The first failure may be that of the start.
            while let failure = try await failures.next()?.data, failure["code"] != "timeout" {}
            // On a slow machine, this may take longer than the timeout of the document.
            while (try? await run.navigate(page, finished: true)) == nil {}
            await run.expect("web.navigate", ["uri": .string("http://127.0.0.1:1/")], "navigation.denied")
        }
    }

    @Test("new windows: denied by default, and with windows = \"view\" a page each, under the same rules")
    func windows() async throws {
        for isView in [false, true] {
            try await WebRun.with { run in
                let (origin, other) = (run.server.origins[0], run.server.origins[1])
                try await run.startPage(
                    profile: "\(isView ? "windows = \"view\"\n" : "")[tasks]\nevents = [\"web.*\"]\n")
                try run.server.serve("opened.html", script: "WebBridge.call('test.report', opener !== null);")
                var requests = try await run.bridge.subscribe(to: "web.window.requested").makeAsyncIterator()
                // A signal of WebViewJavascriptBridge does not request a window.
                _ = try await run.evaluate("setTimeout(() => { window.open('wvjbscheme://queue'); })", view: 1)
                _ = try await run.evaluate("setTimeout(() => { window.open('\(origin)/opened.html'); })", view: 1)
                let request = try await requests.next()?.data ?? JSON.null
                #expect(request["allowed"] == .bool(isView) && request["uri"]?.stringValue == "\(origin)/opened.html")
                guard isView else { return }
                #expect(try await run.report() == Report(origin: origin, value: true))
                let views = try await run.bridge.call("web.views", as: JSON.self)
                #expect(views["views"]?.arrayValue?.count == 2)
                _ = try await run.evaluate("setTimeout(() => { window.open('\(other)/opened.html'); })", view: 1)
                #expect(try await requests.next()?.data["allowed"] == false)
            }
        }
    }

    @Test("certificates: refused with an event; web.tls.allow trusts one for its host")
    func certificates() async throws {
        try await WebRun.with { run in
            let odd = try OddServer()
            try await run.startPage(
                profile: "allow = [\"\(odd.secureOrigin)\"]\n[tasks]\nevents = [\"web.tls.failed\"]\n")
            var failures = try await run.bridge.subscribe(to: "web.tls.failed").makeAsyncIterator()
            await run.expect("web.navigate", ["uri": .string("\(odd.secureOrigin)/")], "load.failed")
            let failure = try await failures.next()?.data ?? JSON.null
            #expect(failure["errors"]?.arrayValue?.contains("unknown-ca") == true)
            let sha256 = failure["sha256"] ?? JSON.null
            _ = try await run.bridge.call(
                "web.tls.allow", ["host": "127.0.0.1", "sha256": sha256] as JSON, as: JSON.self)
            _ = try await run.navigate("\(odd.secureOrigin)/", finished: true)
            #expect(try await run.evaluate("return document.title") == "odd")
        }
    }

    @Test("web.navigate succeeds for a server whose certificate was allowed before the engine connected to it")
    func allowedBefore() async throws {
        try await WebRun.with { run in
            let odd = try OddServer()
            let named = odd.secureOrigin.replacing("127.0.0.1", with: "localhost")
            try await run.startPage(
                profile: """
                    allow = ["\(odd.secureOrigin)", "\(named)"]
                    [tasks]
                    events = ["web.tls.failed"]
                    """)
            var failures = try await run.bridge.subscribe(to: "web.tls.failed").makeAsyncIterator()
            await run.expect("web.navigate", ["uri": .string("\(odd.secureOrigin)/")], "load.failed")
            let sha256 = try await failures.next()?.data["sha256"] ?? JSON.null
            _ = try await run.bridge.call(
                "web.tls.allow", ["host": "localhost", "sha256": sha256] as JSON, as: JSON.self)
            _ = try await run.navigate("\(named)/", finished: true)
            #expect(try await run.evaluate("return document.title") == "odd")
        }
    }

    @Test("HTTP authentication: ui.credentials provides the password, and is called again after a wrong one")
    func authentication() async throws {
        try await WebRun.with { run in
            let odd = try OddServer()
            try await run.startPage(profile: "allow = [\"\(odd.origin)\"]\n")
            let (asked, asks) = AsyncStream.makeStream(of: JSON.self)
            try await run.bridge.register("ui.credentials") { (options: JSON, _) -> JSON in
                asks.yield(options)
                return ["user": "me", "password": options["retry"] == true ? "secret" : "wrong"]
            }
            _ = try await run.navigate("\(odd.origin)/asks", finished: true)
            #expect(try await run.evaluate("return document.title") == "let in")
            var questions = asked.makeAsyncIterator()
            let first = await questions.next(isolation: #isolation) ?? JSON.null
            #expect(first["realm"] == "the realm" && first["host"] == "127.0.0.1" && first["retry"] == false)
            #expect(await questions.next(isolation: #isolation)?["retry"] == true)
        }
    }

    @Test("file chooser, permissions, print, full screen: a page whose origin is not in the profile may not print")
    func permissions() async throws {
        try await WebRun.with { run in
            let (origin, other) = (run.server.origins[0], run.server.origins[1])
            try await run.startPage(
                profile: """
                    allow = ["\(other)"]
                    [tasks]
                    events = ["web.permission"]
                    [permissions]
                    print = ["\(other)"]
                    """)
            var decisions = try await run.bridge.subscribe(to: "web.permission").makeAsyncIterator()
            _ = try await run.evaluate("setTimeout(() => print())")
            let decision = try await decisions.next()?.data ?? JSON.null
            #expect(decision["kind"] == "print" && decision["allowed"] == false)
            #expect(decision["origin"]?.stringValue == origin)
        }
    }
}
