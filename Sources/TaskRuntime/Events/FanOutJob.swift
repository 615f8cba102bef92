/// A job that sends an event of the daemon or of a plugin to its receivers.
final class FanOutJob: StepJob {
    let session: Session? = nil
    private let queue: FanOutQueue
    private let fanOut: FanOut

    init(_ queue: FanOutQueue, _ fanOut: FanOut) {
        self.queue = queue
        self.fanOut = fanOut
    }

    func step(until budget: StepBudget) -> StepOutcome { StepOutcome(isDone: queue.send(fanOut, until: budget)) }
}
