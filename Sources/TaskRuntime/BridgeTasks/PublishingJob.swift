import BridgeJSON

/// A job for `bridge.publish` with many receivers: sends the event to some of them in each turn. The callback follows
/// the last one.
final class PublishingJob: StepJob {
    let session: Session?
    private let calls: CallEngine
    private let call: CallHandle
    private let fanOut: FanOut

    init(_ calls: CallEngine, _ call: CallHandle, _ session: Session, _ fanOut: FanOut) {
        self.calls = calls
        self.call = call
        self.session = session
        self.fanOut = fanOut
    }

    /// The event is published even if no caller waits for the callback any more.
    func step(until budget: StepBudget) -> StepOutcome {
        guard calls.events.send(fanOut, until: budget) else { return .unfinished }
        calls.answer(call, .success(.object([:])))
        return .done
    }
}
