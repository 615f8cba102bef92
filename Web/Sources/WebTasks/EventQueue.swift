public import WebContainer

/// The container's events on their way to the daemon, in their order. Main thread only.
@MainActor
public final class EventQueue {
    /// The maximum number of events that wait for the daemon; beyond it, the oldest are dropped.
    public static let maximumWaiting = 256

    private let send: @MainActor (ContainerEvent) async -> Void
    private var waiting: [ContainerEvent] = []
    private var isSending = false
    /// The numbers of events that were added, and of the oldest of these that have been sent or dropped.
    private var (added, done) = (0, 0)
    /// The number of events that were dropped while an older one was being sent.
    private var dropped = 0
    /// The callers of ``flush()``, each with the number of events that it waits for, in ascending order.
    private var flushes: [(target: Int, continuation: CheckedContinuation<Void, Never>)] = []

    /// Creates an empty queue.
    ///
    /// - Parameter send: Sends one event, and returns after the daemon has it or has refused it.
    public init(_ send: @escaping @MainActor (ContainerEvent) async -> Void) { self.send = send }

    /// Adds an event. It is sent after the earlier ones.
    ///
    /// - Parameter event: The event.
    public func add(_ event: ContainerEvent) {
        if waiting.count == Self.maximumWaiting {
            waiting.removeFirst()
            dropped += 1
        }
        waiting.append(event)
        added += 1
        guard !isSending else { return }
        isSending = true
        Task { await sendAll() }
    }

    /// Returns after the events that have been added so far were sent or dropped. Later events do not prolong the wait.
    public func flush() async {
        guard done < added else { return }
        await withCheckedContinuation { flushes.append((added, $0)) }
    }

    private func sendAll() async {
        while !waiting.isEmpty {
            await send(waiting.removeFirst())
            noteSent()
        }
        isSending = false
    }

    private func noteSent() {
        done += 1 + dropped
        dropped = 0
        while let first = flushes.first, first.target <= done { flushes.removeFirst().continuation.resume() }
    }
}
