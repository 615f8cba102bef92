import BridgeJSON
import BridgeMessage
import EventLoop
import Glibc

/// One socket to the daemon: lines in, messages out.
///
/// Input is read whatever happens to the output, so that two ends that both have much to say never wait for each other.
/// Output is bounded by having those who want to send wait for room.
@LoopActor
final class ClientConnection {
    /// Beyond this much unwritten output, who wants to send waits: a few of the longest messages.
    var roomBytes = 4 << 20
    /// The longest line accepted: what the daemon sends is bounded by its own configuration; this only keeps a peer that
    /// is no daemon from filling the memory.
    private static let longestLineBytes = 256 << 20
    /// A daemon whose queue of new connections is full is tried again so often, this long apart.
    private static let connectAttempts = 50
    private static let connectPause = Duration.milliseconds(20)

    /// Whose messages these are. Set once, right after the connection is made.
    weak var session: ClientSession?
    /// The longest message that the daemon takes.
    var messageBytes = 1 << 20
    /// Why it is over; nil while it is not.
    private(set) var failure: BridgeError?

    private let stream: UnixStream
    private let output = OutputBuffer()
    private var splitter = MessageSplitter(maximumLineBytes: longestLineBytes)
    private let decoder = MessageDecoder()
    private var turnEnd: TurnEndHook?
    private let room = WaitingList<Void>()
    private let ending = WaitingList<Void>()
    /// Nothing more is sent but what is queued.
    private var isFinishing = false
    private var isShutDown = false

    private init(_ stream: UnixStream) {
        self.stream = stream
        stream.delegate = self
        stream.startReading()
        turnEnd = EventLoop.atTurnEnd { [weak self] in self?.flush() }
    }

    static func connect(path: String) async throws(BridgeError) -> ClientConnection {
        for _ in 0..<connectAttempts {
            do throws(SystemError) {
                return ClientConnection(try UnixStream.connect(path: path))
            } catch {
                guard error.code != EACCES else { throw .closedToUs(path) }
                guard error.code == EAGAIN else { throw .unreachable(path, error.reason) }
            }
            await pause()
        }
        throw .unreachable(path, "too many are waiting to be accepted")
    }

    private static func pause() async {
        await withCheckedContinuation { continuation in
            var timer: LoopTimer?
            timer = LoopTimer {
                timer?.close()
                timer = nil
                continuation.resume()
            }
            timer?.schedule(after: connectPause)
        }
    }

    // MARK: Out

    /// Waits until there is room for another message.
    /// - Throws: why the connection is over; `call.cancelled` where the Swift task is cancelled.
    func waitForRoom(for task: String) async throws(BridgeError) {
        while true {
            if let failure { throw failure }
            if isFinishing { throw .closedHere }
            if output.count <= roomBytes { return }
            guard await room.wait() != nil else { throw .cancelledHere(task, started: false) }
        }
    }

    /// Has `write` append messages, which leave at the end of the turn.
    func send(_ write: (OutputBuffer) -> Void) {
        guard failure == nil, !isFinishing else { return }
        write(output)
    }

    private func flush() {
        guard failure == nil else { return }
        while !output.isEmpty {
            let writtenBytes = stream.write(output.bytes)
            guard writtenBytes > 0 else { return }
            output.removeFirst(writtenBytes)
        }
        if isFinishing, !isShutDown {
            isShutDown = true
            stream.shutdownWrite()
        }
        if !room.isEmpty { room.resumeAll(()) }
    }

    // MARK: In

    private func receive(_ line: SplitLine) -> Bool {
        _ = decoder.decode(line) { item in
            switch item {
            case .call(let call): session?.provided.receive(call.pointee)
            case .message(let message): session?.receive(message.pointee)
            case .problem(let problem): session?.receive(problem.pointee)
            }
            return failure == nil
        }
        return failure == nil
    }

    // MARK: The end

    /// Writes what is queued, ends our direction and waits for the daemon to end its own, or for `patience` to pass.
    func finish(patience: Duration) async {
        guard failure == nil else { return }
        isFinishing = true
        flush()
        let timer = LoopTimer { [weak self] in self?.close(.closedHere) }
        timer.schedule(after: patience)
        _ = await ending.wait()
        timer.close()
        close(.closedHere)
    }

    /// Closes now. Everything that waits ends with that error.
    func close(_ reason: BridgeError) {
        guard failure == nil else { return }
        failure = reason
        turnEnd?.remove()
        stream.close()
        session?.connectionEnded(reason)
        room.resumeAll(())
        ending.resumeAll(())
    }

    /// Waits for the end.
    func ended() async -> BridgeError {
        if failure == nil { _ = await ending.wait() }
        return failure ?? .cancelledHere("waiting for the end", started: false)
    }

    private func lost(_ how: String) {
        let error = BridgeError(
            .sessionClosed, "the connection to the daemon was lost (\(how)); whether the task had begun is not known",
            isTransient: true)
        close(isFinishing ? .closedHere : error)
    }
}

extension ClientConnection: UnixStreamDelegate {
    func read(bytes: UnsafeRawBufferPointer) {
        _ = splitter.consume(bytes) { receive($0) }
    }

    func endOfInput() { lost("it ended its output") }

    func hangUp() { lost("it hung up") }

    func writable() { flush() }

    func failed(_ error: SystemError) { lost("\(error)") }
}
