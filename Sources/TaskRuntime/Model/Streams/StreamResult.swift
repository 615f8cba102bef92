public import BridgeJSON
public import BridgeMessage

/// One of the two ends of a stream.
public enum StreamSide: String, Sendable {
    /// It puts bytes in.
    case writer
    /// It takes bytes out.
    case reader
}

/// What a call about a stream gets where it succeeds.
public enum StreamResult {
    /// The stream was made. With a descriptor its maker's end is a pipe.
    case made(name: String, roomBytes: Int, PassedDescriptor?)
    /// A write was taken. The writer may have so many bytes unanswered from now on.
    case room(bytes: Int)
    /// What a read gets. The first one says what the maker said of the bytes.
    case bytes([UInt8], type: String?, totalBytes: UInt64?)
    /// The end is a pipe from now on. A reader gets what the maker said of the bytes.
    case attached(PassedDescriptor, type: String?, totalBytes: UInt64?)
    /// To a read: the stream is complete, with so many bytes.
    case end(bytes: UInt64)
    /// To the side that closes: how many bytes the reader got, and why the stream is not complete; nil: it is.
    case receipt(bytes: UInt64, StreamFault?)

    /// The end of a pipe that the caller gets; nil: none.
    var passed: PassedDescriptor? {
        switch self {
        case .made(_, _, let end): end
        case .attached(let end, _, _): end
        case .room, .bytes, .end, .receipt: nil
        }
    }
}

/// Why a stream is not complete, as its sides learn it.
public struct StreamFault {
    /// Who ended it; nil: the daemon.
    public let side: StreamSide?
    /// The error that was given; nil: none was.
    public let error: BridgeError?
}

/// Where the result lies of a call that takes it as it is, not as JSON text. Loop thread only.
final class StreamReply {
    /// Set before the call ends; nil: it ends with an error.
    var result: StreamResult?
}
