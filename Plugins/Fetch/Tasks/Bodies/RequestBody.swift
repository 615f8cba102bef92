import Synchronization
import TaskKit

/// The body of a request: a producer fills it, and the connection takes its bytes. Its beginning is kept for a request
/// that must be sent again. Any thread.
final class RequestBody: Sendable {
    /// The number of bytes that are kept from the beginning.
    static let keptBytes = 1 << 20
    /// The maximum number of unsent bytes before the producer waits.
    static let windowBytes = 256 << 10

    /// The next piece for the connection.
    enum Piece {
        case bytes([UInt8])
        /// No bytes are available yet.
        case wait
        case end
        case failure(BridgeError)
    }

    private struct State {
        /// The bytes of the body from `start` on.
        var bytes: [UInt8] = []
        var start = 0
        /// The next byte to send.
        var position = 0
        var end: Result<Void, BridgeError>?
        /// The producer, if it waits for room.
        var waiter: CheckedContinuation<Void, Never>?
        var isStopped = false
        /// Wakes the connection, which waits for bytes.
        var onBytes: (@Sendable () -> Void)?

        var unsentCount: Int { start + bytes.count - position }
    }

    private let state: Mutex<State>
    /// The media type; `nil` if there is none.
    let type: String?
    /// The number of bytes; `nil` if it is unknown before the end.
    let byteCount: Int?

    /// Creates a complete body.
    init(_ bytes: [UInt8], type: String?) {
        self.type = type
        byteCount = bytes.count
        state = Mutex(State(bytes: bytes, end: .success(())))
    }

    /// Creates a body that will be filled.
    init(type: String?, byteCount: Int?) {
        self.type = type
        self.byteCount = byteCount
        state = Mutex(State())
    }

    // MARK: Filling

    /// Adds bytes, and waits for room if the connection is behind.
    ///
    /// - Throws: If the body was stopped, so that no connection takes the bytes.
    func append(_ bytes: [UInt8]) async throws(BridgeError) {
        let wake = state.withLock { state in
            state.bytes += bytes
            return state.onBytes
        }
        wake?()
        while true {
            // `stop()` and `next(upTo:)` resume the continuation.
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

    /// Ends the body: all bytes were added, or no more can be obtained.
    func finish(_ end: Result<Void, BridgeError>) {
        let wake = state.withLock { state in
            state.end = end
            return state.onBytes
        }
        wake?()
    }

    /// Stops the body: no connection takes any more bytes.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            state.onBytes = nil
            return state.waiter.take()
        }?.resume()
    }

    // MARK: Sending

    /// Restarts sending at the beginning.
    ///
    /// - Parameter onBytes: Called on any thread when more bytes or the end are available.
    /// - Returns: Whether the beginning is still kept.
    func rewind(onBytes: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            state.onBytes = onBytes
            return Self.rewind(&state)
        }
    }

    /// Restarts sending at the beginning, for the same connection.
    func rewind() -> Bool { state.withLock { Self.rewind(&$0) } }

    private static func rewind(_ state: inout State) -> Bool {
        guard state.start == 0 else { return false }
        state.position = 0
        return true
    }

    /// Returns all bytes; `nil` if the body is incomplete or has more than `maximum` bytes.
    func whole(upTo maximum: Int) -> [UInt8]? {
        state.withLock { state in
            guard case .success = state.end, state.start == 0, state.bytes.count <= maximum else { return nil }
            return state.bytes
        }
    }

    /// Whether all announced bytes have been added.
    var isWhole: Bool { state.withLock { $0.start + $0.bytes.count == byteCount } }

    /// Returns the next bytes for the connection.
    ///
    /// - Parameter maximum: The maximum number of bytes.
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

    /// Drops sent bytes beyond the kept beginning. It drops them in large pieces so that few bytes are moved.
    private static func forget(_ state: inout State, isWhole: Bool) {
        let sent = state.position - state.start
        let isBeyond = state.start > 0 || state.start + state.bytes.count > keptBytes
        guard !isWhole, isBeyond, sent >= windowBytes, state.position > keptBytes else { return }
        state.bytes.removeFirst(sent)
        state.start = state.position
    }
}
