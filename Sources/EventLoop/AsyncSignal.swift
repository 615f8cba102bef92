/// A queue of Swift tasks that wait on the loop for a value, in the order of arrival. A cancelled task stops waiting.
@LoopActor
public final class AsyncSignal<Value: Sendable> {
    private var waiting: [(ticket: UInt64, continuation: CheckedContinuation<Value?, Never>)] = []
    private var lastTicket: UInt64 = 0

    /// Creates a signal without waiting tasks.
    public nonisolated init() {}

    /// Whether no task waits.
    public var isEmpty: Bool { waiting.isEmpty }

    /// Waits until it is resumed. Returns the value; `nil` if the Swift task is cancelled.
    public func wait() async -> Value? {
        lastTicket += 1
        let ticket = lastTicket
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiting.append((ticket, $0)) }
        } onCancel: {
            EventLoop.post { self.cancel(ticket) }
        }
    }

    /// Resumes the task that has waited longest, if any.
    public func resumeFirst(_ value: Value?) {
        if !waiting.isEmpty { waiting.removeFirst().continuation.resume(returning: value) }
    }

    /// Resumes all waiting tasks.
    public func resumeAll(_ value: Value?) {
        let all = waiting
        waiting = []
        for entry in all { entry.continuation.resume(returning: value) }
    }

    private func cancel(_ ticket: UInt64) {
        guard let index = waiting.firstIndex(where: { $0.ticket == ticket }) else { return }
        waiting.remove(at: index).continuation.resume(returning: nil)
    }
}
