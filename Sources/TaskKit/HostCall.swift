internal import CTaskPlugin

/// A call of one of the host's functions that ends later: from the `await` of a task to the daemon and back.
///
/// `@unchecked`: the constants are set before it is passed to the loop thread; the variables are used only there.
final class HostCall<Value: Sendable>: @unchecked Sendable {  // loop thread; see above
    typealias Outcome = Result<Value, BridgeError>
    /// Calls the host's function. The function's context retains the call until `end`. Loop thread.
    typealias Make = @Sendable (HostCall) throws(BridgeError) -> trestle_call

    let onProgress: (@Sendable (UnsafeRawBufferPointer) -> Void)?
    private let host: Host
    private var handle: trestle_call = 0
    private var continuation: CheckedContinuation<Outcome, Never>?
    private var isCancelled = false

    init(_ host: Host, onProgress: (@Sendable (UnsafeRawBufferPointer) -> Void)? = nil) {
        (self.host, self.onProgress) = (host, onProgress)
    }

    /// Makes the call and waits for its end. Cancelling the Swift task cancels the call.
    ///
    /// - Parameter refusal: The error's message if the Swift task was cancelled before this started.
    func outcome(
        orCancelled refusal: @autoclosure @escaping @Sendable () -> String, _ make: @escaping Make
    ) async -> Outcome {
        let refuse = { @Sendable in Outcome.failure(BridgeError(.callCancelled, refusal(), data: ["started": false])) }
        if Task.isCancelled { return refuse() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                host.onLoopThread { self.start(continuation, make, orCancelled: refuse) }
            }
        } onCancel: {
            // Never immediately, even on the loop thread: the handler runs while Swift updates its record of the task,
            // and ending the call would resume that same task.
            host.post { self.cancel() }
        }
    }

    private func start(
        _ continuation: CheckedContinuation<Outcome, Never>, _ make: Make, orCancelled refuse: () -> Outcome
    ) {
        self.continuation = continuation
        if isCancelled { return end(refuse()) }
        do throws(BridgeError) {
            handle = try make(self)
        } catch {
            end(.failure(error))
        }
    }

    /// Ends the call with its outcome. Loop thread.
    func end(_ outcome: Outcome) {
        continuation?.resume(returning: outcome)
        continuation = nil
    }

    private func cancel() {
        isCancelled = true
        // If there is no continuation, the call has ended, or `start` will refuse it.
        if continuation != nil { host.cancel(handle) }
    }
}
