import Synchronization
import TaskKit

/// A body that is received and stored at the same time. One writer publishes the new length after each write, and
/// readers follow it.
///
/// A body that does not fit into a row is written into a file, but readers that keep up are served from memory. A body
/// that cannot be stored after all continues for its existing readers, and the writer then waits for them. Any thread.
final class GrowingBody: Sendable {
    /// The number of bytes in memory beside the file: as many as a transfer holds for its reader.
    static let windowBytes = ResponseChannel.windowBytes
    /// The maximum length up to which short pieces are combined.
    private static let pieceBytes = 32 << 10

    private struct Piece {
        var place: Int64
        var bytes: [UInt8]
        var end: Int64 { place + Int64(bytes.count) }
    }

    private struct Reader {
        var place: Int64
        var waiter: CheckedContinuation<Void, Never>?
    }

    private struct State {
        /// The pieces in memory, without gaps, up to `end`.
        var pieces: [Piece] = []
        var end: Int64
        /// The position up to which the file contains the bytes.
        var filed: Int64
        var file: BodyFile?
        /// Whether all bytes are kept, in the file or here.
        var isKept = true
        var result: Result<Void, BridgeError>?
        var readers: [UInt64: Reader] = [:]
        var lastReader: UInt64 = 0
        /// Whether the transfer is being abandoned: no further reader is added.
        var isGivenUp = false
        var writer: CheckedContinuation<Void, Never>?

        var windowStart: Int64 { pieces.first?.place ?? end }
    }

    /// The position of the first byte in the whole body.
    let base: Int64
    private let state: Mutex<State>
    /// Called when the last reader has left before the end, with the argument of ``giveUp(_:)``.
    private let onAbandoned: @Sendable (GrowingBody, Abandonment) -> Void

    /// One time at which the last reader has left. A later reader begins another one.
    struct Abandonment: Equatable, Sendable {
        fileprivate var lastReader: UInt64
    }

    init(base: Int64 = 0, onAbandoned: @escaping @Sendable (GrowingBody, Abandonment) -> Void) {
        (self.base, self.onAbandoned) = (base, onAbandoned)
        state = Mutex(State(end: base, filed: base))
    }

    // MARK: The writer

    /// Publishes the next bytes.
    func append(_ bytes: [UInt8]) {
        let waiters = state.withLock { state in
            if let last = state.pieces.last, last.bytes.count + bytes.count <= Self.pieceBytes, last.end == state.end {
                state.pieces[state.pieces.count - 1].bytes += bytes
            } else {
                state.pieces.append(Piece(place: state.end, bytes: bytes))
            }
            state.end += Int64(bytes.count)
            return Self.takeWaiters(&state)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// The position of the next byte.
    var end: Int64 { state.withLock { $0.end } }

    /// Whether all received bytes are kept.
    var isKept: Bool { state.withLock { $0.isKept } }

    /// Set while the body had readers and all of them have left.
    var abandonment: Abandonment? { state.withLock { Self.abandonment($0) } }

    private static func abandonment(_ state: State) -> Abandonment? {
        state.lastReader > 0 && state.readers.isEmpty ? Abandonment(lastReader: state.lastReader) : nil
    }

    /// Refuses further readers, so that the transfer can be cancelled.
    ///
    /// - Returns: False if a reader was added since the last one left.
    func giveUp(_ abandonment: Abandonment) -> Bool {
        state.withLock { state in
            guard Self.abandonment(state) == abandonment else { return false }
            state.isGivenUp = true
            return true
        }
    }

    /// The bytes that are not in the file yet, and their position.
    var unfiled: (place: Int64, bytes: [UInt8]) {
        state.withLock { state in
            let place = max(state.filed, state.windowStart)
            let bytes = state.pieces.flatMap { piece in piece.bytes.dropFirst(Int(max(0, place - piece.place))) }
            return (place, bytes)
        }
    }

    /// Records that the file contains the bytes up to a position.
    func note(filed place: Int64, in file: BodyFile) {
        state.withLock { state in
            (state.file, state.filed) = (file, place)
            Self.trim(&state)
        }
    }

    /// Stops storing. Further bytes are only for the existing readers.
    func stopKeeping() {
        state.withLock { state in
            state.isKept = false
            // Frees the bytes that all readers have read. The writer waits only for this room.
            Self.trim(&state)
        }
    }

    /// Waits until the readers of a body that is not kept have read enough of it.
    func waitForRoom() async {
        await withCheckedContinuation { continuation in
            let hasRoom = state.withLock { state in
                if Self.hasRoom(state) { return true }
                state.writer = continuation
                return false
            }
            if hasRoom { continuation.resume() }
        }
    }

    /// Ends the body.
    func finish(_ result: Result<Void, BridgeError>) {
        let waiters = state.withLock { state in
            state.result = result
            return Self.takeWaiters(&state)
        }
        for waiter in waiters { waiter.resume() }
    }

    private static func hasRoom(_ state: State) -> Bool {
        state.isKept || state.readers.isEmpty
            || state.end - max(state.filed, state.windowStart) < Int64(windowBytes)
    }

    private static func takeWaiters(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
        var waiters: [CheckedContinuation<Void, Never>] = []
        for id in state.readers.keys {
            if let waiter = state.readers[id]?.waiter.take() { waiters.append(waiter) }
        }
        return waiters
    }

    /// Drops pieces that are in the file, and for a body that is not kept also those that all readers have read.
    private static func trim(_ state: inout State) {
        var first = 0
        let slowest =
            state.isKept ? state.filed : max(state.filed, state.readers.values.map(\.place).min() ?? state.end)
        while first < state.pieces.count, state.pieces[first].end <= slowest,
            !state.isKept || state.end - state.pieces[first].end >= Int64(windowBytes)
        { first += 1 }
        state.pieces.removeFirst(first)
    }

    // MARK: Readers

    /// Adds a reader; returns `nil` if the body has ended or is given up, or some bytes are no longer kept.
    func reader() -> GrowingReader? {
        let id = state.withLock { state -> UInt64? in
            guard state.isKept, !state.isGivenUp, state.result == nil else { return nil }
            state.lastReader += 1
            state.readers[state.lastReader] = Reader(place: base)
            return state.lastReader
        }
        return id.map { GrowingReader(self, $0) }
    }

    /// The next step of a reader.
    fileprivate enum Step {
        case bytes([UInt8])
        /// The next bytes are in the file.
        case file(BodyFile, place: Int64, count: Int)
        case wait
        case end(Result<Void, BridgeError>)
    }

    fileprivate func step(_ id: UInt64) -> Step {
        let (step, writer) = state.withLock { state -> (Step, CheckedContinuation<Void, Never>?) in
            guard let place = state.readers[id]?.place else { return (.end(.failure(.fetchCancelled)), nil) }
            guard place < state.end else { return (state.result.map { .end($0) } ?? .wait, nil) }
            if let piece = state.pieces.first(where: { $0.end > place }), piece.place <= place {
                state.readers[id]?.place = piece.end
                let bytes = place == piece.place ? piece.bytes : Array(piece.bytes.dropFirst(Int(place - piece.place)))
                return (.bytes(bytes), Self.madeRoom(&state))
            }
            guard let file = state.file, place < state.filed else { return (.end(.failure(.fetchCancelled)), nil) }
            let count = min(Int64(Self.pieceBytes), state.filed - place)
            state.readers[id]?.place = place + count
            return (.file(file, place: place, count: Int(count)), Self.madeRoom(&state))
        }
        writer?.resume()
        return step
    }

    private static func madeRoom(_ state: inout State) -> CheckedContinuation<Void, Never>? {
        guard !state.isKept else { return nil }
        trim(&state)
        return hasRoom(state) ? state.writer.take() : nil
    }

    fileprivate func wait(_ id: UInt64) async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                guard let place = state.readers[id]?.place, place >= state.end, state.result == nil else { return true }
                state.readers[id]?.waiter = continuation
                return false
            }
            if isReady { continuation.resume() }
        }
    }

    fileprivate func leave(_ id: UInt64) {
        typealias Left = (
            waiter: CheckedContinuation<Void, Never>?, writer: CheckedContinuation<Void, Never>?, end: Abandonment?
        )
        let left = state.withLock { state -> Left? in
            guard let reader = state.readers.removeValue(forKey: id) else { return nil }
            return (reader.waiter, Self.madeRoom(&state), state.result == nil ? Self.abandonment(state) : nil)
        }
        left?.waiter?.resume()
        left?.writer?.resume()
        if let end = left?.end { onAbandoned(self, end) }
    }
}

/// A reader of a growing body, from its beginning. It leaves when the last reference to it is released.
final class GrowingReader: Sendable {
    private let body: GrowingBody
    private let id: UInt64

    fileprivate init(_ body: GrowingBody, _ id: UInt64) { (self.body, self.id) = (body, id) }

    deinit { body.leave(id) }

    /// Ends the reading. Any thread.
    func leave() { body.leave(id) }

    /// Returns the next bytes; `nil` at the end.
    ///
    /// - Parameter threads: The threads that read files.
    /// - Throws: The error that ended the body early; `call.cancelled` if the Swift task is cancelled.
    func next(_ threads: BlockingThreads, of uid: UInt32) async throws(BridgeError) -> [UInt8]? {
        while true {
            switch body.step(id) {
            case .bytes(let bytes): return bytes
            case .end(let result):
                try result.get()
                return nil
            case .file(let file, let place, let count):
                return try await file.read(count, at: place, on: threads, of: uid)
            case .wait:
                await withTaskCancellationHandler {
                    await body.wait(id)
                } onCancel: {
                    // Never resume here: the handler runs while the Swift runtime updates the task that this would
                    // resume.
                    threads.submit { self.leave() }
                }
            }
        }
    }
}
