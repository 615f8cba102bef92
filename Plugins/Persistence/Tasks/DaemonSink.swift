import Synchronization
import TaskKit

/// Passes answers and events to the daemon, in the order in which each lane's thread delivers them.
///
/// They wait here for the loop thread, which sends as many in a turn as do not delay others. A lane's thread that sent
/// them itself would wait for locks that the loop thread holds while it takes the previous one, which takes as long as
/// the work on the store.
///
/// Any thread.
final class DaemonSink: StoreSink {
    private typealias Message = (bytes: Int, send: @Sendable (PluginContext) -> Void)

    private struct State {
        var context: PluginContext?
        /// The messages that the loop thread has not taken.
        var waiting: [Message] = []
        /// Whether ``sendNext()`` will run.
        var isScheduled = false
    }

    private let state = Mutex(State())
    /// The messages that the loop thread has taken, and the number of those that it has sent.
    private let taken = Mutex<(messages: [Message], sentCount: Int)>(([], 0))

    /// The maximum number of messages that are sent together, and the number of their bytes after which no more follow.
    private static let messagesAtOnce = 64
    private static let bytesAtOnce = 256 * 1024

    /// Messages are sent from now on.
    func attach(_ context: PluginContext) {
        state.withLock { $0.context = context }
        send([])
    }

    func deliver(_ answers: [StoreAnswer]) {
        send(answers.map { answer in ((try? answer.outcome.get().count) ?? 0, { _ in answer.give() }) })
    }

    func notify(_ change: RecordChanged, to sessions: [SessionID]) {
        send([(0, { $0.publish(RecordChanged.event, change, to: sessions, direct: true) })])
    }

    func notify(_ expired: CursorExpired, to sessions: [SessionID]) {
        send([(0, { $0.publish(CursorExpired.event, expired, to: sessions, direct: true) })])
    }

    func whenTaken(_ body: @escaping @Sendable () -> Void) {
        // The events before it may wait for the loop thread once more if it sends others at the same time.
        send([(0, { $0.post(body) })])
    }

    /// Runs `body` on the loop thread after the input of this turn has been handled.
    func atTurnEnd(_ body: @escaping @Sendable () -> Void) {
        guard let context = state.withLock({ $0.context }) else { return body() }
        context.post(body)
    }

    private func send(_ messages: [Message]) {
        let context: PluginContext? = state.withLock { state in
            state.waiting += messages
            guard !state.isScheduled, !state.waiting.isEmpty, let context = state.context else { return nil }
            state.isScheduled = true
            return context
        }
        if let context { context.post { self.sendNext(context) } }
    }

    /// Sends the next messages. Loop thread.
    private func sendNext(_ context: PluginContext) {
        let isMore = taken.withLock { taken in
            if taken.sentCount == taken.messages.count {
                taken = (state.withLock { $0.waiting.take() }, 0)
            }
            var bytes = 0
            let end = min(taken.messages.count, taken.sentCount + Self.messagesAtOnce)
            while taken.sentCount < end, bytes < Self.bytesAtOnce {
                let message = taken.messages[taken.sentCount]
                taken.sentCount += 1
                bytes += message.bytes
                message.send(context)
            }
            guard taken.sentCount == taken.messages.count else { return true }
            taken = ([], 0)
            return state.withLock { state in
                state.isScheduled = !state.waiting.isEmpty
                return state.isScheduled
            }
        }
        if isMore { context.post { self.sendNext(context) } }
    }
}

extension Array {
    /// Returns the elements, and leaves none.
    fileprivate mutating func take() -> Self {
        defer { self = [] }
        return self
    }
}
