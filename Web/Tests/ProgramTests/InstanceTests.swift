import BridgeClient
import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite(
    "Instances of trestle-web", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: WebRun.isPossible, "\(WebRun.needs)"))
struct InstanceTests {
    @Test("a second start of a profile passes its address to the first, which publishes it, and ends with 0")
    func single() async throws {
        try await WebRun.with { run in
            let origin = run.server.origins[0]
            try await run.startPage(profile: "[tasks]\nevents = [\"lifecycle.*\"]\n")
            try run.server.serve("second.html", script: "WebBridge.call('test.report', 'second');")
            var openings = try await run.bridge.subscribe(to: "lifecycle.opened").makeAsyncIterator()
            let second = try run.spawn(["--profile", "test", "\(origin)/second.html"])
            #expect(try second.wait() == .exited(0))
            #expect(try await openings.next()?.data == ["uri": .string("\(origin)/second.html")])
            #expect(try await run.report().value == "second")
        }
    }

    @Test("an address with the profile's own scheme reaches its page, from the first start and from a second one")
    func scheme() async throws {
        try await WebRun.with { run in
            let origin = run.server.origins[0]
            try run.server.serve("page.html", script: "WebBridge.call('test.report', 'loaded');")
            try run.write(
                profile: """
                    start = "\(origin)/page.html"
                    allow = ["\(origin)"]
                    bridge = ["\(origin)"]
                    [desktop]
                    schemes = ["notes"]
                    [tasks]
                    events = ["lifecycle.*"]
                    """, named: "test")
            var openings = try await run.bridge.subscribe(to: "lifecycle.opened").makeAsyncIterator()
            try run.start("--profile", "test", "notes:today")
            #expect(try await openings.next()?.data == ["uri": "notes:today"])
            #expect(try await run.report().value == "loaded")
            let second = try run.spawn(["--profile", "test", "notes:tomorrow"])
            #expect(try second.wait() == .exited(0))
            #expect(try await openings.next()?.data == ["uri": "notes:tomorrow"])
        }
    }

    @Test("lifecycle: foreground, background: published on the page's own session")
    func lifecycle() async throws {
        try await WebRun.with(
            rules: { origins in
                """
                [[rule]]
                allow = "publish"
                names = "lifecycle.*"
                origin = "\(origins[0])"
                """
            }
        ) { run in
            try await run.startPage()
            var events = try await run.bridge.subscribe(to: "lifecycle.*").makeAsyncIterator()
            for (isVisible, name) in [(false, "lifecycle.background"), (true, "lifecycle.foreground")] {
                _ = try await run.bridge.call("web.window.set", ["visible": .bool(isVisible)] as JSON, as: JSON.self)
                #expect(try await events.next()?.name == name)
            }
        }
    }

    @Test("trestle-web ends with 75 if its profile requires a daemon and there is none")
    func required() async throws {
        try await WebRun.with { run in
            try run.write(profile: "daemon = \"required\"\n", named: "needy")
            let ended = try run.spawn([
                "--socket", "\(run.homePath)/nowhere", "--profile", "needy", "\(run.server.origins[0])/page.html",
            ])
            #expect(try ended.wait() == .exited(75))
        }
    }

    @Test(
        "a screenshot of an address that cannot be loaded ends with 1, one line of error and no picture",
        arguments: ["", "http://127.0.0.1:1/", "https://127.0.0.1:1/", "http://none.invalid/", "trestle://none/"])
    func noPicture(uri: String) async throws {
        try await WebRun.with { run in
            let port = try UnusedPort()
            let uri = uri.isEmpty ? "http://127.0.0.1:\(port.number)/" : uri
            let picture = "\(run.homePath)/page.png"
            let ended = try run.spawn(["--no-tasks", "--screenshot", picture, uri])
            #expect(try ended.wait() == .exited(1))
            #expect(!exists(picture))
            let lines = run.errors.split(separator: "\n").filter { $0.hasPrefix("trestle-web: ") }
            #expect(lines.count == 1 && lines[0].hasPrefix("trestle-web: \(uri) is not shown: "), "\(lines)")
        }
    }

    @Test("an address that the engine blocks fails as refused, and the next navigation succeeds")
    func blockedPort() async throws {
        try await WebRun.with { run in
            try await run.startPage(profile: "allow = [\"http://127.0.0.1:1\"]\n")
            var failures = try await run.bridge.subscribe(to: "web.navigation.failed").makeAsyncIterator()
            await run.expect("web.navigate", ["uri": "http://127.0.0.1:1/"], "load.failed")
            #expect(try await failures.next()?.data["code"] == "refused")
            _ = try await run.navigate("\(run.server.origins[0])/page.html")
            #expect(try await run.report().value == "loaded")
        }
    }
}
