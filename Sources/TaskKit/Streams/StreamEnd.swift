internal import CTaskPlugin
internal import Synchronization

/// A call about a stream that has not ended yet.
typealias PendingStreamCall = Task<StreamCall.Outcome, Never>

/// One end of a stream, held by a plugin, and the calls about it. Any thread.
final class StreamEnd: Sendable {
    private struct State {
        /// The call for which the end is taken at its first use; 0 after that, for the plugin's own name.
        var parent: trestle_call
        var isOver = false
    }

    let name: String
    private let side: StreamOptions.Side
    private let state: Mutex<State>
    unowned(unsafe) let runtime: PluginRuntime  // never released; see `Plugin.export`

    /// - Parameter sender: The sender of the call that the plugin works on, or the plugin's own.
    init(_ name: String, _ side: StreamOptions.Side, _ sender: Sender) {
        self.name = name
        self.side = side
        runtime = sender.runtime
        state = Mutex(State(parent: sender.parent))
    }

    /// Whether the stream has ended here, so that further calls about it are useless.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Whether this is the thread that makes the calls.
    var isOwnThread: Bool { runtime.host.isLoopThread }

    /// Marks the stream as ended here.
    func finish() { state.withLock { $0.isOver = true } }

    /// Takes the end and requests a pipe, before any other use of the end. Makes two calls for the call that the plugin
    /// works on. Later calls are made in the plugin's own name, because they may outlive that call.
    ///
    /// - Parameter first: The work that the end of a pipe requires; also the first message if there is no pipe.
    func take(_ first: StreamCall.Work) -> (attaching: PendingStreamCall, first: PendingStreamCall) {
        let address = takeAddress()
        return (begin(.attach, address), begin(first, address))
    }

    /// Begins a call. It is made before anything that this thread sends next.
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

    /// Waits for the end of a call. If the waiting Swift task is cancelled, the stream ends.
    func answer(to call: PendingStreamCall) async throws(BridgeError) -> StreamCallAnswer {
        do throws(BridgeError) {
            return try await outcome(of: call).get()
        } catch {
            // It is unknown which bytes were transferred.
            if error.code == .callCancelled { leave(error) }
            finish()
            throw error
        }
    }

    /// Waits for the end of a call; an error does not end the stream here.
    func outcome(of call: PendingStreamCall) async -> StreamCall.Outcome {
        await withTaskCancellationHandler {
            await call.value
        } onCancel: {
            call.cancel()
        }
    }

    /// Ends the stream, if it has not ended, without waiting.
    ///
    /// - Parameters:
    ///   - error: The reason that the other side receives; `nil` for none.
    ///   - bytes: The number of bytes that a reader has received. The daemon determines whether these were all.
    func leave(_ error: BridgeError?, bytes: UInt64? = nil) {
        let wasOver = state.withLock { state in
            defer { state.isOver = true }
            return state.isOver
        }
        if !wasOver { StreamCall(.close(bytes: bytes, error), takeAddress()).notify(runtime.host) }
    }
}
