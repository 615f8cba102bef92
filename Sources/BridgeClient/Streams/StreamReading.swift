import BridgeJSON
import EventLoop

/// What is behind a reader.
@LoopActor
final class StreamReading: ByteSource {
    private let end: StreamEnd
    /// The first read, where the end was taken before it was read.
    private var first: Task<Result<CallInFlight, BridgeError>, Never>?
    /// The next chunk is asked for while the last one is used.
    private var pending: CallInFlight?
    private var read = ReadBytes()

    nonisolated init(_ end: StreamEnd) { self.end = end }

    var announcement: ByteReader.Announcement? { read.announcement }

    /// Takes the end, by asking for the first bytes. What the loop is handed after this is sent after it.
    func take() {
        let end = end
        first = Task.immediate { @LoopActor in
            do throws(BridgeError) {
                return .success(try await end.begin("read"))
            } catch {
                return .failure(error)
            }
        }
    }

    func next() async throws(BridgeError) -> [UInt8]? {
        guard !end.isOver else { return nil }
        let result = try await end.result(of: try await call())
        do throws(BridgeError) {
            guard let bytes = try read.take(result) else {
                end.finish()
                return nil
            }
            // An error comes with the next read.
            pending = try? await end.begin("read")
            return bytes
        } catch {
            end.leave(error)
            throw error
        }
    }

    private func call() async throws(BridgeError) -> CallInFlight {
        if let first {
            self.first = nil
            return try await first.value.get()
        }
        if let pending {
            self.pending = nil
            return pending
        }
        return try await end.begin("read")
    }

    nonisolated func leave() { EventLoop.post { [self] in end.leave(nil) } }
}

/// The readers of options or a result that are decoded.
final class DecodedStreams: StreamReaders {
    private let call: IncomingCall?
    private let calls: CallsInFlight

    /// - Parameter call: The call whose options are decoded; nil: a result is.
    init(for call: IncomingCall?, _ calls: CallsInFlight) {
        self.call = call
        self.calls = calls
    }

    func source(_ name: String) -> any ByteSource {
        let reading = StreamReading(StreamEnd(name, for: call, calls))
        EventLoop.post { reading.take() }
        return reading
    }
}
