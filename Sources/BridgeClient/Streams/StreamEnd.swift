import BridgeJSON
import BridgeMessage
import EventLoop

/// One end of a stream, and the calls of the daemon's tasks for it.
@LoopActor
final class StreamEnd {
    let name: String
    private let side: StreamOptions.Side
    private let calls: CallsInFlight
    /// The call for which the end is taken, sent with the end's first use; `nil` if there is none, or it has been sent.
    private var worksOn: UInt64?
    /// Whether further calls for the stream are useless.
    private(set) var isOver = false

    nonisolated init(_ name: String, _ side: StreamOptions.Side, for call: IncomingCall?, _ calls: CallsInFlight) {
        self.name = name
        self.side = side
        self.calls = calls
        worksOn = call?.id
    }

    /// Creates a stream and returns its writer's end.
    ///
    /// - Returns: Also the end's pipe; `nil` if it has none yet.
    static func make(
        _ request: CallRequest, _ calls: CallsInFlight
    ) async throws(BridgeError) -> (made: MadeStream, end: StreamEnd, pipe: PipeEnd?) {
        let call = try await calls.begin(request, .withDescriptor)
        let result = try await calls.outcome(of: call)
        let made = try MadeStream(result)
        let end = StreamEnd(made.name, .write, for: nil, calls)
        return (made, end, MadeStream.isAttached(result) ? try end.pipe(of: call) : nil)
    }

    /// Begins a call for the stream.
    func begin(
        _ task: String, _ more: JSONObject = [:], _ kind: CallKind = .plain
    ) async throws(BridgeError) -> CallInFlight {
        var options = more
        options["stream"] = .string(name)
        let call = worksOn
        options["call"] = call.map { .number(JSONNumber($0)) }
        worksOn = nil
        do throws(BridgeError) {
            return try await calls.begin(CallRequest("bridge.stream.\(task)", .object(options)), kind)
        } catch {
            // The call was not sent, and the other side does not learn of it.
            worksOn = call
            leave(error)
            throw error
        }
    }

    /// Waits for the end of such a call.
    func result(of call: CallInFlight) async throws(BridgeError) -> JSON {
        do throws(BridgeError) {
            return try await calls.outcome(of: call)
        } catch {
            // The daemon has ended the stream, or it is unknown which bytes were transferred.
            if error.code == .callCancelled, !isOver { leave(error) }
            isOver = true
            throw error
        }
    }

    /// Requests a pipe for the end, if the daemon and this process support it. Must precede any other use of the end.
    func beginAttaching() async throws(BridgeError) -> CallInFlight {
        try await begin("attach", ["side": .string(side.rawValue)], .withDescriptor)
    }

    /// Waits for the pipe.
    ///
    /// - Returns: `nil` if the bytes are sent in messages.
    /// - Throws: The reason why the stream does not exist or has ended.
    func attached(by call: CallInFlight) async throws(BridgeError) -> (pipe: PipeEnd, result: JSON)? {
        let result: JSON
        do throws(BridgeError) {
            result = try await calls.outcome(of: call)
        } catch {
            if [.streamInvalid, .busy, .taskNotFound, .internal].contains(error.code) { return nil }
            if error.code == .callCancelled { leave(error) }
            isOver = true
            throw error
        }
        return (try pipe(of: call), result)
    }

    /// Returns the pipe that the daemon has passed with a result.
    ///
    /// - Throws: `stream.closed` if the system has passed none: the stream is not usable.
    private func pipe(of call: CallInFlight) throws(BridgeError) -> PipeEnd {
        guard let passed = call.descriptor, let pipe = try? PipeEnd(UnixSocket(adopting: passed.release())) else {
            let error = BridgeError(.streamClosed, "the system passed no descriptor for the stream")
            leave(error)
            throw error
        }
        return pipe
    }

    /// Closes the stream and waits for the receipt. `byteCount` is the number of bytes that this side has counted.
    ///
    /// - Throws: `stream.closed` if the stream is not complete.
    func close(_ byteCount: Int) async throws(BridgeError) {
        var options = StreamOptions.close(byteCount)
        options["side"] = .string(side.rawValue)
        let receipt = try await result(of: try await begin("close", options))
        finish()
        try StreamReceipt(receipt).check()
    }

    /// Notes that the stream has ended here.
    func finish() { isOver = true }

    /// Ends the stream, unless it has ended, without waiting.
    ///
    /// - Parameter error: The reason that the other side gets; `nil` for none.
    func leave(_ error: BridgeError?) {
        guard !isOver else { return }
        isOver = true
        var options = StreamOptions.leave(error)
        options["stream"] = .string(name)
        options["side"] = .string(side.rawValue)
        options["call"] = worksOn.map { .number(JSONNumber($0)) }
        let request = CallRequest("bridge.stream.close", .object(options))
        // This Swift task ends with the daemon's answer, which has no effect.
        Task { [calls] in _ = try? await calls.call(request) }
    }
}
