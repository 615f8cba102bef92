import BridgeJSON
import BridgeMessage

// Ends of streams that become pipes.
extension StreamTable {
    /// Has the caller's end be a pipe, whose other end is the other side's or the daemon's. The call is to be answered
    /// with what this returns.
    ///
    /// - Parameter side: nil: the side that the caller has, else the one that is free.
    /// - Throws: as ``StreamPipes/attach(_:_:for:_:)`` does.
    func attach(
        _ call: Call, to text: String, _ side: StreamSide?, for id: UInt64?
    ) throws(BridgeError) -> StreamResult {
        guard call.pipeReceiver != nil else { throw .noDescriptors }
        let (stream, waiter) = try find(text, side, call, id)
        let end = try attach(stream, waiter.side, for: call)
        let announcement = waiter.side == .reader ? stream.takeAnnouncement() : nil
        return .attached(end, type: announcement?.type, totalBytes: announcement?.totalBytes)
    }

    /// The same for an end that the caller has.
    func attach(
        _ stream: OpenStream, _ side: StreamSide, for call: Call
    ) throws(BridgeError) -> PassedDescriptor {
        guard let receiver = call.pipeReceiver else { throw .noDescriptors }
        // Also where it throws: a side that is answered that the stream is broken has left it.
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
    /// Whether the maker of a call may get a pipe with it: the right is that of `bridge.stream.attach`.
    func mayAttach(_ call: Call, _ tasks: TaskRegistry) -> Bool {
        tasks.find("bridge.stream.attach").map { mayCall($0, as: call) } ?? false
    }
}
