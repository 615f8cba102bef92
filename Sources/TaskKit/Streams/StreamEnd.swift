internal import CTaskPlugin
internal import Synchronization

/// A call about a stream, on its way.
typealias PendingStreamCall = Task<StreamCall.Outcome, Never>

/// One end of a stream that a plugin holds, and the calls about it. Any thread.
final class StreamEnd: Sendable {
    private struct State {
        /// The call for which the end is taken, with its first use; then 0: the plugin's own.
        var parent: trestle_call
        var isOver = false
    }

    let name: String
    private let side: StreamOptions.Side
    private let state: Mutex<State>
    unowned(unsafe) let runtime: PluginRuntime  // never released; see `Plugin.export`

    /// - Parameter sender: That of the call that the plugin works on, or its own.
    init(_ name: String, _ side: StreamOptions.Side, _ sender: Sender) {
        self.name = name
        self.side = side
        runtime = sender.runtime
        state = Mutex(State(parent: sender.parent))
    }

    /// Whether no call about it makes sense any longer.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Whether this is the thread that makes the calls.
    var isOwnThread: Bool { runtime.host.isLoopThread }

    /// The stream has ended here.
    func finish() { state.withLock { $0.isOver = true } }

    /// Takes the end, and asks for a pipe, before all else that is done with it: two calls for the call that the plugin
    /// works on. Later ones are made in the plugin's own name, which may last longer.
    ///
    /// - Parameter first: What the end of a pipe needs, and what is the first message where there is no pipe.
    func take(_ first: StreamCall.Work) -> (attaching: PendingStreamCall, first: PendingStreamCall) {
        let address = takeAddress()
        return (begin(.attach, address), begin(first, address))
    }

    /// Begins a call: it is made before what this thread sends next.
    func begin(_ work: StreamCall.Work) -> PendingStreamCall { begin(work, takeAddress()) }

    private func begin(_ work: StreamCall.Work, _ address: StreamCall.Address) -> PendingStreamCall {
        let call = StreamCall(work, address)
        let host: Host = runtime.host
        return Task.immediate(executorPreference: runtime.executor) { await call.outcome(host) }
    }

    private func takeAddress() -> StreamCall.Address {
        state.withLock { state in
            defer { state.parent = 0 }
            return StreamCall.Address(stream: name, side: side, parent: state.parent)
        }
    }

    /// Makes a call and waits for its end.
    func call(_ work: StreamCall.Work) async throws(BridgeError) -> StreamCallAnswer {
        try await answer(to: begin(work))
    }

    /// Waits for the end of a call. Where the Swift task that waits is cancelled, the stream ends.
    func answer(to call: PendingStreamCall) async throws(BridgeError) -> StreamCallAnswer {
        do throws(BridgeError) {
            return try await outcome(of: call).get()
        } catch {
            // Nobody knows which bytes went.
            if error.code == .callCancelled { leave(error) }
            finish()
            throw error
        }
    }

    /// The same, where an error does not end the stream here.
    func outcome(of call: PendingStreamCall) async -> StreamCall.Outcome {
        await withTaskCancellationHandler {
            await call.value
        } onCancel: {
            call.cancel()
        }
    }

    /// Ends the stream, where it is not over, without waiting.
    ///
    /// - Parameters:
    ///   - bytes: How many bytes a reader has got: whether these were all, the daemon knows.
    ///   - error: what the other side gets as the reason; nil: nothing.
    func leave(_ error: BridgeError?, bytes: UInt64? = nil) {
        let wasOver = state.withLock { state in
            defer { state.isOver = true }
            return state.isOver
        }
        if !wasOver { StreamCall(.close(bytes: bytes, error), takeAddress()).notify(runtime.host) }
    }
}
