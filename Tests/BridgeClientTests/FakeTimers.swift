import BridgeJSON
import EventLoop

@testable import BridgeClient

/// A clock that only the test advances.
@LoopActor
final class FakeTimers: ClientTimers {
    @LoopActor
    private final class Timer: ClientTimer {
        let due: MonotonicInstant
        let fire: @LoopActor () -> Void
        weak var clock: FakeTimers?

        init(_ due: MonotonicInstant, _ clock: FakeTimers, _ fire: @escaping @LoopActor () -> Void) {
            self.due = due
            self.clock = clock
            self.fire = fire
        }

        func close() { clock?.timers.removeAll { $0 === self } }
    }

    private(set) var now = MonotonicInstant(nanoseconds: 1_000_000_000)
    private var timers: [Timer] = []
    private var observers: [(due: MonotonicInstant, continuation: CheckedContinuation<Void, Never>)] = []

    /// The number of running timers.
    var count: Int { timers.count }

    func after(_ delay: Duration, _ fire: @escaping @LoopActor () -> Void) -> any ClientTimer {
        let timer = Timer(now + delay, self, fire)
        timers.append(timer)
        let happy = observers.filter { $0.due == timer.due }
        observers.removeAll { $0.due == timer.due }
        for observer in happy { observer.continuation.resume() }
        return timer
    }

    /// Waits until a timer with this delay runs, which shows that the client has reached a certain point.
    func running(_ delay: Duration) async {
        if timers.contains(where: { $0.due == now + delay }) { return }
        await withCheckedContinuation { observers.append((now + delay, $0)) }
    }

    /// Advances the time. Due timers fire in order.
    func advance(by duration: Duration) {
        let end = now + duration
        while let next = timers.min(by: { $0.due < $1.due }), next.due <= end {
            now = max(now, next.due)
            next.close()
            next.fire()
        }
        now = end
    }
}

/// A client that reconnects, with its daemon and its clock. Pauses are shortened only if `chance` is not 0.
@LoopActor
struct Reconnecting {
    let client: Bridge
    let daemon: FakeDaemon
    let timers: FakeTimers
    /// The initial connection.
    let first: FakeConnection
    private let states: StateLog

    init(_ client: Bridge, _ daemon: FakeDaemon, _ timers: FakeTimers) async {
        self.client = client
        self.daemon = daemon
        self.timers = timers
        first = await daemon.nextConnection()
        states = StateLog(client.stateStream)
        _ = await states.next()
    }

    /// Returns the next change of state.
    func nextState() async -> ConnectionState? { await states.next() }

    /// Returns the refused registrations if the next state is a new connection; `nil` if it is another state.
    func opened() async -> [RefusedRegistration]? {
        guard case .open(let info, isNew: true, let refused) = await states.next(), info == client.daemon else {
            return nil
        }
        return refused
    }

    /// Returns the pause before the next attempt if the next state is waiting; `nil` if it is another state.
    func pause() async -> Duration? {
        guard case .waiting(_, _, let retryAfter) = await states.next() else { return nil }
        return retryAfter
    }

    /// Closes a connection, waits until the client has noticed, and lets it connect again.
    func renew(_ connection: FakeConnection) async -> FakeConnection {
        connection.close()
        if let pause = await pause() { timers.advance(by: pause) }
        return await daemon.nextConnection()
    }
}

/// Returns states one by one.
@LoopActor
private final class StateLog {
    private var iterator: AsyncStream<ConnectionState>.Iterator

    init(_ states: AsyncStream<ConnectionState>) {
        iterator = states.makeAsyncIterator()
    }

    func next() async -> ConnectionState? {
        var iterator = iterator
        defer { self.iterator = iterator }
        return await iterator.next(isolation: LoopActor.shared)
    }
}

/// Runs a test with a client that reconnects.
@LoopActor
func withReconnecting(
    _ reconnection: Reconnection = Reconnection(), origin: String? = nil, chance: Double = 0,
    _ body: @LoopActor (Reconnecting) async throws -> Void
) async throws {
    let daemon = try FakeDaemon()
    defer { daemon.close() }
    let timers = FakeTimers()
    let client = try await Bridge.connect(
        to: daemon.path, .init(client: "tester", version: "1.2", origin: origin, reconnect: reconnection),
        timers: timers, random: { chance })
    try await body(await Reconnecting(client, daemon, timers))
}
