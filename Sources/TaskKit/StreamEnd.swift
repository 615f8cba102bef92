internal import CTaskPlugin
internal import Synchronization

/// One end of a stream that a plugin holds, and the calls of the daemon's tasks about it. Any thread.
final class StreamEnd: Sendable {
    private struct State {
        /// The call for which the end is taken, with its first use; 0: it has been taken.
        var parent: trestle_call
        var isOver = false
    }

    let name: String
    unowned(unsafe) private let runtime: PluginRuntime  // never released; see `Plugin.export`
    private let log: PluginLog
    private let state: Mutex<State>

    /// - Parameter parent: The call that the plugin works on; 0: none.
    init(_ name: String, for parent: trestle_call, _ runtime: PluginRuntime, _ log: PluginLog) {
        self.name = name
        self.runtime = runtime
        self.log = log
        state = Mutex(State(parent: parent))
    }

    /// Whether no call about it makes sense any longer.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// The stream is over here.
    func finish() { state.withLock { $0.isOver = true } }

    /// Calls `bridge.stream.` and this task. A stream may last longer than the call for which its end was taken: later
    /// calls are made in the plugin's own name.
    func call(_ task: String, _ more: JSONObject = [:]) async throws(BridgeError) -> JSON {
        var options = more
        options["stream"] = .string(name)
        do throws(BridgeError) {
            return try await runtime.call("bridge.stream.\(task)", JSON.object(options), takeRoute(), log: log)
        } catch {
            // Nobody knows which bytes went.
            if error.code == .callCancelled { leave(error) }
            finish()
            throw error
        }
    }

    private func takeRoute() -> BridgeRoute {
        let parent = state.withLock { state in
            defer { state.parent = 0 }
            return state.parent
        }
        return BridgeRoute(parent: parent, session: nil, timeout: .standard)
    }

    /// Ends the stream, where it is not over, without waiting.
    ///
    /// - Parameter error: what the other side gets as the reason; nil: nothing.
    func leave(_ error: BridgeError?) {
        let wasOver = state.withLock { state in
            defer { state.isOver = true }
            return state.isOver
        }
        guard !wasOver else { return }
        var options: JSONObject = ["stream": .string(name)]
        if let error { options["error"] = ["code": .string(error.code.rawValue), "message": .string(error.message)] }
        runtime.notify("bridge.stream.close", JSON.object(options), takeRoute(), log: log)
    }
}
