import BridgeJSON
import TestSupport
import Testing

@Suite("A result of several pages", .blocking)
struct PageTests {
    /// More than one page of entries.
    private static let count = 150

    /// Returns the lines of a command's output.
    private func lines(_ run: ProgramRun) throws -> [JSON] {
        #expect(run.end == .exited(0), "\(run.errors)")
        return try run.output.split(separator: "\n").map { try JSON(parsing: String($0)) }
    }

    @Test("is printed completely by the command line: tasks, descriptions, sessions, calls, metrics")
    func commandLine() throws {
        try withDaemon("limits.message_bytes = \"16KiB\"") { daemon in
            let (provider, caller) = try (daemon.connect(), daemon.connect())
            let names = (0..<Self.count).map { "page.task.\(1000 + $0)" }
            for name in names { _ = try provider.result("bridge.register", ["tasks": [.string(name)]]) }
            for id in 0..<Self.count {
                try caller.send(["task": .string(names[0]), "callbackId": .number(JSONNumber(id))])
            }
            let others = try (0..<Self.count).map { _ in try daemon.connect() }
            let sessions = try others.map { try $0.result("bridge.hello")["session"] }
            for task in ["tasks", "describe", "sessions", "calls", "metrics"] {
                #expect(try caller.result("bridge.\(task)")["cursor"] != nil, "\(task): one page")
            }

            let tasks = try lines(daemon.home.trestle("tasks")).map { $0["name"]?.stringValue ?? "" }
            #expect(tasks.filter { $0.hasPrefix("page.") } == names)
            #expect(tasks == tasks.sorted() && tasks.contains("Echo") && Set(tasks).count == tasks.count)
            let descriptions = try lines(daemon.home.trestle("tasks", "--schemas"))
            #expect(descriptions.first?.arrayValue?.map { $0["name"]?.stringValue ?? "" } == tasks)

            let shown = try lines(daemon.home.trestle("sessions")).map { $0["session"] }
            #expect(Set(shown).isSuperset(of: sessions))
            // The provider, the caller, the other clients and the command itself.
            #expect(shown.count == Self.count + 3 && Set(shown).count == shown.count)

            let calls = try lines(daemon.home.trestle("calls")).filter { $0["task"] == .string(names[0]) }
            #expect(calls.map { $0["callbackId"] } == (0..<Self.count).map { .number(JSONNumber($0)) })

            let metrics = try daemon.home.trestle("metrics")
            #expect(metrics.end == .exited(0), "\(metrics.errors)")
            let families = try OpenMetrics(metrics.output).families.map(\.name)
            #expect(Set(families).count == families.count && metrics.output.utf8.count > 16_384)
        }
    }
}
