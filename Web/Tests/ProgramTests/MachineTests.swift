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

    @Test("lifecycle: lock screen and sleep of the login manager are events on the page's own session")
    func lifecycle() async throws {
        try await WebRun.with(rules: Self.rules) { run in
            let manager = try FakeLoginManager()
            run.environment = manager.environment
            try await run.startPage()
            try manager.awaitQuestion()
            var events = try await run.bridge.subscribe(to: "lifecycle.*").makeAsyncIterator()
            for (signal, name) in [
                ("lock", "locked"), ("unlock", "unlocked"), ("suspend", "suspending"), ("resume", "resumed"),
            ] {
                try manager.send(signal)
                #expect(try await events.next()?.name == "lifecycle.\(name)")
            }
        }
    }

    @Test("the lock of another session, and signals of another program on the bus, are not heard")
    func others() async throws {
        try await WebRun.with(rules: Self.rules) { run in
            let manager = try FakeLoginManager()
            run.environment = manager.environment
            try await run.startPage(profile: "[tasks]\nevents = [\"lifecycle.*\"]\n")
            try manager.awaitQuestion()
            var events = try await run.bridge.subscribe(to: "lifecycle.*").makeAsyncIterator()
            try manager.sendAsImpostor()
            try manager.send("lock-other")
            try manager.send("unlock")
            // One for those who follow the container, and one of the page.
            for _ in 1...2 { #expect(try await events.next()?.name == "lifecycle.unlocked") }
        }
    }

    @Test("a login manager that is started again is heard, and the end of the bus is not that of the program")
    func restart() async throws {
        try await WebRun.with(rules: Self.rules) { run in
            let manager = try FakeLoginManager()
            run.environment = manager.environment
            try await run.startPage()
            try manager.awaitQuestion()
            var events = try await run.bridge.subscribe(to: "lifecycle.*").makeAsyncIterator()
            try manager.restart()
            try manager.awaitQuestion()
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
