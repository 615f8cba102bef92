import BridgeClient
import BridgeJSON
import TestSupport
import Testing

@Suite(
    "Launch workers of trestle-web", .serialized, .timeLimit(.minutes(10)),
    .enabled(if: WebRun.isPossible, "\(WebRun.needs)"))
struct LaunchTests {
    /// Returns the results of the workers once the last one has run.
    private func launch(_ run: WebRun) async throws -> [JSON] {
        while true {
            let status = try await run.bridge.call("web.status", as: JSON.self)
            let workers = status["launch"]?.arrayValue ?? []
            if workers.last?["name"] == "tasks.provide" { return workers }
        }
    }

    @Test("launch workers: web.status lists their names, phases and durations in order, and one makes a warm view")
    func workers() async throws {
        try await WebRun.with { run in
            try await run.startPage(profile: "[pool]\nwarm = 1\n")
            let workers = try await launch(run)
            #expect(
                workers.map { "\($0["phase"]?.stringValue ?? "") \($0["name"]?.stringValue ?? "")" } == [
                    "environment display.open", "environment instance.register", "environment container.make",
                    "environment service.ready", "beforePages filters.compile", "beforePages daemon.connect",
                    "pages page.show", "afterPages pool.prewarm", "afterPages tasks.provide",
                ])
            #expect(workers.allSatisfy { $0["state"] == "done" && $0["error"] == nil })
            // Each of these waits for another process.
            for worker in workers where ["page.show", "pool.prewarm"].contains(worker["name"]?.stringValue) {
                #expect(worker["durationUs"]?.int64Value ?? 0 > 0)
            }
            let pool = try await run.bridge.call("web.pool", as: JSON.self)
            #expect(pool["warm"] == 1 && pool["coldStarts"] == 1)
        }
    }

    @Test("a first page that cannot be loaded fails its worker, and later workers run")
    func failure() async throws {
        try await WebRun.with { run in
            let port = try UnusedPort()
            try run.start(["http://127.0.0.1:\(port.number)/"])
            try await run.awaitTasks()
            let workers = try await launch(run)
            let page = workers.first { $0["name"] == "page.show" }
            #expect(page?["state"] == "failed" && page?["error"]?.stringValue?.isEmpty == false)
            #expect(workers.contains { $0["name"] == "pool.prewarm" && $0["state"] == "done" })
        }
    }
}
