import TaskKit

/// The body of a response from any source. One reader. It ends when the last reference to it is released.
protocol ResponseSource: Sendable {
    /// Returns the next event. It must not be called after the end.
    ///
    /// - Throws: The error that ended the body early; `call.cancelled` if the Swift task is cancelled.
    func next() async throws(BridgeError) -> ResponseChannel.Event

    /// Discards the rest of the body. Any thread.
    func cancel()
}

extension RunningTransfer: ResponseSource {}
