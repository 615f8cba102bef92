public import BridgeJSON
public import BridgeMessage

/// One of the two ends of a stream.
public enum StreamSide: String, Sendable {
    /// The end that writes bytes.
    case writer
    /// The end that reads bytes.
    case reader
}

/// The result of a successful call about a stream.
public enum StreamResult {
    /// The stream was created. If there is a descriptor, the maker's end is a pipe.
    case made(name: String, roomBytes: Int, PassedDescriptor?)
    /// A write was accepted. `bytes` is the number of bytes that the writer may now have unanswered.
    case room(bytes: Int)
    /// The bytes for a read. The first answer also contains the type and length that the maker announced.
    case bytes([UInt8], type: String?, totalBytes: UInt64?)
    /// The end is now a pipe. The reader also receives the type and length that the maker announced.
    case attached(PassedDescriptor, type: String?, totalBytes: UInt64?)
    /// The answer to a read: the stream is complete; `bytes` is its length.
    case end(bytes: UInt64)
    /// The answer to the side that closes: the number of bytes that the reader received, and why the stream is not
    /// complete; `nil` if it is complete.
    case receipt(bytes: UInt64, StreamFault?)

    /// The end of a pipe that the caller receives; `nil` if it receives none.
    var passed: PassedDescriptor? {
        switch self {
        case .made(_, _, let end): end
        case .attached(let end, _, _): end
        case .room, .bytes, .end, .receipt: nil
        }
    }
}

/// The reason why a stream is not complete, as reported to its sides.
public struct StreamFault {
    /// The side that ended it; `nil` for the daemon.
    public let side: StreamSide?
    /// The error that was given; `nil` if none was.
    public let error: BridgeError?
}

/// The place for the result of a call that takes it as a value, not as JSON text. Loop thread only.
final class StreamReply {
    /// Set before the call ends; `nil` if the call ends with an error.
    var result: StreamResult?
}
