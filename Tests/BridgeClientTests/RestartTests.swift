import BridgeJSON
import EventLoop
import Testing

@testable import BridgeClient

/// A client that reconnects, against the daemon's server and runtime.
@Suite(.timeLimit(.minutes(10))) @LoopActor struct RestartTests {
    @Test("Tasks, descriptions and subscriptions work at the next daemon, and waiting calls are answered")
    func restart() async throws {
        try await withDaemon { daemon in
            let timers = FakeTimers()
            let provider = try await connect(daemon, timers)
            let schema: JSON = ["type": "object", "required": ["kind"]]
            try await provider.registerJSON(
                "scan", description: TaskDescription(summary: "Scans.", options: schema)
            ) { options, _ in options }
            let events = try await provider.subscribe(to: "news.*")
            var states = provider.stateStream.makeAsyncIterator()
            _ = await states.next(isolation: LoopActor.shared)

            await daemon.stop(timeout: .zero)
            guard case .waiting(let reason, 0, let pause)? = await states.next(isolation: LoopActor.shared) else {
                Issue.record("the client knows nothing of the end")
                return
            }
            #expect(reason.code == .sessionClosed)
            let meanwhile = try await provider.progressJSON("bridge.sessions")
            try daemon.start()
            timers.advance(by: pause)
            let sessions = try await meanwhile.result["sessions"]?[0]
            #expect(sessions?["client"] == "tester")
            #expect(sessions?["tasks"] == ["scan"])
            #expect(sessions?["subscriptions"] == ["news.*"])

            let caller = try await Bridge.connectOnce(to: daemon.path)
            #expect(try await caller.callJSON("scan", ["kind": "ean"]) == ["kind": "ean"])
            let unfit = await error { () async throws(BridgeError) in _ = try await caller.callJSON("scan") }
            #expect(unfit?.code == .optionsInvalid)
            #expect(try await caller.callJSON("bridge.describe", ["task": "scan"])["summary"] == "Scans.")
            try await caller.publish("news.today", 1)
            var seen: [BridgeEvent] = []
            for try await event in events {
                seen.append(event)
                if seen.count == 2 { break }
            }
            #expect(seen == [.missed, BridgeEvent(name: "news.today", data: 1)])
            await caller.close()
            await provider.close()
        }
    }

    private func connect(_ daemon: RealDaemon, _ timers: FakeTimers) async throws -> Bridge {
        try await Bridge.connect(to: daemon.path, .init(client: "tester"), timers: timers, random: { 0 })
    }
}
