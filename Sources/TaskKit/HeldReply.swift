internal import Synchronization

/// A raw task's reply that is kept, and given on another thread. Any thread.
package final class HeldReply: Sendable {
    /// Nil: given.
    private let reply: Mutex<Reply?>

    /// - Parameter reply: The reply.
    package init(_ reply: consuming Reply) { self.reply = Mutex(reply) }

    /// Gives it, the first time.
    ///
    /// - Parameter outcome: The result as JSON, or the error.
    package func give(_ outcome: Result<[UInt8], BridgeError>) {
        guard let reply = reply.withLock({ $0.take() }) else { return }
        switch outcome {
        case .success(let bytes): reply.succeed(bytes: bytes)
        case .failure(let error): reply.fail(error)
        }
    }
}
