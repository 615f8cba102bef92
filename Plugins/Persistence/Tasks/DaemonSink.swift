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
    private enum Message {
        case answer(StoreAnswer)
        case changed(RecordChanged, [SessionID])
        case expired(CursorExpired, [SessionID])
        case post(@Sendable () -> Void)
    }

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
    /// The bytes that an event counts for each session that gets it.
    private static let bytesPerReceiver = 1024

    /// Messages are sent from now on.
    func attach(_ context: PluginContext) {
        state.withLock { $0.context = context }
        send(EmptyCollection())
    }

    func deliver(_ answers: [StoreAnswer]) { send(answers.lazy.map { .answer($0) }) }

    func notify(_ change: RecordChanged, to sessions: [SessionID]) {
        send(CollectionOfOne(.changed(change, sessions)))
    }

    func notify(_ expired: CursorExpired, to sessions: [SessionID]) {
        send(CollectionOfOne(.expired(expired, sessions)))
    }

    /// The body is posted after the messages before it have been sent: the daemon takes messages in their order.
    func whenTaken(_ body: @escaping @Sendable () -> Void) { send(CollectionOfOne(.post(body))) }

    /// Runs `body` on the loop thread after the input of this turn has been handled.
    func atTurnEnd(_ body: @escaping @Sendable () -> Void) {
        guard let context = state.withLock({ $0.context }) else { return body() }
        context.post(body)
    }

    private func send(_ messages: some Collection<Message>) {
        let context: PluginContext? = state.withLock { state in
            state.waiting.append(contentsOf: messages)
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
                bytes += Self.send(taken.messages[taken.sentCount], context)
                taken.sentCount += 1
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

    /// Sends a message, and returns the number of bytes that it counts in a turn.
    private static func send(_ message: Message, _ context: PluginContext) -> Int {
        switch message {
        case .answer(let answer):
            answer.give()
            return (try? answer.outcome.get().count) ?? 0
        case .changed(let change, let sessions):
            context.publish(RecordChanged.event, change, to: sessions, direct: true)
            return sessions.count * bytesPerReceiver
        case .expired(let expired, let sessions):
            context.publish(CursorExpired.event, expired, to: sessions, direct: true)
            return sessions.count * bytesPerReceiver
        case .post(let body): context.post(body)
        }
        return 0
    }
}

extension Array {
    /// Returns the elements, and leaves none.
    fileprivate mutating func take() -> Self {
        defer { self = [] }
        return self
    }
}
