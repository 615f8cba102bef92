import BridgeJSON
import EventLoop
import Testing

@testable import BridgeClient

/// A client that connects again, against the daemon's own server and runtime.
@Suite(.timeLimit(.minutes(10))) @LoopActor struct RestartTests {
    @Test("Tasks, descriptions and subscriptions work again at the next daemon, and calls made meanwhile are answered")
    func restart() async throws {
        try await withDaemon { daemon in
            let timers = FakeTimers()
            let provider = try await connect(daemon, timers)
            let schema: JSON = ["type": "object", "required": ["kind"]]
            try await provider.register("scan", description: TaskDescription(summary: "Scans.", options: schema)) {
                $0.options
            }
            let events = try await provider.subscribe(["news.*"])
            var states = provider.states.makeAsyncIterator()
            _ = await states.next(isolation: LoopActor.shared)

            await daemon.stop(timeout: .zero)
            guard case .disconnected(let reason, 0, let pause)? = await states.next(isolation: LoopActor.shared) else {
                Issue.record("the client knows nothing of the end")
                return
            }
            #expect(reason.code == .sessionClosed)
            let meanwhile = try await provider.stream("bridge.sessions")
            try daemon.start()
            timers.advance(by: pause)
            let sessions = try await meanwhile.result["sessions"]?[0]
            #expect(sessions?["client"] == "tester")
            #expect(sessions?["tasks"] == ["scan"])
            #expect(sessions?["subscriptions"] == ["news.*"])

            let caller = try await BridgeClient.connect(to: daemon.path)
            #expect(try await caller.call("scan", options: ["kind": "ean"]) == ["kind": "ean"])
            let unfit = await error { () async throws(BridgeError) in _ = try await caller.call("scan") }
            #expect(unfit?.code == .optionsInvalid)
            #expect(try await caller.call("bridge.describe", options: ["task": "scan"])["summary"] == "Scans.")
            try await caller.send("bridge.publish", options: ["event": "news.today", "data": 1])
            for try await event in events {
                #expect(event == BridgeEvent(name: "news.today", data: 1))
                break
            }
            await caller.close()
            await provider.close()
        }
    }

    private func connect(_ daemon: RealDaemon, _ timers: FakeTimers) async throws -> BridgeClient {
        try await BridgeClient.connect(
            to: daemon.path, .init(client: "tester"), Reconnection(), timers: timers, random: { 0 })
    }
}
