import TaskRuntime
import Testing

@testable import EventLoop
@testable import PluginInterface
@testable import TaskHosts

/// Whether the plugin has got its answer.
private final class Got {
    var isGiven = false
}

@Suite("What a plugin in the daemon gets of its calls about streams", .timeLimit(.minutes(20))) @LoopActor
struct StreamAnswersTests {
    @Test("The turn that ends with an answer is followed by another: what the plugin sends then does not wait")
    func followed() async {
        // Both live as long as the process.
        let answers = StreamAnswers(Unmanaged.passRetained(PluginReceiver()).takeUnretainedValue())
        let got = Got()
        let answer = PluginStreamAnswer(Unmanaged.passRetained(got).toOpaque()) { context, _, _ in
            guard let context else { return }
            Unmanaged<Got>.fromOpaque(context).takeUnretainedValue().isGiven = true
        }
        let isFollowed = await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
            answers.give(.success(.end(bytes: 7)), to: answer)
            var hook: TurnEndHook?
            // Called behind the hook of the answers.
            hook = EventLoop.atTurnEnd {
                hook?.remove()
                continuation.resume(returning: got.isGiven && !Loop.shared.jobs.isEmpty)
            }
        }
        #expect(isFollowed)
    }
}
