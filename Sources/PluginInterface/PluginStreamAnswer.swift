public import BridgeJSON
public import BridgeMessage
import CTaskPlugin

/// The open calls about streams of a plugin. Loop thread only.
final class PluginStreamUses {
    private var open: [ObjectIdentifier: PluginStreamAnswer] = [:]

    func insert(_ answer: PluginStreamAnswer) {
        open[ObjectIdentifier(answer)] = answer
        answer.onEnd = { [unowned self] in open[ObjectIdentifier($0)] = nil }
    }

    /// Ends all calls of a plugin that stops. Calls that it begins meanwhile continue.
    func endAll() {
        let error = BridgeError(.callCancelled, "the plugin stops")
        for answer in Array(open.values) { answer.give(.failure(error)) }
    }
}

/// The receiver of the outcome of a call about a stream. Loop thread only.
public final class PluginStreamAnswer {
    /// The result of the call.
    public enum Value {
        /// The stream was made. If there is a descriptor, the plugin's end is a pipe.
        case made(name: String, roomBytes: Int, PassedDescriptor?)
        /// A write was accepted. The room is the number of bytes that may be unanswered.
        case room(bytes: Int)
        /// Bytes were read.
        case bytes(UnsafeRawBufferPointer, type: String?, totalBytes: UInt64?)
        /// The end is now a pipe.
        case attached(PassedDescriptor, type: String?, totalBytes: UInt64?)
        /// The reader has got all bytes.
        case end(bytes: UInt64)
        /// The receipt for the side that closes: the number of bytes, and the side that ended the stream; 0 if it is
        /// complete.
        case receipt(bytes: UInt64, side: Int, BridgeError?)
    }

    typealias Done =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<trestle_stream_answer>?, UnsafePointer<trestle_error>?
        ) -> Void

    // The plugin gets its context back unchanged, on the loop thread.
    private let context: UnsafeMutableRawPointer?
    private var done: Done?
    fileprivate var onEnd: ((PluginStreamAnswer) -> Void)?

    init(_ context: UnsafeMutableRawPointer?, _ done: Done?) {
        self.context = context
        self.done = done
    }

    /// Ends the call for the plugin. Does nothing the second time or after the plugin has stopped.
    public func give(_ result: Result<Value, BridgeError>) {
        onEnd.take()?(self)
        guard let done = done.take() else { return }
        switch result {
        case .failure(let error): error.withForeign { done(context, nil, $0) }
        case .success(let value): value.withForeign { done(context, $0, nil) }
        }
    }
}

extension PluginStreamAnswer.Value {
    /// Calls `body` with the answer in the form of the interface.
    fileprivate func withForeign(_ body: (UnsafePointer<trestle_stream_answer>) -> Void) {
        var answer = trestle_stream_answer()
        answer.size = UInt32(MemoryLayout<trestle_stream_answer>.size)
        answer.abi = TRESTLE_ABI
        answer.total = .max
        answer.descriptor = -1
        switch self {
        case .made(let name, let room, let end):
            answer.room = UInt64(room)
            if let end { answer.descriptor = end.release() }
            withBytes(name) {
                answer.name = $0
                body(&answer)
            }
        case .room(let bytes):
            answer.room = UInt64(bytes)
            body(&answer)
        case .bytes(let bytes, let type, let totalBytes):
            answer.bytes = trestle_bytes(bytes)
            answer.total = totalBytes ?? .max
            withBytes(type ?? "") {
                answer.type = $0
                body(&answer)
            }
        case .attached(let end, let type, let totalBytes):
            answer.descriptor = end.release()
            answer.total = totalBytes ?? .max
            withBytes(type ?? "") {
                answer.type = $0
                body(&answer)
            }
        case .end(let bytes):
            answer.count = bytes
            answer.flags = TRESTLE_STREAM_END
            body(&answer)
        case .receipt(let bytes, let side, let error):
            answer.count = bytes
            answer.flags = side == 0 ? TRESTLE_STREAM_COMPLETE : 0
            answer.ended_by = UInt32(side)
            guard let error else { return body(&answer) }
            error.withForeign {
                answer.error = $0
                body(&answer)
            }
        }
    }
}
