import BlockingLanes
public import EventLoop
public import TaskRuntime

/// The runtime's lane in the daemon: one thread, on which users take turns.
@LoopActor
public final class LoopLane {
    private let lane = BlockingThreads(batch: "checks")

    /// Creates a lane whose thread starts with the first work.
    public nonisolated init() {}

    /// The closure that runs on the loop thread after the work. It is also released there: it holds values of that
    /// thread.
    @LoopActor
    private final class WayBack<Value> {
        private var done: ((Value) -> Void)?

        init(_ done: @escaping (Value) -> Void) { self.done = done }

        func take(_ value: Value) {
            guard let done else { return }
            self.done = nil
            done(value)
        }
    }
}

extension LoopLane: @LoopActor WorkLane {
    /// Runs `work` on the lane's thread, then `done` on the loop thread.
    public func run<Value: Sendable>(
        for uid: UInt32, _ work: @escaping @Sendable () -> Value, then done: @escaping (Value) -> Void
    ) {
        let back = WayBack(done)
        lane.submit(of: uid) {
            let value = work()
            EventLoop.post { back.take(value) }
        }
    }
}
