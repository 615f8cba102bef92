import HTTPRules
import Synchronization
import TaskKit

/// The body of a response that came over the bridge instead of from a server. Its length and hash are checked like
/// those of a transfer. One reader.
final class GivenBody: ResponseSource {
    private struct State {
        /// The whole body; `nil` if a reader provides it, or if it was already returned.
        var bytes: [UInt8]?
        var count: Int64 = 0
        var hash: IntegrityHash?
        var isCancelled = false
        /// The reader of the body; `nil` if there is none or the body was cancelled.
        var reader: ByteReader?
    }

    private let state: Mutex<State>
    private let maximumBytes: Int64
    private let integrity: IntegrityMetadata?
    private let start = ContinuousClock.now

    /// Creates a body from its bytes.
    init(_ bytes: [UInt8], _ request: FetchRequest) {
        maximumBytes = request.maximumBodyBytes
        integrity = request.integrity
        state = Mutex(State(bytes: bytes, hash: request.integrity.map { IntegrityHash($0.algorithm) }))
    }

    /// Creates a body from a reader.
    init(_ reader: ByteReader, _ request: FetchRequest) {
        maximumBytes = request.maximumBodyBytes
        integrity = request.integrity
        state = Mutex(State(hash: request.integrity.map { IntegrityHash($0.algorithm) }, reader: reader))
    }

    func next() async throws(BridgeError) -> ResponseChannel.Event {
        let (given, reader) = state.withLock { ($0.bytes.take(), $0.isCancelled ? nil : $0.reader) }
        if let given, !given.isEmpty { return .bytes(try note(given)) }
        guard !state.withLock({ $0.isCancelled }) else { throw .fetchCancelled }
        if let reader {
            var iterator = reader.makeAsyncIterator()
            if let bytes = try await iterator.next(isolation: nil) { return .bytes(try note(bytes)) }
        }
        return .end(try finish())
    }

    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            state.reader = nil
        }
    }

    private func note(_ bytes: [UInt8]) throws(BridgeError) -> [UInt8] {
        let count = state.withLock { state in
            state.count += Int64(bytes.count)
            if state.hash != nil { bytes.withUnsafeBytes { state.hash?.update($0) } }
            return state.count
        }
        guard count <= maximumBytes else {
            throw .tooLarge(.body, limit: maximumBytes, "the body has more than \(maximumBytes) bytes; see maxBytes")
        }
        return bytes
    }

    private func finish() throws(BridgeError) -> TransferSummary {
        let (count, hash) = state.withLock { state in (state.count, state.hash?.finish()) }
        if let integrity, let hash, !integrity.matches(hash) { throw .integrityMismatch }
        return TransferSummary(wireBytes: count, decodedBytes: count, total: .now - start)
    }
}
