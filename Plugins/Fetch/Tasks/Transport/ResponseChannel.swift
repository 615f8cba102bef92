import Synchronization
import TaskKit

/// A response on its way from the network's thread to the one that reads it. Any thread.
final class ResponseChannel: Sendable {
    /// How many bytes wait here at most, and one step of decoding more: two pieces, each of which may have room for
    /// ``pieceBytes``.
    static let windowBytes = 2 * pieceBytes
    /// Shorter pieces are put together, to as much as a reader passes on at once.
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

        var hasSomething: Bool { head != nil || byteCount > 0 || end != nil }
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

    func put(_ bytes: [UInt8]) {
        state.withLock { state in
            state.byteCount += bytes.count
            if let last = state.pieces.last, last.count + bytes.count <= Self.pieceBytes {
                // Behind two long pieces more will come.
                if bytes.count >= 8 << 10 { state.pieces[state.pieces.count - 1].reserveCapacity(Self.pieceBytes) }
                state.pieces[state.pieces.count - 1] += bytes
            } else {
                state.pieces.append(bytes)
            }
        }
    }

    func finish(_ end: Result<TransferSummary, BridgeError>) {
        state.withLock { state in
            if state.end == nil { state.end = end }
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
    /// - Returns: The event, and whether the network's thread is to be told that there is room again.
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
