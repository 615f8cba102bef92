import TaskKit

/// The body of a response, whatever it comes from. One reader. It ends when nobody holds it any more.
protocol ResponseSource: Sendable {
    /// What comes next. After the end, nothing may be asked for.
    ///
    /// - Throws: Why the body does not come to its end; `call.cancelled` where the Swift task is cancelled.
    func next() async throws(BridgeError) -> ResponseChannel.Event

    /// Nobody wants the rest. Any thread.
    func cancel()
}

extension RunningTransfer: ResponseSource {}
