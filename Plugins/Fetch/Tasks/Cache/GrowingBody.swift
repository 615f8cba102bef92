import Synchronization
import TaskKit

/// A body that comes and is stored: one writer, and readers that follow a length which is published after the write.
///
/// What does not fit into a row goes into a file, while readers that keep up are served from memory. A body that cannot
/// be stored after all goes on for those that read it already; the writer waits for them then. Any thread.
final class GrowingBody: Sendable {
    /// How many bytes are in memory beside the file: as many as a transfer holds for its reader.
    static let windowBytes = ResponseChannel.windowBytes
    /// Shorter pieces are put together.
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
        /// Without gaps, up to `end`.
        var pieces: [Piece] = []
        var end: Int64
        /// Up to where the file has the bytes.
        var filed: Int64
        var file: BodyFile?
        /// Whether all bytes are kept: in the file, or here.
        var isKept = true
        var result: Result<Void, BridgeError>?
        var readers: [UInt64: Reader] = [:]
        var lastReader: UInt64 = 0
        var hadReaders = false
        var writer: CheckedContinuation<Void, Never>?

        var windowStart: Int64 { pieces.first?.place ?? end }
    }

    /// Where the first byte belongs in the whole body.
    let base: Int64
    private let state: Mutex<State>
    /// Called when the last reader has gone before the end.
    private let onAbandoned: @Sendable () -> Void

    init(base: Int64 = 0, onAbandoned: @escaping @Sendable () -> Void) {
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

    /// Where the next byte belongs.
    var end: Int64 { state.withLock { $0.end } }

    /// Whether all bytes that came are kept.
    var isKept: Bool { state.withLock { $0.isKept } }

    /// Whether all that read it have gone.
    var isAbandoned: Bool { state.withLock { $0.hadReaders && $0.readers.isEmpty } }

    /// The bytes that are not in the file yet, and where they belong.
    var unfiled: (place: Int64, bytes: [UInt8]) {
        state.withLock { state in
            let place = max(state.filed, state.windowStart)
            let bytes = state.pieces.flatMap { piece in piece.bytes.dropFirst(Int(max(0, place - piece.place))) }
            return (place, bytes)
        }
    }

    /// The file has the bytes up to a place now.
    func note(filed place: Int64, in file: BodyFile) {
        state.withLock { state in
            (state.file, state.filed) = (file, place)
            Self.trim(&state)
        }
    }

    /// The bytes that come from now on are for those that read it already.
    func stopKeeping() {
        state.withLock { state in
            state.isKept = false
            // What all have read makes room: they do not read it again, and the writer waits for nothing else.
            Self.trim(&state)
        }
    }

    /// Waits until those that read a body which is not kept have taken enough of it.
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

    /// The body has ended.
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

    /// Drops pieces that the file has, and in a body that is not kept those that all have read.
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

    /// Begins to read; nil: it has ended, or bytes are missing already.
    func reader() -> GrowingReader? {
        let id = state.withLock { state -> UInt64? in
            guard state.isKept, state.result == nil else { return nil }
            state.lastReader += 1
            state.hadReaders = true
            state.readers[state.lastReader] = Reader(place: base)
            return state.lastReader
        }
        return id.map { GrowingReader(self, $0) }
    }

    /// What a reader does next.
    fileprivate enum Step {
        case bytes([UInt8])
        /// They are in the file.
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
        let (waiter, writer, isLast) = state.withLock { state in
            guard let reader = state.readers.removeValue(forKey: id) else {
                return (nil as CheckedContinuation<Void, Never>?, nil as CheckedContinuation<Void, Never>?, false)
            }
            return (reader.waiter, Self.madeRoom(&state), state.readers.isEmpty && state.result == nil)
        }
        waiter?.resume()
        writer?.resume()
        if isLast { onAbandoned() }
    }
}

/// One who reads a growing body from its beginning. It leaves when nobody holds this any more.
final class GrowingReader: Sendable {
    private let body: GrowingBody
    private let id: UInt64

    fileprivate init(_ body: GrowingBody, _ id: UInt64) { (self.body, self.id) = (body, id) }

    deinit { body.leave(id) }

    /// Ends the reading. Any thread.
    func leave() { body.leave(id) }

    /// The next bytes; nil: the end.
    ///
    /// - Parameter threads: Where files are read.
    /// - Throws: Why the body does not come to its end; `call.cancelled` where the Swift task is cancelled.
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
                    // Never immediately: the handler runs inside Swift's bookkeeping of the task that this would
                    // resume.
                    threads.submit { self.leave() }
                }
            }
        }
    }
}
