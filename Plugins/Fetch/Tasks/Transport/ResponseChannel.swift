import Synchronization
import TaskKit

/// A response on its way from the network's thread to the one that reads it. Any thread.
final class ResponseChannel: Sendable {
    /// How many bytes wait here at most, and one step of decoding more: as many as a reader passes on in one call.
    static let windowBytes = pieceBytes
    /// Shorter pieces are put together, to as much as a reader passes on in one call.
    private static let pieceBytes = 64 << 10

    /// What comes next.
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
        /// The network's thread waits for room.
        var isFull = false
        /// The reader waits for the end: the body goes into its pipe.
        var isPoured = false
        /// How many bytes have gone into the pipe.
        var pouredBytes = 0

        var hasSomething: Bool { end != nil || !isPoured && (head != nil || byteCount > 0) }
    }

    private let state = Mutex(State())

    // MARK: The network's thread

    /// Whether more bytes may be put in. Where not, ``take()`` says when there is room.
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
                // Behind two long pieces more will come.
                if bytes.count >= 8 << 10 { state.pieces[state.pieces.count - 1].reserveCapacity(Self.pieceBytes) }
                state.pieces[state.pieces.count - 1] += bytes
            } else {
                state.pieces.append(Array(bytes))
            }
        }
    }

    /// What waits here, where the reader wants it in its pipe.
    func takeAll() -> [[UInt8]] {
        state.withLock { state in
            defer { (state.pieces, state.byteCount) = ([], 0) }
            return state.pieces
        }
    }

    /// - Parameter pouredBytes: How many bytes have gone into the reader's pipe.
    func finish(_ end: Result<TransferSummary, BridgeError>, pouredBytes: Int = 0) {
        state.withLock { state in
            guard state.end == nil else { return }
            (state.end, state.pouredBytes) = (end, pouredBytes)
        }
    }

    /// Wakes up the one that waits, where something has come.
    func wake() {
        state.withLock { state in state.hasSomething ? state.waiter.take() : nil }?.resume()
    }

    // MARK: The reader

    /// Whether the network's thread has nothing to do with it any more.
    var isOver: Bool { state.withLock { $0.end != nil } }

    /// Takes what is there; nil: nothing.
    ///
    /// - Returns: The event, and whether the network's thread is to be notified that there is capacity again.
    /// - Throws: Why the transfer failed, once all bytes that came have been taken.
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

    /// Waits for the end alone from now on. What has come by then and is not in the pipe is taken afterwards.
    func beginPouring() { state.withLock { $0.isPoured = true } }

    /// How many bytes have gone into the pipe. After the end.
    var pouredBytes: Int { state.withLock { $0.pouredBytes } }

    /// Waits until something is there.
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
