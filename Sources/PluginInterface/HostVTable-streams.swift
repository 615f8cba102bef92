internal import BridgeJSON
internal import CTaskPlugin

// The functions about streams. They must be called on the loop thread.
extension HostVTable {
    static let makeStream:
        @convention(c) (
            UnsafePointer<trestle_host>?, UnsafePointer<trestle_stream_use>?, UInt32, trestle_bytes, UInt64
        ) -> trestle_call = { vtable, use, side, type, total in
            let isReader = side == UInt32(TRESTLE_STREAM_READER)
            let type = type.buffer.isEmpty ? nil : type.string
            let attaches = use.map { $0.pointee.flags & TRESTLE_STREAM_ATTACH != 0 } ?? false
            return perform(
                .make(
                    isReader: isReader, type: type, totalBytes: total == .max ? nil : total, attaches: attaches), use,
                vtable)
        }

    static let writeStream:
        @convention(c) (
            UnsafePointer<trestle_host>?, UnsafePointer<trestle_stream_use>?, trestle_bytes, UInt32
        ) -> trestle_call = { vtable, use, bytes, flags in
            perform(.write(bytes.buffer, isEnd: flags & TRESTLE_STREAM_END != 0), use, vtable)
        }

    static let readStream:
        @convention(c) (
            UnsafePointer<trestle_host>?, UnsafePointer<trestle_stream_use>?, Int
        ) -> trestle_call = { vtable, use, maximum in
            // A C number beyond the range of `Int` is negative here.
            perform(.read(maximumBytes: maximum == 0 ? nil : maximum < 0 ? .max : maximum), use, vtable)
        }

    static let closeStream:
        @convention(c) (
            UnsafePointer<trestle_host>?, UnsafePointer<trestle_stream_use>?, UInt64, UnsafePointer<trestle_error>?
        ) -> trestle_call = { vtable, use, bytes, error in
            let error = error.map { BridgeError(foreign: $0).shortened }
            return perform(.close(bytes: bytes == .max ? nil : bytes, error), use, vtable)
        }

    static let attachStream:
        @convention(c) (UnsafePointer<trestle_host>?, UnsafePointer<trestle_stream_use>?) -> trestle_call = {
            vtable, use in perform(.attach, use, vtable)
        }

    private static func perform(
        _ work: PluginStreamUse.Work, _ use: UnsafePointer<trestle_stream_use>?,
        _ vtable: UnsafePointer<trestle_host>?
    ) -> trestle_call {
        guard let use else { return 0 }
        let request = PluginStreamUse(use.pointee, work)
        return with(vtable, else: 0) { receiver in
            guard receiver.isOnLoopThread else {
                refuse(request.answer, receiver)
                return 0
            }
            // The handle is needed immediately, so earlier messages are delivered first.
            receiver.deliverWaiting()
            receiver.streamUses.insert(request.answer)
            return receiver.called(request)
        }
    }

    /// Reports to the plugin, on the loop thread, that the function was called on another thread.
    private static func refuse(_ answer: PluginStreamAnswer, _ receiver: PluginReceiver) {
        let box = Unmanaged.passRetained(MisplacedUse(answer)).toOpaque()
        // `!`: it is the pointer passed here.
        receiver.append(.function({ Unmanaged<MisplacedUse>.fromOpaque($0!).takeRetainedValue().refuse() }, box))
    }
}

/// A use of a stream on the wrong thread, which is answered on the loop thread.
private final class MisplacedUse {
    private let answer: PluginStreamAnswer

    init(_ answer: PluginStreamAnswer) { self.answer = answer }

    func refuse() {
        answer.give(
            .failure(
                BridgeError(
                    .streamInvalid,
                    "a stream was used outside of the loop thread; nothing was done: use `post` to get there")))
    }
}
