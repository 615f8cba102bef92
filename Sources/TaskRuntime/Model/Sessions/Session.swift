import BridgeJSON
public import BridgeMessage

/// Output that clients have not read yet.
struct UnreadOutput {
    var bytes = 0
    var events = 0
}

/// One client, from its connection to its end: its identity, its description of itself, its calls, its tasks and its
/// subscriptions. Loop thread only.
public final class Session {
    /// The phases of a session.
    enum Phase {
        /// Messages go both ways.
        case open
        /// The client sends nothing more, but still receives outstanding answers.
        case inputEnded
        /// The session is being closed; waiting output is still written.
        case closing
        /// The session has ended. No message reaches the client any more.
        case closed
    }

    /// The session's number, never reused while the daemon runs.
    public let number: UInt64
    /// The identity of the process at the other end.
    public let peer: PeerIdentity
    /// Whether the session may do everything that no rule denies: it is local and belongs to root or the daemon's own
    /// user.
    @exclusivity(unchecked) public private(set) var isTrusted: Bool
    /// Messages to the client that have not been written.
    public let output = OutputBuffer()

    /// The number of bytes received from the client.
    @exclusivity(unchecked) private(set) var receivedBytes: UInt64 = 0
    /// The number of bytes written to the client.
    @exclusivity(unchecked) private(set) var sentBytes: UInt64 = 0

    let openedAt: RuntimeInstant
    /// The account of its user, which includes this session.
    private(set) var account: UserAccount
    /// The same account, not retained, for the code that every call runs: ``account`` retains it.
    @exclusivity(unchecked) private(set) var unownedAccount: Unmanaged<UserAccount>
    /// The connection; `nil` once it is closed.
    var transport: (any SessionTransport)?
    @exclusivity(unchecked) var phase = Phase.open
    /// Whether the server has been notified of output to write.
    @exclusivity(unchecked) var isDirty = false

    /// The number of the session's jobs that wait for a share of the loop, and of its pieces of work in the lane.
    @exclusivity(unchecked) var waitingJobs = 0
    /// Whether input must wait until these are done.
    public var waitsForJobs: Bool { waitingJobs > 0 }

    // Facts that the client, or a plugin about it, has reported.
    /// The origin that the session represents.
    public private(set) var origin = Session.localOrigin {
        didSet {
            owner = ProviderOwner(uid: peer.uid, origin: origin)
            identityChanged()
        }
    }
    /// The owner under which it provides tasks and makes calls.
    private(set) var owner: ProviderOwner
    private(set) var hasNamedOrigin = false
    /// The user that is logged in; `nil` if none is.
    public internal(set) var user: String? { didSet { identityChanged() } }
    /// The name that the client gave itself; `nil` if none.
    public internal(set) var client: String? { didSet { identityRevision += 1 } }
    /// Grows whenever the origin, the user or the client name changes: code that has derived data from them can check
    /// whether it is still valid.
    @exclusivity(unchecked) public private(set) var identityRevision: UInt32 = 0
    var version: String?
    var userAgent: String?
    var page: JSON?

    // The session's rights.
    /// The systemd unit of the program, looked up at first use: a program stays in its unit.
    private(set) lazy var unit = transport?.peerUnit()
    @exclusivity(unchecked) var callRights = CallRights()
    /// Cached decisions which events the session may receive.
    var eventRights: [ExactText: Bool] = [:]

    /// Clears the cached decisions: something that they depend on has changed.
    func forgetRights() {
        callRights.forget()
        eventRights.removeAll()
    }

    /// Sets the origin that the session represents.
    ///
    /// - Parameter account: The account of its user for the trust level that the session then has. It may be the
    ///   current one.
    func speak(for origin: String, on account: UserAccount) {
        if account !== self.account { move(to: account) }
        hasNamedOrigin = true
        self.origin = origin
    }

    private func move(to account: UserAccount) {
        let taken = UserAccount.Taken(
            callsInFlight: callsInFlight, subscriptions: subscriptions.count, tasks: registrations.count,
            queuedBytes: queuedBytesTaken, descriptionBytes: descriptionBytes)
        self.account.remove(taken)
        account.add(taken)
        self.account = account
        unownedAccount = .passUnretained(account)
        isTrusted = account.isTrusted
    }

    private func identityChanged() {
        identityRevision += 1
        forgetRights()
    }

    // The session's dialects.
    /// A bit for each dialect in which it has sent messages.
    @exclusivity(unchecked) var dialects: UInt32 = 0
    /// The dialect in which it subscribed to events; `nil` if it has not subscribed.
    var subscribedDialect: DialectID?
    /// The JSON-RPC batch that is being read.
    var openBatch: RPCBatch?

    /// The dialect that the session declared as its own.
    var namedDialect: DialectID?
    /// The ids under which it receives events as a listener.
    var listeners = EventListeners()

    /// The declared dialect, or the only dialect used so far; the native one if the session has used none or several.
    var onlyDialect: DialectID { namedDialect ?? DialectID.allCases.first { $0.bit == dialects } ?? .native }
    /// The number of calls made when a header was last refused; `nil` if something else has been refused since.
    private var callsAtHeader: UInt64?

    /// Whether a problem is not answered: of consecutive headers only the first is answered.
    func hasRefused(_ problem: MessageProblem) -> Bool { problem.isHeader && callsAtHeader == callsMade }

    /// Records that a problem has been answered, or a header skipped.
    func noteRefusal(of problem: MessageProblem) { callsAtHeader = problem.isHeader ? callsMade : nil }

    /// Whether input that belongs to no dialect is treated as JSON-RPC: if JSON-RPC is the session's dialect, or if the
    /// session has declared and used none.
    var mayMeanRPC: Bool { onlyDialect == .jsonRPC || namedDialect == nil && dialects == 0 }

    /// Returns the dialect in which a problem with a message of no dialect is answered.
    func dialect(of problem: MessageProblem) -> DialectID {
        problem.mayBeRPC && mayMeanRPC ? .jsonRPC : onlyDialect
    }
    /// The dialect for unsolicited messages: events.
    var eventDialect: DialectID { subscribedDialect ?? onlyDialect }

    // Calls made by the session.
    @exclusivity(unchecked) var index = CallIndex()
    /// The number of calls made so far, whatever their outcome.
    @exclusivity(unchecked) var callsMade: UInt64 = 0
    /// The number of its calls in flight, one-way calls included.
    @exclusivity(unchecked) var callsInFlight = 0
    @exclusivity(unchecked) var madeCalls = CallList(.made)
    /// The number of its calls that wait for a stream. ``callsInFlight`` does not include them.
    var callsAside = 0
    /// Its ends of streams; `nil` if it has never had any.
    var streamHolder: StreamHolder?

    // Calls that the session works on.
    /// The number of calls that it works on.
    var forwardedCount = 0
    @exclusivity(unchecked) var providedCalls = CallList(.provided)
    private(set) var registrations: Set<String> = []

    /// The bytes that are held for the descriptions of ``registrations``.
    var descriptionBytes = 0 {
        didSet { account.descriptionBytes += descriptionBytes - oldValue }
    }

    /// Records that the session provides a task, or does not any more.
    func setProvides(_ task: String, _ isProvided: Bool) {
        let before = registrations.count
        if isProvided { registrations.insert(task) } else { registrations.remove(task) }
        account.tasks += registrations.count - before
    }

    // Events.
    /// The subscriptions. Only ``Subscriptions`` changes this.
    var subscriptions: [EventPattern: Subscription] = [:]
    var nextSubscription = 0
    /// Subscriptions before this index are active; the others are being entered.
    var begunSubscriptions = 0
    /// The mark of the last search that found the session: ``Subscriptions/those(of:listeningTo:)``.
    var searchMark: UInt64 = 0
    /// The mark of the last event up to which the session has got all its events: ``FanOutQueue``.
    @exclusivity(unchecked) var eventMark: UInt64 = 0
    @exclusivity(unchecked) var events = EventQueue()
    /// The calls whose progress waits until the client has read more.
    @exclusivity(unchecked) var heldProgress: [CallHandle] = []

    // Memory that is held for the session, for the quota of bytes.
    /// The bytes of its input that wait for the end of a line or for its turn, if they are many.
    @exclusivity(unchecked) private(set) var heldInputBytes = 0
    /// The bytes of answers in batches that are not complete.
    @exclusivity(unchecked) var batchBytes = 0
    /// The part of all these bytes that has been counted.
    @exclusivity(unchecked) var countedBytes = 0
    /// The bytes that are held and counted for calls in flight that it made, or made on its behalf:
    /// ``Quotas/hold(_:for:)``.
    @exclusivity(unchecked) var heldCallBytes = 0
    /// All bytes that its account has been charged.
    var queuedBytesTaken: Int { countedBytes + heldCallBytes }
    /// The unwritten output when ``countedBytes`` was counted.
    var countedUnread = UnreadOutput()
    /// The rate of its recent calls, if a quota limits it.
    @exclusivity(unchecked) var rate = CallRate()

    /// The origin of a session that never declared one.
    public static let localOrigin = PolicySubject.localOrigin
    /// The size up to which a session's output is not counted: a socket accepts it immediately or a few turns later.
    /// Above it, the count is exact.
    @inlinable public static var uncountedBytes: Int { 64 * 1024 }
    /// The number of unread bytes from which progress and events wait: half of a socket's default buffer.
    static var slowReaderBytes: Int { 96 * 1024 }

    init(
        number: UInt64, peer: PeerIdentity, account: UserAccount, openedAt: RuntimeInstant,
        transport: (any SessionTransport)?
    ) {
        self.number = number
        self.peer = peer
        owner = ProviderOwner(uid: peer.uid, origin: Session.localOrigin)
        isTrusted = account.isTrusted
        self.account = account
        unownedAccount = .passUnretained(account)
        self.openedAt = openedAt
        self.transport = transport
    }

    // Counters for the server. They are methods because another module that accesses the properties directly would
    // check exclusivity each time.
    /// Counts bytes received from the client.
    public func noteReceived(_ bytes: Int) { receivedBytes &+= UInt64(bytes) }

    /// Counts bytes written to the client.
    public func noteSent(_ bytes: Int) { sentBytes &+= UInt64(bytes) }

    /// Sets the number of input bytes that wait for the end of a line or for their turn.
    public func noteHeldInput(_ bytes: Int) { heldInputBytes = bytes }

    /// Whether input bytes are recorded as waiting.
    public var holdsInput: Bool { heldInputBytes > 0 }

    /// Whether any held memory has been counted.
    public var isCounted: Bool { countedBytes != 0 }

    /// Whether messages can still reach the client.
    public var takesMessages: Bool { phase != .closed }
    /// Whether the session has ended its input or is being closed, and so provides no task.
    var hasEndedInput: Bool { phase != .open }

    /// The number of events that wait until the client has read more.
    var queuedEvents: Int { events.count }
    /// The number of bytes that the client has not read, waiting events included.
    public var queuedBytes: Int { output.count + events.queuedBytes }

    /// The session's identity for the tasks that clients provide. Written by the daemon alone.
    var callerJSON: JSON {
        [
            "session": .number(JSONNumber(number)), "uid": .number(JSONNumber(UInt64(peer.uid))),
            "origin": .string(origin), "user": user.map(JSON.string) ?? .null,
        ]
    }

    @exclusivity(unchecked) private var callerText = CallerText()

    /// The same as text, cached while it is valid. The bytes are valid until the session changes.
    var callerBytes: UnsafeRawBufferPointer { callerText.bytes(identityRevision) { callerJSON } }
}
