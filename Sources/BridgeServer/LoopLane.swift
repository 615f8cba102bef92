import BlockingLanes
public import EventLoop
public import TaskRuntime

/// The runtime's lane in service: one thread, on which users take turns.
@LoopActor
public final class LoopLane {
    private let lane = BlockingThreads(batch: "checks")

    /// A lane whose thread starts with the first work.
    public nonisolated init() {}

    /// What is to be done on the loop thread behind work. Let go of there too: it holds what belongs to that thread.
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
    /// Does the work on the lane's thread, then `done` on the loop.
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
