import BridgeJSON
import BridgeMessage

// Ends of streams that become pipes.
extension StreamTable {
    /// Makes the caller's end a pipe, whose other end belongs to the other side or to the daemon. The caller answers
    /// the call with the returned result.
    ///
    /// - Parameter side: The side; `nil` for the side that the caller has, or else the free one.
    /// - Throws: As ``StreamPipes/attach(_:_:for:_:)``.
    func attach(
        _ call: Call, to text: String, _ side: StreamSide?, for id: UInt64?
    ) throws(BridgeError) -> StreamResult {
        guard call.pipeReceiver != nil else { throw .noDescriptors }
        let (stream, waiter) = try find(text, side, call, id)
        let end = try attach(stream, waiter.side, for: call)
        let announcement = waiter.side == .reader ? stream.takeAnnouncement() : nil
        return .attached(end, type: announcement?.type, totalBytes: announcement?.totalBytes)
    }

    /// Does the same for an end that the caller has.
    func attach(
        _ stream: OpenStream, _ side: StreamSide, for call: Call
    ) throws(BridgeError) -> PassedDescriptor {
        guard let receiver = call.pipeReceiver else { throw .noDescriptors }
        // Also if it throws: a side that is answered that the stream is broken has left it.
        defer { update(stream) { $0.serve() } }
        return try pipes.attach(stream, side, for: receiver, pipeEvents(of: stream.name))
    }

    private func pipeEvents(of name: StreamName) -> StreamPipeEvents {
        func change(_ change: (inout StreamState<StreamWaiter>) -> Answers) {
            if let stream = streams[name] { update(stream, change) }
        }
        return StreamPipeEvents(
            bytes: { bytes in change { $0.pour(bytes) } }, room: { change { $0.serve() } },
            broken: { change { $0.leave(.reader, BridgeError(.streamClosed, "the reader closed its pipe")) } })
    }
}

extension Rights {
    /// Whether the maker of a call may receive a pipe with it: the right is that of `bridge.stream.attach`.
    func mayAttach(_ call: Call, _ tasks: TaskRegistry) -> Bool {
        tasks.find("bridge.stream.attach").map { mayCall($0, as: call) } ?? false
    }
}
