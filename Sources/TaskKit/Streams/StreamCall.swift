internal import CTaskPlugin
internal import Glibc

/// The host's answer to a call about a stream.
struct StreamCallAnswer: Sendable {
    let name: String
    let roomBytes: Int
    let bytes: [UInt8]
    let announcement: ByteReader.Announcement?
    let isEnd: Bool
    /// The number of bytes that the reader received.
    let count: UInt64
    let receipt: StreamReceipt
    /// The pipe; `nil` if the end is no pipe.
    let pipe: PluginPipe?

    fileprivate init(_ answer: trestle_stream_answer) {
        name = String(decoding: answer.name.buffer, as: UTF8.self)
        roomBytes = Int(clamping: answer.room)
        bytes = Array(answer.bytes.buffer)
        let type = answer.type.buffer
        announcement = ByteReader.Announcement(
            type: type.isEmpty ? nil : String(decoding: type, as: UTF8.self),
            totalBytes: answer.total == .max ? nil : answer.total)
        isEnd = answer.flags & TRESTLE_STREAM_END != 0
        count = answer.count
        receipt = StreamReceipt(
            bytes: answer.count,
            endedBy: answer.flags & TRESTLE_STREAM_COMPLETE != 0 ? nil : Self.side(answer.ended_by),
            answer.error.map { BridgeError($0) })
        pipe = answer.descriptor < 0 ? nil : PluginPipe(adopting: answer.descriptor)
    }

    private static func side(_ number: UInt32) -> String {
        switch Int(number) {
        case Int(TRESTLE_STREAM_WRITER): "writer"
        case Int(TRESTLE_STREAM_READER): "reader"
        default: "daemon"
        }
    }

    /// The answer to a read.
    var chunk: StreamChunk { isEnd ? .end(bytes: count) : .bytes(bytes, announcement) }
}

/// A call of one of the host's functions about streams.
struct StreamCall: Sendable {
    /// The operation on the stream.
    enum Work: Sendable {
        /// Makes a stream, and holds the writer's end. `attaches`: whether the end becomes a pipe if possible.
        case make(type: String?, totalBytes: Int?, attaches: Bool)
        case write(ArraySlice<UInt8>)
        case read
        /// Turns the end into a pipe.
        case attach
        /// Closes the end. `bytes` is the number of bytes that the writer has written or the reader has received; `nil`
        /// if the transfer was not completed.
        case close(bytes: UInt64?, BridgeError?)
    }

    /// The stream, its end, and the call on whose behalf the operation is made.
    struct Address: Sendable {
        var stream: String
        var side: StreamOptions.Side
        /// The call on whose behalf it is made; 0 for the plugin's own name.
        var parent: trestle_call
    }

    typealias Outcome = HostCall<StreamCallAnswer>.Outcome

    private let work: Work
    private let address: Address

    init(_ work: Work, _ address: Address) { (self.work, self.address) = (work, address) }

    /// Makes the call and waits for its end. Cancelling the Swift task cancels the call.
    func outcome(_ host: Host) async -> Outcome {
        let refusal = "the stream was not used: its Swift task was already cancelled"
        return await HostCall<StreamCallAnswer>(host).outcome(orCancelled: refusal) { call throws(BridgeError) in
            guard host.hasStreams else {
                throw BridgeError(.streamInvalid, "this daemon has no streams for plugins: update it")
            }
            return make(host) { use in
                use.context = Unmanaged.passRetained(call).toOpaque()
                use.done = { context, answer, error in
                    let outcome: Outcome
                    if let answer {
                        outcome = .success(StreamCallAnswer(answer.pointee))
                    } else {
                        // `!` in both: either the answer or the error is present, and the context is the one given
                        // above.
                        outcome = .failure(BridgeError(error!))
                    }
                    Unmanaged<HostCall<StreamCallAnswer>>.fromOpaque(context!).takeRetainedValue().end(outcome)
                }
            }
        }
    }

    /// Makes a call without waiting for its end. Any thread.
    func notify(_ host: Host) {
        host.onLoopThread { if host.hasStreams { _ = make(host) { _ in } } }
    }

    /// - Parameter complete: Adds the function that receives its end.
    private func make(_ host: Host, _ complete: (inout trestle_stream_use) -> Void) -> trestle_call {
        var name = address.stream
        return name.withUTF8 { name in
            var use = trestle_stream_use()
            use.size = UInt32(MemoryLayout<trestle_stream_use>.size)
            use.abi = TRESTLE_ABI
            use.call = address.parent
            use.name = trestle_bytes(UnsafeRawBufferPointer(name))
            use.side = UInt32(address.side == .write ? TRESTLE_STREAM_WRITER : TRESTLE_STREAM_READER)
            complete(&use)
            return host.use(&use, work)
        }
    }
}

extension Host {
    /// Calls the host's function for this work. Loop thread.
    fileprivate func use(_ use: inout trestle_stream_use, _ work: StreamCall.Work) -> trestle_call {
        switch work {
        case .make(let type, let totalBytes, let attaches):
            var type = type ?? ""
            if attaches { use.flags = TRESTLE_STREAM_ATTACH }
            return type.withUTF8 {
                makeStream(&use, trestle_bytes(UnsafeRawBufferPointer($0)), totalBytes.map { UInt64($0) } ?? .max)
            }
        case .write(let bytes): return bytes.withUnsafeBytes { writeStream(&use, trestle_bytes($0)) }
        case .read: return readStream(&use)
        case .attach: return attachStream(&use)
        case .close(let bytes, let error):
            guard let error else { return closeStream(&use, bytes ?? .max, nil) }
            return error.withForeign { closeStream(&use, bytes ?? .max, $0) }
        }
    }
}
