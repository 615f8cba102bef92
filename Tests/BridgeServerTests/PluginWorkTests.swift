import BridgeJSON
import EventLoop
import Testing

@testable import BridgeServer
@testable import TaskRuntime

@Suite("Work for plugins", .timeLimit(.minutes(10))) @LoopActor
struct PluginWorkTests {
    @Test("Calls of the daemon's own user do not wait for work that the daemon does for a plugin")
    func ownTurns() async throws {
        let daemon = try ServerOfTest()
        // Another user is connected, so that the loop is shared.
        let other = daemon.server.scheduler.add(.uid(4_000))
        let account = UserAccount(
            uid: daemon.runtime.rights.policy.daemonUID, isTrusted: true, plugin: 7, daemon.runtime.quotas.values)
        let job = LastingJob()
        daemon.runtime.components.steps.begin(job, for: account)
        let client = try daemon.client()
        client.startReading()
        client.send(#"{"task":"bridge.ping","callbackId":1}"#)
        #expect(await daemon.turn { !client.messages.isEmpty || job.steps > 1_000 })
        #expect(!client.messages.isEmpty)
        job.isDone = true
        #expect(await daemon.turn { account.steps.jobs.isEmpty })
        daemon.server.scheduler.remove(other)
        client.close()
        await daemon.stop()
    }
}

/// Continues until a test ends it.
private final class LastingJob: StepJob {
    let session: Session? = nil
    var isDone = false
    private(set) var steps = 0

    func step(until budget: StepBudget) -> StepOutcome {
        steps += 1
        return isDone ? .done : .unfinished
    }
}
