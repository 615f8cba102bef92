import BridgeJSON
import EventLoop
import PluginInterface
import TaskRuntime

/// Stores the answers to a plugin's calls about streams until the end of the turn. So the plugin, which may make the
/// next call immediately, is never called inside another call, and two plugins that exchange bytes leave turns for all
/// others. Loop thread only; exists as long as the process.
final class StreamAnswers {
    private var waiting: [(answer: PluginStreamAnswer, result: Result<StreamResult, BridgeError>)] = []
    private var hook: TurnEndHook?
    /// The plugin's receiver, which holds the loop thread while the plugin gets the answers.
    private unowned let receiver: PluginReceiver

    init(_ receiver: PluginReceiver) { self.receiver = receiver }

    /// Delivers an answer at the end of this turn or of the next one.
    func give(_ result: Result<StreamResult, BridgeError>, to answer: PluginStreamAnswer) {
        waiting.append((answer, result))
        LoopActor.assumeIsolated(passing: self) { answers in
            if answers.hook == nil { answers.hook = EventLoop.atTurnEnd { answers.giveWaiting() } }
            // At the end of a turn, the next one follows without blocking.
            if answers.waiting.count == 1 { EventLoop.post {} }
        }
    }

    /// Delivers the waiting answers. Calls that the plugin makes meanwhile are answered later.
    func giveWaiting() {
        guard !waiting.isEmpty else { return }
        let now = waiting
        waiting = []
        let holder = receiver.hold()
        for (answer, result) in now { answer.end(result) }
        receiver.release(to: holder)
        // Output of the plugin may have been added after the write at the end of this turn.
        EventLoop.post {}
    }
}

extension PluginStreamAnswer {
    /// Ends the plugin's call.
    fileprivate func end(_ result: Result<StreamResult, BridgeError>) {
        switch result {
        case .failure(let error): give(.failure(error))
        case .success(.made(let name, let room, let end)): give(.success(.made(name: name, roomBytes: room, end)))
        case .success(.room(let bytes)): give(.success(.room(bytes: bytes)))
        case .success(.bytes(let bytes, let type, let totalBytes)):
            bytes.withUnsafeBytes { give(.success(.bytes($0, type: type, totalBytes: totalBytes))) }
        case .success(.attached(let end, let type, let totalBytes)):
            give(.success(.attached(end, type: type, totalBytes: totalBytes)))
        case .success(.end(let bytes)): give(.success(.end(bytes: bytes)))
        case .success(.receipt(let bytes, let fault)):
            give(.success(.receipt(bytes: bytes, side: fault?.number ?? 0, fault?.error)))
        }
    }
}
