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
    /// Beyond this much unwritten output, who wants to send waits.
    var roomBytes: Int
    /// Whether progress, which never waits, may be sent. Any thread.
    nonisolated let progressRoom: ProgressRoom
    /// A daemon whose queue of new connections is full is tried again so often, this long apart.
    private static let connectAttempts = 50
    private static let connectPause = Duration.milliseconds(20)

    /// Whose messages these are; its link holds this. Set once, right after the connection is made.
    weak var session: ClientSession?
    /// The longest message that the daemon takes.
    var messageBytes = DaemonInfo.defaultMessageBytes
    /// Why it is over; nil while it is not.
    private(set) var failure: BridgeError?
    /// How many bytes the socket has taken so far.
    private(set) var writtenEnd: UInt64 = 0
    /// Where the next message will begin, counted as `writtenEnd` is.
    var queuedEnd: UInt64 { writtenEnd + UInt64(output.count) }
    /// Whether the daemon has ended the session because a user wanted that, so that there shall be no other.
    private(set) var isEndedOnPurpose = false

    private let stream: UnixStream
    private let output = OutputBuffer()
    private var splitter: MessageSplitter
    private let decoder = MessageDecoder()
    private var turnEnd: TurnEndHook?
    private let room = AsyncSignal<Void>()
    private let ending = AsyncSignal<Void>()
    /// Nothing more is sent but what is queued.
    private var isFinishing = false
    private var isShutDown = false
    /// What the daemon gave as the reason of the end, which comes right behind it. Others may publish events of the
    /// same name; those are followed by something else, or by nothing.
    private var announcedEnd: BridgeError?
    /// What the daemon said about the whole connection and no call, as it does when it turns a client away.
    private(set) var rejection: BridgeError?
    private let timers: any ClientTimers
    /// Descriptors that came, in the order of the results that they belong to.
    private var descriptors: [PassedDescriptor] = []
    /// More than a daemon sends that waits for no answer; what is beyond is closed.
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
        throw .unreachable(path, "too many are waiting to be accepted")
    }

    // MARK: Out

    /// Whether another message may be sent without waiting.
    var hasRoom: Bool { failure == nil && !isFinishing && output.count <= roomBytes }

    /// Waits until there is room for another message.
    ///
    /// - Parameter isOver: whether no one waits any longer; asked at each ``lookAgain()``.
    /// - Throws: why the connection is over; `call.cancelled` where the Swift task is cancelled.
    func waitForRoom(for task: String, unless isOver: () -> Bool = { false }) async throws(BridgeError) {
        while !isOver() {
            if let failure { throw failure }
            if isFinishing { throw .closedHere }
            if output.count <= roomBytes { return }
            guard await room.wait() != nil else { throw .cancelledHere(task, started: false) }
        }
    }

    /// Wakes those who wait for room, because one of them no longer needs to.
    func lookAgain() { room.resumeAll(()) }

    /// Has `write` append messages, which leave at the end of the turn.
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

    // MARK: In

    private func add(_ descriptor: PassedDescriptor) {
        if descriptors.count < Self.maximumDescriptors { descriptors.append(descriptor) }
    }

    /// The descriptor that belongs to the result at hand; nil: the system could not pass it.
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

    /// The error of a line that is about no call.
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

    /// Writes what is queued, ends our direction and waits for the daemon to end its own, or for `timeout` to pass.
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

    /// Whether a call with which this connection began failed for the connection's sake, and not for its own.
    func isUseless(after error: BridgeError) -> Bool {
        failure != nil || [.callTimeout, .sessionClosed, .daemonStopping].contains(error.code)
    }

    /// Closes now. Everything that waits ends with that error.
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
    /// Whether it is of this name; no string is made for it.
    func isNamed(_ name: String) -> Bool { self.name.elementsEqual(name.utf8) }
}
