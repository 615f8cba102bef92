internal import Synchronization

/// A call about a stream, on its way.
typealias PendingStreamCall = Task<Result<JSON, BridgeError>, Never>

/// One end of a stream that a plugin holds, and the calls of the daemon's tasks about it. Any thread.
final class StreamEnd: Sendable {
    private struct State {
        /// Sends for the call for which the end is taken, with its first use; then in the plugin's own name.
        var sender: Sender
        var isOver = false
    }

    let name: String
    private let side: StreamOptions.Side
    private let state: Mutex<State>

    /// - Parameter sender: That of the call that the plugin works on, or its own.
    init(_ name: String, _ side: StreamOptions.Side, _ sender: Sender) {
        self.name = name
        self.side = side
        state = Mutex(State(sender: sender))
    }

    /// Whether no call about it makes sense any longer.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Whether this is the thread that makes the calls.
    var isOwnThread: Bool { state.withLock { $0.sender.runtime.host.isLoopThread } }

    /// The stream is over here.
    func finish() { state.withLock { $0.isOver = true } }

    /// Calls `bridge.stream.` and this task, and waits for the result.
    func call(_ task: String, _ options: JSONObject) async throws(BridgeError) -> JSON {
        try await result(of: begin(task, options))
    }

    /// Begins such a call: it is made before what this thread sends next. A stream may last longer than the call for
    /// which its end was taken: later calls are made in the plugin's own name.
    func begin(_ task: String, _ more: JSONObject) -> PendingStreamCall {
        var options = more
        options["stream"] = .string(name)
        let sender = takeSender()
        return Task.immediate(executorPreference: sender.runtime.executor) { [options] in
            do throws(BridgeError) {
                return .success(try await sender.call("bridge.stream.\(task)", JSON.object(options)))
            } catch {
                return .failure(error)
            }
        }
    }

    /// Waits for the end of such a call. Where the Swift task that waits is cancelled, the stream ends.
    func result(of call: PendingStreamCall) async throws(BridgeError) -> JSON {
        let result = await withTaskCancellationHandler {
            await call.value
        } onCancel: {
            call.cancel()
        }
        do throws(BridgeError) {
            return try result.get()
        } catch {
            // Nobody knows which bytes went.
            if error.code == .callCancelled { leave(error) }
            finish()
            throw error
        }
    }

    private func takeSender() -> Sender {
        state.withLock { state in
            defer { state.sender = Sender(runtime: state.sender.runtime, parent: 0) }
            return state.sender
        }
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
        var options = StreamOptions.leave(error)
        options["stream"] = .string(name)
        options["side"] = .string(side.rawValue)
        takeSender().notify("bridge.stream.close", JSON.object(options))
    }
}
