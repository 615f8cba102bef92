public import BridgeJSON
public import CTaskPlugin

/// A call about a stream that a plugin makes, as the plugin interface has it. The bytes in it are borrowed.
public struct PluginStreamUse {
    /// What is to be done.
    public enum Work {
        /// Makes a stream. The plugin holds the reader's end, or the writer's.
        /// `attaches`: it is to be a pipe, where it can.
        case make(isReader: Bool, type: String?, totalBytes: UInt64?, attaches: Bool)
        /// Writes bytes.
        case write(UnsafeRawBufferPointer, isEnd: Bool)
        /// Reads so many bytes at most; nil: as many as is usual.
        case read(maximumBytes: Int?)
        /// Has the plugin's end be a pipe.
        case attach
        /// Closes the plugin's end.
        case close(bytes: UInt64?, BridgeError?)
    }

    /// What is to be done.
    public let work: Work
    /// The call on whose behalf it is done; 0: none.
    public let call: trestle_call
    /// The stream's name. Of one that is made, it is not known yet.
    public var name: String
    /// TRESTLE_STREAM_WRITER or TRESTLE_STREAM_READER: the end that is meant; 0: the one that the plugin has.
    public let side: Int
    /// How long it may take; nil: any time.
    public let timeoutNanoseconds: UInt64?
    /// Who gets the answer.
    public let answer: PluginStreamAnswer

    init(_ use: trestle_stream_use, _ work: Work) {
        self.work = work
        call = use.call
        // A name that is too long is none: no more of it is read.
        name = use.name.buffer.count > Self.maximumNameBytes ? "" : use.name.string
        side = Int(use.side)
        timeoutNanoseconds = use.timeout_ns > 0 ? UInt64(use.timeout_ns) : nil
        answer = PluginStreamAnswer(use.context, use.done)
    }

    private static let maximumNameBytes = 256
}

extension BridgeError {
    /// As long may be an error that ends a stream, as JSON.
    private static var maximumStreamErrorBytes: Int { 4 << 10 }

    /// The error as it may end a stream. One that is too long is cut: it must not keep the stream open, and a plugin
    /// may hand on another's.
    var shortened: BridgeError {
        guard json.bytes.count > Self.maximumStreamErrorBytes else { return self }
        let isCode = code.rawValue.utf8.count <= 128
        // Each byte of a message may take six as JSON.
        return BridgeError(isCode ? code : .internal, message.cut(toBytes: 512), isTransient: isTransient)
    }
}
