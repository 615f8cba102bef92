import BridgeJSON
import EventLoop

/// The source of a reader: a pipe if the daemon can pass one, else messages.
@LoopActor
final class StreamReading: ByteSource {
    private let end: StreamEnd
    /// The call that requests a pipe; `nil` before it begins.
    private var attaching: Task<Result<CallInFlight, BridgeError>, Never>?
    private var pipe: PipeReading?
    private var usesMessages = false
    /// The call for the next chunk, which is requested while the last one is used, or the reason why it was not sent.
    private var pending: Result<CallInFlight, BridgeError>?
    private var read = ReadBytes()
    private var attachedAnnouncement: ByteReader.Announcement?

    nonisolated init(_ end: StreamEnd) { self.end = end }

    var announcement: ByteReader.Announcement? { attachedAnnouncement ?? read.announcement }

    /// Takes the end. Messages that are posted to the loop after this are sent after it.
    func take() {
        let end = end
        attaching = Task.immediate { @LoopActor in
            do throws(BridgeError) {
                return .success(try await end.beginAttaching())
            } catch {
                return .failure(error)
            }
        }
    }

    func next() async throws(BridgeError) -> [UInt8]? {
        if !usesMessages, pipe == nil { try await attach() }
        if let pipe { return try await pipe.next() }
        // An end with an error is not the end of the bytes: the error is thrown first.
        if pending == nil, end.isOver { return nil }
        let result = try await end.result(of: try await call())
        do throws(BridgeError) {
            guard let bytes = try read.take(StreamChunk(result)) else {
                end.finish()
                return nil
            }
            pending = await begin()
            return bytes
        } catch {
            end.leave(error)
            throw error
        }
    }

    private func attach() async throws(BridgeError) {
        if attaching == nil { take() }
        guard let call = try await attaching?.value.get() else { return }
        guard let attached = try await end.attached(by: call) else { return usesMessages = true }
        attachedAnnouncement = StreamChunk.announcement(in: attached.result)
        pipe = PipeReading(end, attached.pipe)
    }

    private func begin() async -> Result<CallInFlight, BridgeError> {
        do throws(BridgeError) {
            return .success(try await end.begin("read"))
        } catch {
            return .failure(error)
        }
    }

    private func call() async throws(BridgeError) -> CallInFlight {
        guard let pending else { return try await end.begin("read") }
        self.pending = nil
        return try pending.get()
    }

    nonisolated var isOwnThread: Bool { LoopActor.isOnLoopThread }

    nonisolated func leave() { EventLoop.post { [self] in end.leave(nil) } }
}

/// Makes the readers in options or a result that are being decoded.
final class DecodedStreams: StreamReaders {
    private let call: IncomingCall?
    private let calls: CallsInFlight

    /// - Parameter call: The call whose options are decoded; `nil` for a result.
    init(for call: IncomingCall?, _ calls: CallsInFlight) {
        self.call = call
        self.calls = calls
    }

    func source(_ name: String) -> any ByteSource {
        let reading = StreamReading(StreamEnd(name, .read, for: call, calls))
        EventLoop.post { reading.take() }
        return reading
    }
}
