import Testing
import WebContainer
import WebTasks

@MainActor @Suite("The queue of a container's events", .timeLimit(.minutes(20))) struct EventQueueTests {
    /// The daemon, which takes an event when the test allows it.
    @MainActor final class Daemon {
        private(set) var names: [String] = []
        private var turns: [CheckedContinuation<Void, Never>] = []
        private var arrivals: [CheckedContinuation<Void, Never>] = []

        func take(_ event: ContainerEvent) async {
            await withCheckedContinuation { turn in
                turns.append(turn)
                while !arrivals.isEmpty { arrivals.removeFirst().resume() }
            }
            names.append(event.name)
        }

        /// Waits until an event is being sent.
        func awaitArrival() async { if turns.isEmpty { await withCheckedContinuation { arrivals.append($0) } } }

        /// Waits for an event, and takes it.
        func allowOne() async {
            await awaitArrival()
            turns.removeFirst().resume()
        }
    }

    private let daemon = Daemon()
    private let queue: EventQueue

    init() {
        let daemon = daemon
        queue = EventQueue { await daemon.take($0) }
    }

    private func add(_ name: String) { queue.add(ContainerEvent(name: name)) }

    @Test("sends events one after the other, in their order") func order() async {
        for name in ["a", "b", "c"] { add(name) }
        for _ in 1...3 { await daemon.allowOne() }
        await queue.flush()
        #expect(daemon.names == ["a", "b", "c"])
    }

    @Test("flushed: the wait ends after the events so far, although later ones wait") func flush() async {
        for name in ["a", "b"] { add(name) }
        let flushed = Task { @MainActor in
            add("c")
            await queue.flush()
            return daemon.names
        }
        for _ in 1...3 { await daemon.allowOne() }
        add("later")
        #expect(await flushed.value == ["a", "b", "c"])
        await daemon.allowOne()
    }

    @Test("empty: a flush returns at once") func empty() async {
        await queue.flush()
        #expect(daemon.names.isEmpty)
    }

    @Test("full: the oldest events that wait are dropped, and a flush does not wait for them") func full() async {
        add("first")
        await daemon.allowOne()
        await queue.flush()
        let count = EventQueue.maximumWaiting
        for number in 0..<count + 2 { add("\(number)") }
        let flushed = Task { @MainActor in await queue.flush() }
        for _ in 0..<count { await daemon.allowOne() }
        await flushed.value
        #expect(daemon.names == ["first"] + (2..<count + 2).map { "\($0)" })
    }

    @Test("full while an event is being sent: a flush for this event waits until it is sent") func inFlight() async {
        add("first")
        await daemon.awaitArrival()
        let first = Task { @MainActor in
            await queue.flush()
            return daemon.names
        }
        let later = Task { @MainActor in for number in 0...EventQueue.maximumWaiting { add("\(number)") } }
        await later.value
        for _ in 0...EventQueue.maximumWaiting { await daemon.allowOne() }
        #expect(await first.value.first == "first")
    }
}
