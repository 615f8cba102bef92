import BridgeJSON

// The outcomes of a stream, and the answers to waiting calls.

/// Why a stream ended before it was complete.
struct StreamBreak: Equatable {
    enum Cause: Equatable {
        /// A side closed its end or disconnected; the error is `nil` if it gave none.
        case left(BridgeError?)
        /// The writer sent more bytes than it had room for.
        case exceeded(roomBytes: Int)
        /// The writer sent more writes than may be unanswered.
        case crowded(maximum: Int)
        /// A side's count of bytes does not match the bytes that were transferred.
        case miscounted(bytes: UInt64)
    }

    /// The side that ended it; `nil` for the daemon.
    var side: StreamSide?
    var cause: Cause
}

/// Why a call about a stream fails.
enum StreamFailure: Error, Equatable {
    /// The stream ended before it was complete; `bytes` is the number of bytes that the reader received.
    case broken(StreamBreak, bytes: UInt64)
    /// The writer has closed the stream already.
    case closed
    /// Another read waits.
    case busy
    /// The side has used its end already, and cannot make it a pipe.
    case begun
    /// The writer's end is a pipe, so no bytes are accepted in messages.
    case attached
    /// The writer's end is a pipe, and it closes the stream without its count of bytes.
    case uncounted
}

/// An answer to a waiting call, which ends with it.
enum StreamAnswer<Waiter> {
    /// A write was accepted. `bytes` is the number of bytes that the writer may now have unanswered.
    case room(Waiter, bytes: Int)
    /// The bytes for a read.
    case bytes(Waiter, [UInt8])
    /// The answer to a read: the stream is complete; `bytes` is its length.
    case end(Waiter, bytes: UInt64)
    /// The answer to the side that closes: the number of bytes that the reader received, and why the stream is not
    /// complete; `nil` if it is complete.
    case receipt(Waiter, bytes: UInt64, StreamBreak?)
    case failure(Waiter, StreamFailure)
}
