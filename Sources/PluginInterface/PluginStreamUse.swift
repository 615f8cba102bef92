public import BridgeJSON
public import CTaskPlugin

/// A plugin's call about a stream, in the form of the plugin interface. Its bytes are borrowed.
public struct PluginStreamUse {
    /// The requested operation.
    public enum Work {
        /// Makes a stream. The plugin holds the reader's or the writer's end, which becomes a pipe, if possible, if
        /// `attaches` is true.
        case make(isReader: Bool, type: String?, totalBytes: UInt64?, attaches: Bool)
        /// Writes bytes.
        case write(UnsafeRawBufferPointer, isEnd: Bool)
        /// Reads at most this number of bytes; `nil` for the default number.
        case read(maximumBytes: Int?)
        /// Makes the plugin's end a pipe.
        case attach
        /// Closes the plugin's end.
        case close(bytes: UInt64?, BridgeError?)
    }

    /// The requested operation.
    public let work: Work
    /// The call on whose behalf it is made; 0 for none.
    public let call: trestle_call
    /// The stream's name. It is unknown for a stream that is being made.
    public var name: String
    /// The end: TRESTLE_STREAM_WRITER or TRESTLE_STREAM_READER; 0 for the end that the plugin holds.
    public let side: Int
    /// The time limit; `nil` if there is none.
    public let timeoutNanoseconds: UInt64?
    /// The receiver of the outcome.
    public let answer: PluginStreamAnswer

    init(_ use: trestle_stream_use, _ work: Work) {
        self.work = work
        call = use.call
        // A name that is too long is invalid and is not read.
        name = use.name.buffer.count > Self.maximumNameBytes ? "" : use.name.string
        side = Int(use.side)
        timeoutNanoseconds = use.timeout_ns > 0 ? UInt64(use.timeout_ns) : nil
        answer = PluginStreamAnswer(use.context, use.done)
    }

    private static let maximumNameBytes = 256
}

extension BridgeError {
    /// The maximum length of an error that ends a stream, as JSON.
    private static var maximumStreamErrorBytes: Int { 4 << 10 }

    /// The error in a form that may end a stream. An error that is too long is cut, not refused: the stream must end,
    /// and the error may come from another plugin.
    var shortened: BridgeError {
        guard json.bytes.count > Self.maximumStreamErrorBytes else { return self }
        let isCode = code.rawValue.utf8.count <= 128
        // Each byte of a message may take six as JSON.
        return BridgeError(isCode ? code : .internal, message.cut(toBytes: 512), isTransient: isTransient)
    }
}
