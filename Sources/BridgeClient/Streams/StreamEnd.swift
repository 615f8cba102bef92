import BridgeJSON
import BridgeMessage
import EventLoop

/// One end of a stream, and the calls of the daemon's tasks about it.
@LoopActor
final class StreamEnd {
    let name: String
    private let side: StreamOptions.Side
    private let calls: CallsInFlight
    /// The call for which the end is taken, said with its first use; nil: none, or it has been said.
    private var worksOn: UInt64?
    /// No call about it makes sense any longer.
    private(set) var isOver = false

    nonisolated init(_ name: String, _ side: StreamOptions.Side, for call: IncomingCall?, _ calls: CallsInFlight) {
        self.name = name
        self.side = side
        self.calls = calls
        worksOn = call?.id
    }

    /// Makes a stream and has its writer's end.
    ///
    /// - Returns: Also the pipe that this end is; nil: it is none yet.
    static func make(
        _ request: CallRequest, _ calls: CallsInFlight
    ) async throws(BridgeError) -> (made: MadeStream, end: StreamEnd, pipe: PipeEnd?) {
        let call = try await calls.begin(request, .withDescriptor)
        let result = try await calls.outcome(of: call)
        let made = try MadeStream(result)
        let end = StreamEnd(made.name, .write, for: nil, calls)
        return (made, end, MadeStream.isAttached(result) ? try end.pipe(of: call) : nil)
    }

    /// Begins a call about it.
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
            // It was not sent, and the other side does not learn of it.
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
            // The daemon has ended the stream, or nobody knows which bytes went.
            if error.code == .callCancelled, !isOver { leave(error) }
            isOver = true
            throw error
        }
    }

    /// Makes the end a pipe, where the daemon and this process can: before all else that is done with it.
    func beginAttaching() async throws(BridgeError) -> CallInFlight {
        try await begin("attach", ["side": .string(side.rawValue)], .withDescriptor)
    }

    /// Waits for the pipe.
    ///
    /// - Returns: nil: the bytes go in messages.
    /// - Throws: why there is no such stream, or it is over.
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

    /// The pipe that the daemon has passed with a result.
    ///
    /// - Throws: `stream.closed` where the system has passed none: the stream is of no use.
    private func pipe(of call: CallInFlight) throws(BridgeError) -> PipeEnd {
        guard let passed = call.descriptor, let pipe = try? PipeEnd(UnixSocket(adopting: passed.release())) else {
            let error = BridgeError(.streamClosed, "the system passed no descriptor for the stream")
            leave(error)
            throw error
        }
        return pipe
    }

    /// Closes it, where this side has counted so many bytes, and waits for the receipt.
    ///
    /// - Throws: `stream.closed` where the stream is not complete.
    func close(_ byteCount: Int) async throws(BridgeError) {
        var options = StreamOptions.close(byteCount)
        options["side"] = .string(side.rawValue)
        let receipt = try await result(of: try await begin("close", options))
        finish()
        try StreamReceipt(receipt).check()
    }

    /// The stream is over here.
    func finish() { isOver = true }

    /// Ends the stream, where it is not over, without waiting.
    ///
    /// - Parameter error: what the other side gets as the reason; nil: nothing.
    func leave(_ error: BridgeError?) {
        guard !isOver else { return }
        isOver = true
        var options = StreamOptions.leave(error)
        options["stream"] = .string(name)
        options["side"] = .string(side.rawValue)
        options["call"] = worksOn.map { .number(JSONNumber($0)) }
        let request = CallRequest("bridge.stream.close", .object(options))
        // Ends when the daemon has answered. What it answers changes nothing.
        Task { [calls] in _ = try? await calls.call(request) }
    }
}
