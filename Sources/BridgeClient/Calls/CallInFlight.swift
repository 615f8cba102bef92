import BridgeJSON
import BridgeMessage
import EventLoop

/// A program's request for a call.
struct CallRequest: Sendable {
    let task: String
    let options: JSON
    let session: SessionID?
    /// `nil` for as long as the task or the daemon allows.
    let timeout: Duration?
    let retry: Retry

    /// A year, the maximum to which the daemon limits timeouts. In practice it means no timeout.
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

/// The kind of a call.
enum CallKind {
    case plain
    /// The caller wants intermediate results.
    case withProgress
    /// The caller wants the descriptor that may arrive with the result.
    case withDescriptor
    /// The call gets no answer and ends when it is sent.
    case oneWay
}

/// A call that waits to be sent or has been sent. It has one final outcome, which all waiters get.
@LoopActor
final class CallInFlight {
    let id: UInt64
    let request: CallRequest
    let kind: CallKind
    /// Whether the call belongs to the start of a connection: over another connection it has no use.
    let isOfConnection: Bool
    /// The intermediate results. Beyond the limit the oldest are dropped, as may happen anywhere on the way.
    let progress: Mailbox<JSON>?
    private(set) var outcome: Result<JSON, BridgeError>?
    /// The descriptor that arrived with the result; `nil` if there is none.
    var descriptor: PassedDescriptor?
    /// The connection over which the call was sent; `nil` while it waits.
    private(set) var connection: ClientConnection?
    /// The position of its message in the output of that connection.
    private var position: UInt64 = 0
    private let madeAt: MonotonicInstant
    /// Ends the call in this client if nothing else does in time.
    private var deadline: (any ClientTimer)?
    private let waiting = AsyncSignal<Void>()

    /// The pauses between attempts.
    private var pauses = BackoffPauses(Retry.backoff)

    /// The minimum for the remaining timeout that is sent: the daemon does not accept 0.
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

    // MARK: Time

    /// Returns the moment at which the call is given up if it has not been sent.
    func latestSending(maximumWait: Duration) -> MonotonicInstant { madeAt + (request.timeout ?? maximumWait) }

    /// Returns the rest of its timeout; `nil` if it has none.
    func timeoutLeft(at now: MonotonicInstant) -> Duration? {
        request.timeout.map { max($0 - (now - madeAt), min($0, Self.shortestTimeout)) }
    }

    /// Returns the pause before the call is made again; `nil` if it is not made again.
    /// - Parameter chance: A number from 0 to 1, for the length of the pause.
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

    // MARK: Sending

    /// Returns the message to send now.
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

    /// Prepares the call to be sent over another connection, or again over this one: the daemon has not begun it.
    func waitsAgain() {
        connection = nil
    }

    /// Whether the daemon may have received a part of it.
    var mayHaveStarted: Bool { connection.map { $0.writtenEnd > position } ?? false }

    // MARK: The end

    func end(_ outcome: Result<JSON, BridgeError>) {
        guard self.outcome == nil else { return }
        self.outcome = outcome
        deadline?.close()
        progress?.finish(.success(()))
        waiting.resumeAll(())
    }

    /// Waits for the outcome; `nil` if the Swift task is cancelled first.
    func wait() async -> Result<JSON, BridgeError>? {
        if outcome == nil { _ = await waiting.wait() }
        return outcome
    }
}
