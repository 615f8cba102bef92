import Synchronization
import TaskKit

/// The body of a request on its way: filled on one side, taken by the connection on the other. Its beginning is kept,
/// for a request that must be sent again. Any thread.
final class RequestBody: Sendable {
    /// How many bytes from the beginning are kept.
    static let keptBytes = 1 << 20
    /// How far the side that fills it may be ahead.
    static let windowBytes = 256 << 10

    /// What the connection gets.
    enum Piece {
        case bytes([UInt8])
        /// None are there yet.
        case wait
        case end
        case failure(BridgeError)
    }

    private struct State {
        /// From the byte `start` of the body on.
        var bytes: [UInt8] = []
        var start = 0
        /// The next byte to send.
        var position = 0
        var end: Result<Void, BridgeError>?
        /// The side that fills it waits for room.
        var waiter: CheckedContinuation<Void, Never>?
        var isStopped = false
        /// Wakes the connection up, which waits for bytes.
        var onBytes: (@Sendable () -> Void)?

        var unsentCount: Int { start + bytes.count - position }
    }

    private let state: Mutex<State>
    /// The media type that goes with it; nil: none.
    let type: String?
    /// How many bytes it has; nil: not known before its end.
    let byteCount: Int?

    /// A body that is there.
    init(_ bytes: [UInt8], type: String?) {
        self.type = type
        byteCount = bytes.count
        state = Mutex(State(bytes: bytes, end: .success(())))
    }

    /// A body that is still to come.
    init(type: String?, byteCount: Int?) {
        self.type = type
        self.byteCount = byteCount
        state = Mutex(State())
    }

    // MARK: Filling

    /// Adds bytes, and waits for room where the connection is behind.
    ///
    /// - Throws: Where no connection takes them any more.
    func append(_ bytes: [UInt8]) async throws(BridgeError) {
        let wake = state.withLock { state in
            state.bytes += bytes
            return state.onBytes
        }
        wake?()
        while true {
            // Given up or sent, it is resumed.
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if state.isStopped || state.unsentCount < Self.windowBytes { return true }
                    state.waiter = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
            let (isStopped, unsent) = state.withLock { ($0.isStopped, $0.unsentCount) }
            if unsent < Self.windowBytes { return }
            if isStopped { throw .fetchCancelled }
        }
    }

    /// These were all the bytes, or no more can be had.
    func finish(_ end: Result<Void, BridgeError>) {
        let wake = state.withLock { state in
            state.end = end
            return state.onBytes
        }
        wake?()
    }

    /// No connection takes any more of it.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            state.onBytes = nil
            return state.waiter.take()
        }?.resume()
    }

    // MARK: Sending

    /// Begins at its beginning.
    ///
    /// - Parameter onBytes: Called, on any thread, when there are bytes again, or its end.
    /// - Returns: Whether that is still there.
    func rewind(onBytes: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            state.onBytes = onBytes
            return Self.rewind(&state)
        }
    }

    /// Begins at its beginning, for the same connection.
    func rewind() -> Bool { state.withLock { Self.rewind(&$0) } }

    private static func rewind(_ state: inout State) -> Bool {
        guard state.start == 0 else { return false }
        state.position = 0
        return true
    }

    /// All bytes, where they are there and no more than so many; nil: they are not, or are more.
    func whole(upTo maximum: Int) -> [UInt8]? {
        state.withLock { state in
            guard case .success = state.end, state.start == 0, state.bytes.count <= maximum else { return nil }
            return state.bytes
        }
    }

    /// Whether all bytes are there that were announced.
    var isWhole: Bool { state.withLock { $0.start + $0.bytes.count == byteCount } }

    /// The next bytes for the connection.
    ///
    /// - Parameter maximum: How many it takes at most.
    func next(upTo maximum: Int) -> Piece {
        let (piece, waiter) = state.withLock { state -> (Piece, CheckedContinuation<Void, Never>?) in
            let unsent = state.unsentCount
            guard unsent > 0 else {
                switch state.end {
                case nil: return (.wait, nil)
                case .success: return (.end, nil)
                case .failure(let error): return (.failure(error), nil)
                }
            }
            let first = state.position - state.start
            let bytes = Array(state.bytes[first..<(first + min(unsent, maximum))])
            state.position += bytes.count
            Self.forget(&state, isWhole: byteCount != nil && state.end != nil && state.start == 0)
            return (.bytes(bytes), state.unsentCount < Self.windowBytes / 2 ? state.waiter.take() : nil)
        }
        waiter?.resume()
        return piece
    }

    /// Drops what was sent and lies beyond what is kept, in pieces, so that little is moved.
    private static func forget(_ state: inout State, isWhole: Bool) {
        let sent = state.position - state.start
        let isBeyond = state.start > 0 || state.start + state.bytes.count > keptBytes
        guard !isWhole, isBeyond, sent >= windowBytes, state.position > keptBytes else { return }
        state.bytes.removeFirst(sent)
        state.start = state.position
    }
}
