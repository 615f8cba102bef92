import TaskRuntime
import Testing

@testable import EventLoop
@testable import PluginInterface
@testable import TaskHosts

/// Records whether the plugin has received its answer.
private final class Got {
    var isGiven = false
}

@Suite("Answers to stream calls of a plugin in the daemon's process", .timeLimit(.minutes(20))) @LoopActor
struct StreamAnswersTests {
    @Test("A turn that ends with an answer is followed by another, so that the plugin's messages do not wait")
    func followed() async {
        // Both exist as long as the process.
        let answers = StreamAnswers(Unmanaged.passRetained(PluginReceiver()).takeUnretainedValue())
        let got = Got()
        let answer = PluginStreamAnswer(Unmanaged.passRetained(got).toOpaque()) { context, _, _ in
            guard let context else { return }
            Unmanaged<Got>.fromOpaque(context).takeUnretainedValue().isGiven = true
        }
        let isFollowed = await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
            answers.give(.success(.end(bytes: 7)), to: answer)
            var hook: TurnEndHook?
            // Called after the hook of the answers.
            hook = EventLoop.atTurnEnd {
                hook?.remove()
                continuation.resume(returning: got.isGiven && !Loop.shared.jobs.isEmpty)
            }
        }
        #expect(isFollowed)
    }
}
