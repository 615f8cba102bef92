import BridgeJSON
public import BridgeMessage

/// What a session needs of its connection.
public protocol SessionTransport: AnyObject {
    /// Write what the session's output holds, as far as the socket takes it.
    func writeOutput()
    /// Close the connection once everything that waits has been written.
    func closeWhenWritten()
    /// What the session's input waited for, as ``Session/waitsForJobs`` says, is done.
    func inputMayContinue()
    /// The session works on a call, which cannot end unless the connection is read on, though the daemon is stopping.
    func readOn()
    /// The systemd unit that the program at the other end runs in; nil where that is not known.
    func peerUnit() -> String?
    /// How many descriptors are on their way to the client, which has not received them; nil: none can be sent.
    func unreadDescriptors() -> Int?
}

extension SessionTransport {
    /// For transports that ask by themselves.
    public func inputMayContinue() {}
    /// For transports that never stop reading.
    public func readOn() {}
    /// Not known.
    public func peerUnit() -> String? { nil }
    /// None can be sent.
    public func unreadDescriptors() -> Int? { nil }
}

/// What clients have yet to read.
struct UnreadOutput {
    var bytes = 0
    var events = 0
}

/// One client, from its connection to its end: who it is, what it said of itself, what it has in flight, provides and
/// listens to. Loop thread only.
///
/// `@exclusivity(unchecked)`: docs/architecture.md says why.
public final class Session {
    /// How far along its end a session is.
    enum Phase {
        /// Messages go both ways.
        case open
        /// The client sends nothing more, but still gets what it is owed.
        case inputEnded
        /// It is being closed; what waits is still written.
        case closing
        /// Gone. Nothing reaches it any longer.
        case closed
    }

    /// Its number, never used again while the daemon runs.
    public let number: UInt64
    /// Who is at the other end.
    public let peer: PeerIdentity
    /// Whether it may do everything that no rule denies: it is local, and root's or the daemon's own user's.
    @exclusivity(unchecked) public private(set) var isTrusted: Bool
    /// Messages on their way to the client.
    public let output = OutputBuffer()

    /// What the client has sent so far.
    @exclusivity(unchecked) private(set) var receivedBytes: UInt64 = 0
    /// What was written to it so far.
    @exclusivity(unchecked) private(set) var sentBytes: UInt64 = 0

    let openedAt: RuntimeInstant
    /// What its user has taken, this session included.
    private(set) var account: UserAccount
    /// The same for the way of a call: not retained, because it is held above.
    @exclusivity(unchecked) private(set) var unownedAccount: Unmanaged<UserAccount>
    /// The connection; nil once it is gone.
    var transport: (any SessionTransport)?
    @exclusivity(unchecked) var phase = Phase.open
    /// Whether the server knows that there is something to write.
    @exclusivity(unchecked) var isDirty = false

    /// Jobs of the session that wait for a share of the loop, and what is done for it in the lane.
    @exclusivity(unchecked) var waitingJobs = 0
    /// Whether input has to wait until these are done.
    public var waitsForJobs: Bool { waitingJobs > 0 }

    // What the client said of itself, or a plugin of it.
    /// What it speaks for.
    public private(set) var origin = Session.localOrigin {
        didSet {
            owner = ProviderOwner(uid: peer.uid, origin: origin)
            identityChanged()
        }
    }
    /// Whose calls come to it, and whose it makes.
    private(set) var owner: ProviderOwner
    private(set) var hasNamedOrigin = false
    /// The user that is logged in.
    public internal(set) var user: String? { didSet { identityChanged() } }
    /// The name that the client gave itself.
    public internal(set) var client: String? { didSet { identityRevision += 1 } }
    /// Grows whenever one of these three changes: code that has made something of them sees whether it still holds.
    @exclusivity(unchecked) public private(set) var identityRevision: UInt32 = 0
    var version: String?
    var userAgent: String?
    var page: JSON?

    // What it may do.
    /// The systemd unit that the program runs in, looked up when it is first asked for: a program stays in its unit.
    private(set) lazy var unit = transport?.peerUnit()
    @exclusivity(unchecked) var callRights = CallRights()
    /// Which events reach it, as far as it has been decided.
    var eventRights: [ExactText: Bool] = [:]

    /// What was decided about the session rests on something that has changed.
    func forgetRights() {
        callRights.forget()
        eventRights.removeAll()
    }

    /// Speaks for an origin from now on.
    ///
    /// - Parameter account: what its user has taken by sessions that are trusted as it is then. It may be the one
    ///   before.
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

    // How it speaks.
    /// A bit for each dialect of which it has sent calls.
    @exclusivity(unchecked) var dialects: UInt32 = 0
    /// The dialect that it subscribed to events in; nil: it has not.
    var subscribedDialect: DialectID?
    /// The batch of JSON-RPC that is being read.
    var openBatch: RPCBatch?

    /// The dialect that it named as its own.
    var namedDialect: DialectID?
    /// The ids under which it gets events, as listeners.
    var listeners = EventListeners()

    /// The dialect that it named, or the one that it has spoken so far; the native one, where it has spoken none or
    /// several.
    var onlyDialect: DialectID { namedDialect ?? DialectID.allCases.first { $0.bit == dialects } ?? .native }
    /// How many calls it had made when a header was refused last; nil: something else has been refused since.
    private var callsAtHeader: UInt64?

    /// Whether a problem goes without an answer: of headers that follow one another, the first is refused.
    func hasRefused(_ problem: MessageProblem) -> Bool { problem.isHeader && callsAtHeader == callsMade }

    /// A problem has been answered, or a header passed over.
    func noteRefusal(of problem: MessageProblem) { callsAtHeader = problem.isHeader ? callsMade : nil }

    /// Whether what is no message of any dialect is taken for one of JSON-RPC: where it may be, as long as nothing else
    /// has been spoken.
    var mayMeanRPC: Bool { onlyDialect == .jsonRPC || namedDialect == nil && dialects == 0 }

    /// The dialect in which the problem with a message is answered that is of none.
    func dialect(of problem: MessageProblem) -> DialectID {
        problem.mayBeRPC && mayMeanRPC ? .jsonRPC : onlyDialect
    }
    /// The dialect for what it did not call for: events.
    var eventDialect: DialectID { subscribedDialect ?? onlyDialect }

    // Calls by it.
    @exclusivity(unchecked) var index = CallIndex()
    /// Those that it has made so far, whatever became of them.
    @exclusivity(unchecked) var callsMade: UInt64 = 0
    /// Its calls in flight, one-way calls included.
    @exclusivity(unchecked) var callsInFlight = 0
    @exclusivity(unchecked) var madeCalls = CallList(.made)
    /// Its calls that wait for a stream, which are not among these.
    var callsAside = 0
    /// Its ends of streams; nil: it has never had any.
    var streamHolder: StreamHolder?

    // Calls to it.
    /// How many calls it works on.
    var forwardedCount = 0
    @exclusivity(unchecked) var providedCalls = CallList(.provided)
    private(set) var registrations: Set<String> = []

    /// What is held for its descriptions of these.
    var descriptionBytes = 0 {
        didSet { account.descriptionBytes += descriptionBytes - oldValue }
    }

    /// Notes that it provides a task, or no longer does.
    func setProvides(_ task: String, _ isProvided: Bool) {
        let before = registrations.count
        if isProvided { registrations.insert(task) } else { registrations.remove(task) }
        account.tasks += registrations.count - before
    }

    // Events.
    /// What it listens to. ``Subscriptions`` alone changes this.
    var subscriptions: [EventPattern: Subscription] = [:]
    var nextSubscription = 0
    /// Those before this index hold; the others are being entered.
    var begunSubscriptions = 0
    /// The last event that it was found for: ``Subscriptions/sessions(for:)``.
    var eventMark: UInt64 = 0
    @exclusivity(unchecked) var events = EventQueue()
    /// Calls whose progress waits until the client has read on.
    @exclusivity(unchecked) var heldProgress: [CallHandle] = []

    // What is held for it, for the quota of bytes.
    /// Its input that waits for the end of a line, or for its turn, where that is much.
    @exclusivity(unchecked) private(set) var heldInputBytes = 0
    /// Answers of batches that are not complete.
    @exclusivity(unchecked) var batchBytes = 0
    /// How much of all this has been counted.
    @exclusivity(unchecked) var countedBytes = 0
    /// What is held and counted for calls in flight by it, or on its behalf: ``Quotas/hold(_:for:)``.
    @exclusivity(unchecked) var heldCallBytes = 0
    /// All of it that its account has been charged with.
    var queuedBytesTaken: Int { countedBytes + heldCallBytes }
    /// What was left unwritten when that was counted.
    var countedUnread = UnreadOutput()
    /// How often it called of late, where that is bounded.
    @exclusivity(unchecked) var rate = CallRate()

    /// What a session speaks for that never named anything else.
    public static let localOrigin = PolicySubject.localOrigin
    /// So much output of a session is not looked at: a socket takes it immediately, or few turns later. What is counted
    /// is exact for sessions that have more.
    @inlinable public static var uncountedBytes: Int { 64 * 1024 }
    /// From this many unread bytes on, progress and events wait: half of what a socket's own buffer holds by default.
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

    // What the server counts. Methods, because another module that accesses the properties themselves checks
    // exclusivity each time.
    /// The client has sent so many bytes.
    public func noteReceived(_ bytes: Int) { receivedBytes &+= UInt64(bytes) }

    /// So many bytes were written to the client.
    public func noteSent(_ bytes: Int) { sentBytes &+= UInt64(bytes) }

    /// Of its input, so many bytes wait for the end of a line, or for its turn.
    public func noteHeldInput(_ bytes: Int) { heldInputBytes = bytes }

    /// Whether any of its input is known to wait.
    public var holdsInput: Bool { heldInputBytes > 0 }

    /// Whether anything that is held for it has been counted.
    public var isCounted: Bool { countedBytes != 0 }

    /// Whether messages still reach the client.
    public var takesMessages: Bool { phase != .closed }
    /// Whether it has ended its input, or is about to be closed, and so provides nothing.
    var hasEndedInput: Bool { phase != .open }

    /// Events that wait until the client has read on.
    var queuedEvents: Int { events.count }
    /// Bytes that the client has yet to read, waiting events included.
    public var queuedBytes: Int { output.count + events.queuedBytes }

    /// Who this is, for the tasks that clients provide. Written by the daemon alone.
    var callerJSON: JSON {
        [
            "session": .number(JSONNumber(number)), "uid": .number(JSONNumber(UInt64(peer.uid))),
            "origin": .string(origin), "user": user.map(JSON.string) ?? .null,
        ]
    }

    @exclusivity(unchecked) private var callerText = CallerText()

    /// The same as text, made once for as long as it holds. Valid until the session changes.
    var callerBytes: UnsafeRawBufferPointer { callerText.bytes(identityRevision) { callerJSON } }
}
