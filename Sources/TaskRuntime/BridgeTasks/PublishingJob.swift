import BridgeJSON

/// A job for `bridge.publish` that takes several turns: sends the event to some of its receivers in each. The callback
/// follows the last one.
final class PublishingJob: StepJob {
    /// Publishes the event, and returns its delivery; `nil` if that is complete.
    typealias Beginning = (Call) throws(BridgeError) -> FanOut?

    let session: Session?
    private let calls: CallEngine
    private let call: CallHandle
    /// `nil` once the event is published.
    private var begin: Beginning?
    private var fanOut: FanOut?

    /// Continues the delivery of an event that is published.
    init(_ calls: CallEngine, _ call: CallHandle, _ session: Session, _ fanOut: FanOut) {
        self.calls = calls
        self.call = call
        self.session = session
        self.fanOut = fanOut
    }

    /// Publishes an event after the user's jobs before this one.
    init(_ calls: CallEngine, _ call: CallHandle, _ session: Session, begin: @escaping Beginning) {
        self.calls = calls
        self.call = call
        self.session = session
        self.begin = begin
    }

    func step(until budget: StepBudget) -> StepOutcome {
        if let begin {
            // No caller waits for a call that was cancelled.
            guard let call = calls.call(call) else { return .done }
            self.begin = nil
            do throws(BridgeError) {
                fanOut = try begin(call)
            } catch {
                calls.end(call, .failure(error))
                return .done
            }
        }
        // The event is sent even if no caller waits for the callback any more.
        if let fanOut, !calls.events.send(fanOut, until: budget) { return .unfinished }
        calls.answer(call, .success(.object([:])))
        return .done
    }
}
