internal import Synchronization

/// A raw task's reply that is stored and sent later on another thread. Any thread.
package final class HeldReply: Sendable {
    /// `nil` after the reply was sent.
    private let reply: Mutex<Reply?>

    /// - Parameter reply: The reply to store.
    package init(_ reply: consuming Reply) { self.reply = Mutex(reply) }

    /// Sends the reply on the first call; later calls do nothing.
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
