import Testing

@testable import LaunchWorkers

@Suite("The launch registry", .timeLimit(.minutes(20))) @MainActor
struct LaunchTests {
    /// The names of the workers that ran, in order.
    private final class Trace {
        var names: [String] = []
    }

    private enum Phase: String, LaunchPhases {
        case first, second, third, last
    }

    private final class ManualTime {
        var now = Duration.seconds(100)
    }

    private struct Broken: Error, CustomStringConvertible {
        let description: String
    }

    private let trace = Trace()
    private let time = ManualTime()
    private let registry: LaunchRegistry<Phase>

    init() {
        registry = LaunchRegistry { [time] in time.now }
    }

    private func worker(
        _ name: String, _ phase: Phase = .third, after: [String] = [], required: Bool = true,
        fails reason: String? = nil
    ) -> LaunchWorker<Phase> {
        LaunchWorker(name, phase: phase, after: after, required: required) { [trace] in
            trace.names.append(name)
            if let reason { throw Broken(description: reason) }
        }
    }

    /// A worker that ends after a signal.
    private func waiting(_ name: String, for signals: AsyncStream<Void>) -> LaunchWorker<Phase> {
        LaunchWorker(name, phase: .first) { [trace] in
            for await _ in signals { break }
            trace.names.append(name)
        }
    }

    @Test("Launch workers run phase by phase, and after the workers that they name")
    func order() async throws {
        for worker in [
            worker("late", .last), worker("c", after: ["b"]), worker("a"), worker("b", after: ["early"]),
            worker("d"), worker("early", .first),
        ] {
            try registry.register(worker)
        }
        try await registry.run()
        #expect(trace.names.sorted() == ["a", "b", "c", "d", "early", "late"])
        #expect(trace.names.first == "early" && trace.names.last == "late")
        let places = ["b", "c"].map { trace.names.firstIndex(of: $0) ?? .max }
        #expect(places[0] < places[1])
        #expect(registry.reports.map(\.name) == ["early", "a", "b", "c", "d", "late"])
    }

    @Test("Launch workers that do not depend on each other run concurrently and are reported in launch order")
    func besideEachOther() async throws {
        let (signals, signal) = AsyncStream.makeStream(of: Void.self)
        try registry.register(waiting("a.waits", for: signals))
        try registry.register(
            LaunchWorker("b.signals", phase: .first) { [trace] in
                trace.names.append("b")
                signal.yield()
            })
        try registry.register(worker("c.next", .first, after: ["a.waits"]))
        try await registry.run()
        #expect(trace.names == ["b", "a.waits", "c.next"])
        #expect(registry.reports.map(\.name) == ["a.waits", "b.signals", "c.next"])
    }

    @Test("Launch workers of one owner run one after the other")
    func oneOwner() async throws {
        try registry.register(
            LaunchWorker("a.first", phase: .first) { [trace] in
                for _ in 0..<10 { await Task.yield() }
                trace.names.append("a.first")
            })
        try registry.register(worker("a.second", .first))
        try registry.register(worker("b.first", .first))
        try await registry.run()
        #expect(trace.names == ["b.first", "a.first", "a.second"])
    }

    @Test("If a required launch worker fails, running workers finish and no other worker starts")
    func failureBesideOthers() async throws {
        let (signals, signal) = AsyncStream.makeStream(of: Void.self)
        try registry.register(waiting("a.waits", for: signals))
        try registry.register(
            LaunchWorker("b.fails", phase: .first) {
                signal.yield()
                throw Broken(description: "no disk")
            })
        try registry.register(worker("c.next", .first, after: ["a.waits"]))
        try registry.register(worker("d.later", .last))
        let failure = await #expect(throws: LaunchFailure.self) { try await registry.run() }
        #expect(failure?.worker == "b.fails")
        #expect(trace.names == ["a.waits"])
        #expect(registry.reports.map(\.name) == ["a.waits", "b.fails"])
    }

    @Test("After the launch, the registry is empty and has reported the duration of each worker")
    func reports() async throws {
        try registry.register(
            LaunchWorker("slow", phase: .first) { [time] in time.now += .milliseconds(30) })
        try registry.register(worker("quick"))
        try await registry.run()
        #expect(registry.count == 0)
        #expect(registry.reports.map(\.name) == ["slow", "quick"])
        #expect(registry.reports.map(\.phase) == ["first", "third"])
        #expect(registry.reports.map(\.duration) == [.milliseconds(30), .zero])
        #expect(registry.reports.allSatisfy { $0.failure == nil })
    }

    @Test("A required launch worker that fails ends the launch; the error contains its name and reason")
    func requiredFailure() async throws {
        try registry.register(worker("one", fails: "no disk"))
        try registry.register(worker("two", after: ["one"]))
        let failure = await #expect(throws: LaunchFailure.self) { try await registry.run() }
        #expect(failure?.worker == "one")
        #expect(failure?.description.contains("no disk") == true)
        #expect(trace.names == ["one"])
        #expect(registry.count == 0)
    }

    @Test("An optional launch worker that fails is reported, and the launch continues")
    func optionalFailure() async throws {
        try registry.register(worker("one", required: false, fails: "no matter"))
        try registry.register(worker("two", after: ["one"]))
        var reported: [String?] = []
        try await registry.run { reported.append($0.failure) }
        #expect(trace.names == ["one", "two"])
        #expect(reported == ["no matter", nil])
    }

    @Test("A dependency cycle is an error that names its launch workers; none of them runs")
    func circle() async throws {
        try registry.register(worker("a", after: ["c"]))
        try registry.register(worker("b", after: ["a"]))
        try registry.register(worker("c", after: ["b"]))
        let failure = await #expect(throws: LaunchFailure.self) { try await registry.run() }
        for name in ["a", "b", "c"] { #expect(failure?.description.contains(name) == true) }
        #expect(trace.names.isEmpty)
    }

    @Test("A dependency that is missing or of a later phase is an error")
    func missing() async throws {
        try registry.register(worker("a", after: ["ghost"]))
        let failure = await #expect(throws: LaunchFailure.self) { try await registry.run() }
        #expect(failure?.description.contains("ghost") == true)
        let other = LaunchRegistry<Phase> { [time] in time.now }
        try other.register(worker("x", .first, after: ["y"]))
        try other.register(worker("y", .last))
        await #expect(throws: LaunchFailure.self) { try await other.run() }
    }

    @Test("A second launch worker of the same name is an error")
    func twice() throws {
        try registry.register(worker("a"))
        #expect(throws: LaunchFailure.self) { try registry.register(worker("a", .last)) }
    }

    @Test("A launch worker can register others for later phases, but not for its own")
    func registeringOthers() async throws {
        let trace = trace
        try registry.register(
            LaunchWorker("loader", phase: .second) { [registry] in
                trace.names.append("loader")
                try registry.register(
                    LaunchWorker("plugin.open", phase: .third, after: ["loader"]) {
                        trace.names.append("plugin.open")
                    })
                #expect(throws: LaunchFailure.self) {
                    try registry.register(LaunchWorker("late", phase: .second) {})
                }
            })
        try await registry.run()
        #expect(trace.names == ["loader", "plugin.open"])
    }
}
