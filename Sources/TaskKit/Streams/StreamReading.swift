internal import CTaskPlugin
internal import Synchronization

/// What is behind a reader. One reader, any thread.
final class StreamReading: ByteSource {
    private struct State {
        /// The read that has been made: the next chunk is asked for while the last one is used.
        var pending: PendingStreamCall?
        var read = ReadBytes()
    }

    private let end: StreamEnd
    private let state = Mutex(State())

    /// Takes the end at once, by asking for the first bytes: the call for which it is taken may end before they are
    /// read.
    init(_ end: StreamEnd) {
        self.end = end
        ask()
    }

    private func ask() {
        let call = end.begin("read", ["bytes": .number(JSONNumber(Self.chunkBytes))])
        state.withLock { $0.pending = call }
    }

    /// Base 64 of so many bytes is decoded on the loop.
    private static let chunkBytes = 45_000

    var announcement: ByteReader.Announcement? { get async { state.withLock { $0.read.announcement } } }

    func next() async throws(BridgeError) -> [UInt8]? {
        guard !end.isOver, let call = state.withLock({ $0.pending.take() }) else { return nil }
        let result = try await end.result(of: call)
        do throws(BridgeError) {
            guard let bytes = try take(result) else {
                end.finish()
                return nil
            }
            ask()
            return bytes
        } catch {
            end.leave(error)
            throw error
        }
    }

    private func take(_ result: JSON) throws(BridgeError) -> [UInt8]? {
        try state.withLock { state in Result { () throws(BridgeError) in try state.read.take(result) } }.get()
    }

    var isOwnThread: Bool { end.isOwnThread }

    func leave() { end.leave(nil) }
}

/// Makes the readers in options or a result that are decoded. From one thread at a time.
final class DecodedStreams: StreamReaders {
    /// The call that the plugin works on; 0: none.
    var call: trestle_call = 0
    // Never released; see `Plugin.export`.
    private unowned(unsafe) var runtime: PluginRuntime?

    func attach(_ runtime: PluginRuntime) { self.runtime = runtime }

    func source(_ name: String) -> any ByteSource {
        guard let runtime else { preconditionFailure("options are decoded before the plugin has a host") }
        return StreamReading(StreamEnd(name, .read, Sender(runtime: runtime, parent: call)))
    }
}
