import BridgeJSON
import BridgeMessage
import EventLoop
import Glibc

/// One socket to the daemon: input lines, output messages.
///
/// Input is read independently of the output, so that two ends with much unsent output never wait for each other.
/// Output is bounded: senders wait for room.
@LoopActor
final class ClientConnection {
    /// The number of unwritten output bytes beyond which senders wait.
    var roomBytes: Int
    /// The room for progress, which never waits. Any thread.
    nonisolated let progressRoom: ProgressRoom
    /// The number of attempts if the daemon's queue of new connections is full, and the pause between them.
    private static let connectAttempts = 50
    private static let connectPause = Duration.milliseconds(20)

    /// The session to which the messages belong; its link retains this connection. Set once, right after the connection
    /// is made.
    weak var session: ClientSession?
    /// The maximum length of a message that the daemon accepts.
    var messageBytes = DaemonInfo.defaultMessageBytes
    /// The reason why the connection ended; `nil` while it is open.
    private(set) var failure: BridgeError?
    /// The number of bytes that the socket has accepted so far.
    private(set) var writtenEnd: UInt64 = 0
    /// The position at which the next message will begin, in the units of `writtenEnd`.
    var queuedEnd: UInt64 { writtenEnd + UInt64(output.count) }
    /// Whether the daemon has ended the session on a user's request, so that the client must not reconnect.
    private(set) var isEndedOnPurpose = false

    private let stream: UnixStream
    private let output = OutputBuffer()
    private var splitter: MessageSplitter
    private let decoder = MessageDecoder()
    private var turnEnd: TurnEndHook?
    private let room = AsyncSignal<Void>()
    private let ending = AsyncSignal<Void>()
    /// Whether only the queued output is still sent.
    private var isFinishing = false
    private var isShutDown = false
    /// The reason of the end that the daemon sent right before it. Other clients may publish events of the same name;
    /// after those another message arrives, or the connection stays open.
    private var announcedEnd: BridgeError?
    /// An error that the daemon sent about the whole connection and not about a call, as it does when it turns a client
    /// away.
    private(set) var rejection: BridgeError?
    private let timers: any ClientTimers
    /// The received descriptors, in the order of the results that they belong to.
    private var descriptors: [PassedDescriptor] = []
    /// More than a daemon sends without waiting for an answer; further ones are closed.
    private static let maximumDescriptors = 64

    private init(_ stream: UnixStream, _ limits: Bridge.Limits, _ timers: any ClientTimers) {
        self.stream = stream
        roomBytes = limits.maximumQueuedBytes
        progressRoom = ProgressRoom(bytes: limits.maximumQueuedBytes)
        splitter = MessageSplitter(maximumLineBytes: limits.maximumLineBytes)
        self.timers = timers
        stream.delegate = self
        stream.onDescriptor = { [weak self] socket in self?.add(PassedDescriptor(adopting: socket.release())) }
        stream.startReading()
        turnEnd = EventLoop.atTurnEnd { [weak self] in self?.flush() }
    }

    static func connect(
        path: String, limits: Bridge.Limits, timers: any ClientTimers
    ) async throws(BridgeError) -> ClientConnection {
        for _ in 0..<connectAttempts {
            do throws(SystemError) {
                return ClientConnection(try UnixStream.connect(path: path), limits, timers)
            } catch {
                guard error.code != EACCES else { throw .closedToUs(path) }
                guard error.code == EAGAIN else { throw .unreachable(path, error.reason) }
            }
            await withCheckedContinuation { continuation in
                _ = timers.after(connectPause) { continuation.resume() }
            }
        }
        throw .unreachable(path, "too many connections are waiting to be accepted")
    }

    // MARK: Output

    /// Whether another message may be sent without waiting.
    var hasRoom: Bool { failure == nil && !isFinishing && output.count <= roomBytes }

    /// Waits until there is room for another message.
    ///
    /// - Parameter isOver: Whether the caller no longer needs to wait; called at each ``lookAgain()``.
    /// - Throws: The reason why the connection ended; `call.cancelled` if the Swift task is cancelled.
    func waitForRoom(for task: String, unless isOver: () -> Bool = { false }) async throws(BridgeError) {
        while !isOver() {
            if let failure { throw failure }
            if isFinishing { throw .closedHere }
            if output.count <= roomBytes { return }
            guard await room.wait() != nil else { throw .cancelledHere(task, started: false) }
        }
    }

    /// Wakes all calls that wait for room, because one of them no longer needs to.
    func lookAgain() { room.resumeAll(()) }

    /// Lets `write` append messages, which are sent at the end of the turn.
    func send(_ write: (OutputBuffer) -> Void) {
        guard failure == nil, !isFinishing else { return }
        write(output)
        progressRoom.isOpen = hasRoom
    }

    private func flush() {
        guard failure == nil else { return }
        defer { progressRoom.isOpen = hasRoom }
        while !output.isEmpty {
            let writtenBytes = stream.write(output.bytes)
            guard writtenBytes > 0 else { return }
            output.removeFirst(writtenBytes)
            writtenEnd += UInt64(writtenBytes)
        }
        if isFinishing, !isShutDown {
            isShutDown = true
            stream.shutdownWrite()
        }
        if !room.isEmpty { room.resumeAll(()) }
    }

    // MARK: Input

    private func add(_ descriptor: PassedDescriptor) {
        if descriptors.count < Self.maximumDescriptors { descriptors.append(descriptor) }
    }

    /// Takes the descriptor of the current result; `nil` if the system could not pass it.
    func takeDescriptor() -> PassedDescriptor? { descriptors.isEmpty ? nil : descriptors.removeFirst() }

    private func receive(_ line: SplitLine) -> Bool {
        _ = decoder.decode(line) { item in
            announcedEnd = nil
            switch item {
            case .call(let call): session?.provided.receive(call.pointee, from: self)
            case .message(let message):
                if case .event(let event) = message.pointee { announcedEnd = Self.announcedEnd(event) }
                session?.receive(message.pointee, from: self)
            case .problem(let problem):
                rejection = Self.rejection(line)
                session?.receive(problem.pointee)
            }
            return failure == nil
        }
        return failure == nil
    }

    // MARK: The end

    /// Returns the error in a line that is about no call.
    private static func rejection(_ line: SplitLine) -> BridgeError? {
        guard case .line(let bytes) = line, let json = try? JSON(parsing: bytes), json["callbackId"] == .null else {
            return nil
        }
        return json["error"].flatMap { BridgeError(json: $0) }
    }

    private static func announcedEnd(_ event: EventMessage) -> BridgeError? {
        if event.isNamed("web.close") {
            return .closedOnPurpose(info: (try? JSON(parsing: event.data))?["info"] ?? nil)
        }
        if event.isNamed("session.lost") {
            return .lost(
                (try? JSON(parsing: event.data))?["reason"]?.stringValue ?? "the next daemon did not take it over")
        }
        return nil
    }

    /// Writes the queued output, shuts down the write direction, and waits until the daemon closes its own or `timeout`
    /// has passed.
    func finish(timeout: Duration) async {
        guard failure == nil else { return }
        isFinishing = true
        progressRoom.isOpen = false
        flush()
        let timer = timers.after(timeout) { [weak self] in self?.close(.closedHere) }
        _ = await ending.wait()
        timer.close()
        close(.closedHere)
    }

    /// Whether a call at the start of this connection failed because of the connection, and not because of the call.
    func isUseless(after error: BridgeError) -> Bool {
        failure != nil || [.callTimeout, .sessionClosed, .daemonStopping].contains(error.code)
    }

    /// Closes the connection now. Everything that waits ends with this error.
    func close(_ reason: BridgeError) {
        guard failure == nil else { return }
        failure = reason
        progressRoom.isOpen = false
        turnEnd?.remove()
        descriptors = []
        stream.close()
        session?.connectionEnded(self, reason)
        room.resumeAll(())
        ending.resumeAll(())
    }

    private func lost(_ how: String) {
        if isFinishing { return close(.closedHere) }
        if let announcedEnd { isEndedOnPurpose = !announcedEnd.isTransient }
        close(announcedEnd ?? .lost(how))
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

extension EventMessage {
    /// Whether the event has this name. Creates no string.
    func isNamed(_ name: String) -> Bool { self.name.elementsEqual(name.utf8) }
}
