import BridgeJSON

// What becomes of a stream, and what those who wait are answered.

/// Why a stream ended before it was complete.
struct StreamBreak: Equatable {
    enum Cause: Equatable {
        /// A side closed its end or is gone, for this reason; nil: it gave none.
        case left(BridgeError?)
        /// The writer sent more than the bytes of room that it had.
        case exceeded(roomBytes: Int)
        /// The writer sent more writes than may be unanswered.
        case crowded(maximum: Int)
        /// A side counted other bytes than came.
        case miscounted(bytes: UInt64)
    }

    /// Who ended it; nil: the daemon.
    var side: StreamSide?
    var cause: Cause
}

/// Why a call about a stream fails.
enum StreamFailure: Error, Equatable {
    /// The stream is not complete, and the reader has got so many bytes.
    case broken(StreamBreak, bytes: UInt64)
    /// The writer has closed the stream already.
    case closed
    /// Another read waits.
    case busy
    /// The side has used its end already, and cannot make it a pipe.
    case begun
    /// The writer's end is a pipe, and no bytes come in messages.
    case attached
    /// The writer, whose end is a pipe, closes it without its count of bytes.
    case uncounted
}

/// An answer to someone who waits: a call of theirs ends with it.
enum StreamAnswer<Waiter> {
    /// A write was taken. The writer may have so many bytes unanswered from now on.
    case room(Waiter, bytes: Int)
    /// What a read gets.
    case bytes(Waiter, [UInt8])
    /// To a read: the stream is complete, with so many bytes.
    case end(Waiter, bytes: UInt64)
    /// To the side that closes: how many bytes the reader got, and why the stream is not complete; nil: it is.
    case receipt(Waiter, bytes: UInt64, StreamBreak?)
    case failure(Waiter, StreamFailure)
}
