import BridgeJSON
import BridgeMessage
import EventLoop

/// What a program asks for.
struct CallRequest: Sendable {
    let task: String
    let options: JSON
    let session: SessionID?
    /// Nil: as long as the task or the daemon allows.
    let timeout: Duration?
    let retry: Retry

    /// The longest that the daemon knows, a year; it takes it for none.
    private static let unlimited = Duration.seconds(366 * 24 * 3_600)

    init(
        _ task: String, _ options: JSON, session: SessionID? = nil, timeout: Timeout = .standard, retry: Retry = .never
    ) {
        self.task = task
        self.options = options
        self.session = session
        self.timeout = timeout == .unlimited ? Self.unlimited : timeout.duration
        self.retry = retry
    }
}

/// How a call is made.
enum CallKind {
    case plain
    /// Intermediate results are wanted.
    case withProgress
    /// The descriptor that may come with the result is wanted.
    case withDescriptor
    /// It gets no answer: it ends when it is sent.
    case oneWay
}

/// A call that waits to be sent, or has been: one terminal outcome, which all who wait get.
@LoopActor
final class CallInFlight {
    let id: UInt64
    let request: CallRequest
    let kind: CallKind
    /// Part of what a new connection begins with: it is not worth anything over another one.
    let isOfConnection: Bool
    /// Intermediate results, newest kept: beyond the bound the oldest go, as they may anywhere on the way.
    let progress: Mailbox<JSON>?
    private(set) var outcome: Result<JSON, BridgeError>?
    /// What came with the result; nil: nothing.
    var descriptor: PassedDescriptor?
    /// Over what it was sent; nil while it waits.
    private(set) var connection: ClientConnection?
    /// Where its message begins among the bytes of that connection.
    private var position: UInt64 = 0
    private let madeAt: MonotonicInstant
    /// Ends the call here where nothing else does in time.
    private var deadline: (any ClientTimer)?
    private let waiting = AsyncSignal<Void>()

    /// The pauses between attempts.
    private var pauses = BackoffPauses(Retry.backoff)

    /// What is left of a timeout goes out as at least this much: 0 is no timeout that the daemon takes.
    private static let shortestTimeout = Duration.milliseconds(1)

    init(
        id: UInt64, _ request: CallRequest, _ kind: CallKind, isOfConnection: Bool, at now: MonotonicInstant,
        maximumProgress: Int
    ) {
        self.id = id
        self.request = request
        self.kind = kind
        self.isOfConnection = isOfConnection
        madeAt = now
        progress = kind == .withProgress ? Mailbox(capacity: maximumProgress) : nil
    }

    // MARK: Its time

    /// When it is given up if it has not been sent.
    func latestSending(maximumWait: Duration) -> MonotonicInstant { madeAt + (request.timeout ?? maximumWait) }

    /// What is left of its timeout.
    func timeoutLeft(at now: MonotonicInstant) -> Duration? {
        request.timeout.map { max($0 - (now - madeAt), min($0, Self.shortestTimeout)) }
    }

    /// How long to wait before it is made again; nil: it is not.
    /// - Parameter chance: From 0 to 1, for the length of the pause.
    func pause(after error: BridgeError, chance: Double, at now: MonotonicInstant) -> Duration? {
        guard request.retry.allows(error), pauses.attempts + 1 < Retry.maximumAttempts else { return nil }
        let growing = pauses.next(chance: chance)
        let pause = error.retryAfter ?? growing
        if let timeout = request.timeout, pause >= timeout - (now - madeAt) { return nil }
        return pause
    }

    func arm(_ deadline: (any ClientTimer)?) {
        self.deadline?.close()
        self.deadline = deadline
    }

    // MARK: Where it is

    /// What goes out for it now.
    func message(at now: MonotonicInstant) -> OutputBuffer {
        let message = OutputBuffer()
        JSON.string(request.task).bytes.withUnsafeBytes { task in
            request.options.bytes.withUnsafeBytes { options in
                var outgoing = OutgoingCall(quotedTask: task, options: options)
                outgoing.id = kind == .oneWay ? nil : id
                outgoing.setTimeout(timeoutLeft(at: now))
                outgoing.wantsProgress = kind == .withProgress
                outgoing.session = request.session?.rawValue
                MessageEncoder.call(outgoing, to: message)
            }
        }
        return message
    }

    func wasSent(over connection: ClientConnection) {
        self.connection = connection
        position = connection.queuedEnd
    }

    /// It goes over another connection, or over this one once more: the daemon has not begun it.
    func waitsAgain() {
        connection = nil
    }

    /// Whether the daemon may have got some of it.
    var mayHaveStarted: Bool { connection.map { $0.writtenEnd > position } ?? false }

    // MARK: Its end

    func end(_ outcome: Result<JSON, BridgeError>) {
        guard self.outcome == nil else { return }
        self.outcome = outcome
        deadline?.close()
        progress?.finish(.success(()))
        waiting.resumeAll(())
    }

    /// The outcome; nil where the Swift task is cancelled first.
    func wait() async -> Result<JSON, BridgeError>? {
        if outcome == nil { _ = await waiting.wait() }
        return outcome
    }
}
