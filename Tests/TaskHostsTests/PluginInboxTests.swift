import Glibc
import Synchronization
import Testing

@testable import PluginInterface

@Suite("The inbox for messages from a plugin's threads")
struct PluginInboxTests {
    /// A number that the threads share outside the inbox.
    private final class Counter: Sendable {
        let value = Atomic(0)
    }

    @Test("The inbox does not appear empty while it contains a message whose sending has finished")
    func turns() {
        let (threads, messages) = (16, 60_000)
        // `nonisolated(unsafe)`: an inbox exists as long as the process, and any thread may append to it.
        nonisolated(unsafe) let inbox = PluginInbox()
        let posted = Counter()
        let senders = (0..<threads).map { _ in Counter() }
        let answers = (0..<threads).map { _ in Counter() }
        let handles = senders.indices.map { number in
            start {
                for message in 1...messages {
                    inbox.append(.line(level: 0, text: "", UInt64(number)))
                    posted.value.add(1, ordering: .acquiringAndReleasing)
                    senders[number].value.store(message, ordering: .releasing)
                    // Keeps the inbox nearly empty: only then can a message be overtaken.
                    while answers[number].value.load(ordering: .acquiring) < message { sched_yield() }
                }
            }
        }
        // The loop thread: one turn for each message that was posted.
        var taken = [Int](repeating: 0, count: threads)
        var (turns, overtaken) = (0, 0)
        while turns < threads * messages {
            let learned = senders.map { $0.value.load(ordering: .acquiring) }
            if inbox.isEmpty, zip(taken, learned).contains(where: <) { overtaken += 1 }
            guard turns < posted.value.load(ordering: .acquiring) else {
                sched_yield()
                continue
            }
            turns += 1
            inbox.beginTurn()
            if case .line(_, _, let number) = inbox.takeFirst() {
                taken[Int(number)] += 1
                answers[Int(number)].value.store(taken[Int(number)], ordering: .releasing)
            }
        }
        for handle in handles { pthread_join(handle, nil) }
        #expect(taken == Array(repeating: messages, count: threads))
        #expect(overtaken == 0)
    }

    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    private func start(_ run: @escaping @Sendable () -> Void) -> pthread_t {
        var thread = pthread_t()
        let body = Unmanaged.passRetained(Body(run)).toOpaque()
        // Released by the thread.
        let status = pthread_create(
            &thread, nil,
            { body in
                if let body { Unmanaged<Body>.fromOpaque(body).takeRetainedValue().run() }
                return nil
            }, body)
        precondition(status == 0, "a thread can be started")
        return thread
    }
}
