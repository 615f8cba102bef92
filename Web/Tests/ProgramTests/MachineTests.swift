import BridgeClient
import BridgeJSON
import TestSupport
import Testing

@Suite(
    "Pages and the machine's lock and sleep", .serialized, .timeLimit(.minutes(20)),
    .enabled(if: WebRun.isPossible, "\(WebRun.needs)"))
struct MachineTests {
    private static func rules(_ origins: [String]) -> String {
        "[[rule]]\nallow = \"publish\"\nnames = \"lifecycle.*\"\norigin = \"\(origins[0])\"\n"
    }

    /// Shows a page that may publish, on a machine with a login manager. `body` also gets its lifecycle events.
    private func withMachine(
        profile: String? = nil,
        _ body: (WebRun, FakeLoginManager, inout EventStream.AsyncIterator) async throws -> Void
    ) async throws {
        try await WebRun.with(rules: Self.rules) { run in
            let manager = try FakeLoginManager()
            run.environment = manager.environment
            try await run.startPage(profile: profile)
            try manager.awaitQuestions()
            var events = try await run.bridge.subscribe(to: "lifecycle.*").makeAsyncIterator()
            try await body(run, manager, &events)
        }
    }

    @Test("lifecycle: lock screen and sleep of the login manager are events on the page's own session")
    func lifecycle() async throws {
        try await withMachine { _, manager, events in
            for (signal, name) in [
                ("lock", "locked"), ("unlock", "unlocked"), ("suspend", "suspending"), ("resume", "resumed"),
            ] {
                try manager.send(signal)
                #expect(try await events.next()?.name == "lifecycle.\(name)")
            }
        }
    }

    @Test("the machine sleeps only when the daemon has the page's lifecycle.suspending, each time")
    func delay() async throws {
        try await withMachine { _, manager, events in
            for _ in 1...2 {
                try manager.send("suspend")
                // The daemon sends the event before it answers the page's call.
                try manager.awaitRelease()
                #expect(try await events.next()?.name == "lifecycle.suspending")
                try manager.send("resume")
                try manager.awaitDelay()
                #expect(try await events.next()?.name == "lifecycle.resumed")
            }
        }
    }

    @Test("a page that shows nothing after the machine has slept is loaded once more")
    func blank() async throws {
        let profile = "[navigation]\nkeep_pages = true\n[tasks]\nevents = [\"web.kept\", \"web.blank\"]\n"
        try await withMachine(profile: profile) { run, manager, _ in
            var events = try await run.bridge.subscribe(to: "web.kept", "web.blank").makeAsyncIterator()
            try await run.loadUntilKept(&events)
            _ = try await run.evaluate("document.body.innerHTML = ''")
            try manager.send("suspend")
            try manager.send("resume")
            #expect(try await events.next()?.name == "web.blank")
            #expect(try await run.report().value == "loaded")
        }
    }

    @Test("the lock of another session and signals of another program on the bus are ignored")
    func others() async throws {
        try await withMachine(profile: "[tasks]\nevents = [\"lifecycle.*\"]\n") { _, manager, events in
            try manager.sendAsImpostor()
            try manager.send("lock-other")
            try manager.send("unlock")
            // One event of the container and one of the page.
            for _ in 1...2 { #expect(try await events.next()?.name == "lifecycle.unlocked") }
        }
    }

    @Test("a restarted login manager is used again, and the end of the bus does not end the program")
    func restart() async throws {
        try await withMachine { run, manager, events in
            try manager.restart()
            try manager.awaitQuestions()
            try manager.send("lock")
            #expect(try await events.next()?.name == "lifecycle.locked")
            try manager.endBus()
            for _ in 1...10 {
                _ = try await run.navigate("\(run.server.origins[0])/page.html", finished: true)
                #expect(try await run.report().value == "loaded")
            }
        }
    }
}
