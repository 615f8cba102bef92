import HTTPRules
import Synchronization
import TaskKit

/// The body of a response that does not come from a server. It is read piece by piece, with the same limits.
final class LocalBody: ResponseSource {
    private struct State {
        /// `nil` after the body was cancelled.
        var pipeline: BodyPipeline?
    }

    private let state: Mutex<State>
    private let begin = ContinuousClock.now
    private let read: @Sendable () async throws(BridgeError) -> [UInt8]

    /// Creates a body.
    ///
    /// - Parameters:
    ///   - headers: The fields of the response.
    ///   - request: The request, which specifies the limits.
    ///   - read: Returns the next bytes; none at the end.
    /// - Throws: `http.too_large`, `http.decoding`, if the fields state that the body cannot be accepted.
    init(
        _ headers: HeaderList, _ request: FetchRequest,
        read: @escaping @Sendable () async throws(BridgeError) -> [UInt8]
    ) throws(BridgeError) {
        state = Mutex(
            State(
                pipeline: try BodyPipeline(
                    headers, maximumBytes: request.maximumBodyBytes, integrity: request.integrity)))
        self.read = read
    }

    func next() async throws(BridgeError) -> ResponseChannel.Event {
        while true {
            if let bytes = try step({ pipeline throws(BridgeError) in try pipeline.next() }) { return .bytes(bytes) }
            guard !Task.isCancelled else { throw .fetchCancelled }
            let bytes = try await read()
            guard !bytes.isEmpty else { return .end(try finish()) }
            try step { pipeline throws(BridgeError) in
                try bytes.withUnsafeBytes { bytes in
                    Result { () throws(BridgeError) in try pipeline.feed(bytes) }
                }.get()
            }
        }
    }

    private func finish() throws(BridgeError) -> TransferSummary {
        let total = ContinuousClock.now - begin
        return try step { pipeline throws(BridgeError) in
            try pipeline.finish()
            return TransferSummary(
                wireBytes: pipeline.wireBytes, decodedBytes: pipeline.decodedBytes, total: total)
        }
    }

    private func step<T: Sendable>(
        _ body: @Sendable (BodyPipeline) throws(BridgeError) -> T
    ) throws(BridgeError) -> T {
        try state.withLock { state in
            Result { () throws(BridgeError) in
                guard let pipeline = state.pipeline else { throw BridgeError.fetchCancelled }
                return try body(pipeline)
            }
        }.get()
    }

    func cancel() { state.withLock { $0.pipeline = nil } }
}
