import Synchronization
import TaskKit

/// The channel of a response from the network's thread to its reader. Any thread.
final class ResponseChannel: Sendable {
    /// The maximum number of waiting bytes, which one decoding step may exceed. A reader passes on as many bytes in one
    /// call.
    static let windowBytes = pieceBytes
    /// The length up to which short pieces are combined: as much as a reader passes on in one call.
    private static let pieceBytes = 64 << 10

    /// An event for the reader.
    enum Event: Sendable {
        case head(ResponseHead)
        case bytes([UInt8])
        case end(TransferSummary)
    }

    private struct State {
        var head: ResponseHead?
        var pieces: [[UInt8]] = []
        var byteCount = 0
        var end: Result<TransferSummary, BridgeError>?
        var waiter: CheckedContinuation<Void, Never>?
        /// Whether the network's thread waits for room.
        var isFull = false
        /// Whether the reader waits only for the end, because the body is written into its pipe.
        var isPoured = false
        /// The number of bytes written into the pipe.
        var pouredBytes = 0

        var hasSomething: Bool { end != nil || !isPoured && (head != nil || byteCount > 0) }
    }

    private let state = Mutex(State())

    // MARK: The network's thread

    /// Returns whether more bytes may be added. If not, ``take()`` reports when there is room again.
    func checkRoom() -> Bool {
        state.withLock { state in
            state.isFull = state.byteCount >= Self.windowBytes
            return !state.isFull
        }
    }

    func put(_ head: ResponseHead) { state.withLock { $0.head = head } }

    func put(_ bytes: UnsafeRawBufferPointer) {
        state.withLock { state in
            state.byteCount += bytes.count
            if let last = state.pieces.last, last.count + bytes.count <= Self.pieceBytes {
                // After two long pieces, more will probably follow.
                if bytes.count >= 8 << 10 { state.pieces[state.pieces.count - 1].reserveCapacity(Self.pieceBytes) }
                state.pieces[state.pieces.count - 1] += bytes
            } else {
                state.pieces.append(Array(bytes))
            }
        }
    }

    /// Removes and returns the waiting bytes, which are then written into the reader's pipe.
    func takeAll() -> [[UInt8]] {
        state.withLock { state in
            defer { (state.pieces, state.byteCount) = ([], 0) }
            return state.pieces
        }
    }

    /// Ends the response. Further calls are ignored.
    ///
    /// - Parameter pouredBytes: The number of bytes written into the reader's pipe.
    func finish(_ end: Result<TransferSummary, BridgeError>, pouredBytes: Int = 0) {
        state.withLock { state in
            guard state.end == nil else { return }
            (state.end, state.pouredBytes) = (end, pouredBytes)
        }
    }

    /// Wakes the waiting reader if an event is available.
    func wake() {
        state.withLock { state in state.hasSomething ? state.waiter.take() : nil }?.resume()
    }

    // MARK: The reader

    /// Whether the network's thread has finished the response.
    var isOver: Bool { state.withLock { $0.end != nil } }

    /// Takes the next event; returns `nil` if there is none.
    ///
    /// - Returns: The event, and whether the caller must notify the network's thread that there is room again.
    /// - Throws: The error of the transfer, after all received bytes were taken.
    func take() throws(BridgeError) -> (event: Event, hasRoom: Bool)? {
        let taken = state.withLock { state -> Result<(event: Event, hasRoom: Bool)?, BridgeError> in
            if let head = state.head.take() { return .success((.head(head), false)) }
            guard state.pieces.isEmpty else {
                let bytes = state.pieces.removeFirst()
                state.byteCount -= bytes.count
                let hasRoom = state.isFull && state.byteCount < Self.windowBytes / 2
                if hasRoom { state.isFull = false }
                return .success((.bytes(bytes), hasRoom))
            }
            guard let end = state.end else { return .success(nil) }
            return end.map { (.end($0), false) }
        }
        return try taken.get()
    }

    /// Makes the reader wait only for the end from now on. Bytes that are not in the pipe by then are taken afterwards.
    func beginPouring() { state.withLock { $0.isPoured = true } }

    /// The number of bytes written into the pipe. Valid after the end.
    var pouredBytes: Int { state.withLock { $0.pouredBytes } }

    /// Waits until an event is available.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if state.hasSomething { return true }
                state.waiter = continuation
                return false
            }
            if isReady { continuation.resume() }
        }
    }
}
