internal import DequeModule

/// Shares the loop between users. A user is all connections of one user id, one process of a plugin, or the work that
/// the daemon does for one plugin.
///
/// While there is one user, input is read immediately. A plugin is a user only while it takes turns: most of them do
/// nothing until they are called. Where there are several, the input of each is handled for a share of
/// time in a turn; what is left waits in the user's queue. At the end of each turn the queues are served user by user,
/// again for a share. So a call of another user waits for about a share, however much one user sends. The share is long
/// while one user alone sends, shorter while a plugin's process answers that user and sends nothing else, and short as
/// soon as another user sends.
///
/// `@exclusivity(unchecked)`: docs/architecture.md says why.
@LoopActor
public final class FairScheduler {
    /// What waits for its user's turn.
    @LoopActor
    public protocol Work: AnyObject {
        /// Runs for about ``FairScheduler/share``. Work that is not finished waits again.
        func takeTurn()
    }

    /// The share where several users send: about ten small calls, each of which is written to as well. A shorter one
    /// costs more, because each turn looks at all descriptors.
    nonisolated static let contendedShareNanoseconds: UInt64 = 20_000
    /// The share where others are connected and send nothing, and of a process that answers the only user: the first
    /// call of another user waits for it, those that follow do not.
    nonisolated static let quietShareNanoseconds: UInt64 = 200_000
    /// How many shares a plugin has at most.
    nonisolated static let maximumPluginShares = 8
    /// How long a user counts as one who sends.
    nonisolated static let contentionNanoseconds: UInt64 = 10_000_000
    /// The share of the only user: most of what one read brings, and short enough for timers and the watchdog.
    nonisolated static let soleShareNanoseconds: UInt64 = 1_000_000
    /// How long input of the only user is read in a turn; what else has come waits in the queue. Timers and users who
    /// connect wait for it.
    nonisolated static let soleTurnNanoseconds: UInt64 = 2_000_000
    /// After so many reads of the only user the clock is looked at; a power of two.
    nonisolated static let soleReadsPerLook = 8
    /// What is read in one call from one descriptor where there are several users.
    private static let sharedReadBytes = 8 * 1024
    /// What is written together to one descriptor: what the kernel copies in a share of time, where several users send
    /// and where others are quiet.
    private static let contendedWriteBytes = 64 * 1024
    private static let quietWriteBytes = 512 * 1024

    /// Whether there are several users.
    public var isShared: Bool { hasSeveralClients || isPluginLast || isContended }
    /// Whether clients of several user ids are connected. Private, because another module that accesses a stored
    /// property checks exclusivity each time.
    @exclusivity(unchecked) private var hasSeveralClients = false
    /// How many users are clients.
    private var clientUsers = 0
    private var users: [FairUser.Name: FairUser] = [:]
    /// Those whose work waits, the next one first.
    @exclusivity(unchecked) private var waiting = Deque<FairUser>()
    @exclusivity(unchecked) private var turn: UInt64 = 1
    /// Reads of the only user in this turn, and whether it has lasted as long as it may.
    @exclusivity(unchecked) private var soleReads = 0
    @exclusivity(unchecked) private var soleTurnStart: UInt64 = 0
    @exclusivity(unchecked) private var isSoleTurnOver = false
    /// Who was served last, and until when several users count as sending; 0: they do not.
    @exclusivity(unchecked) private var lastUser: FairUser?
    @exclusivity(unchecked) private var contendedUntil: UInt64 = 0
    /// Whether that was a plugin: clients are connected then and send nothing.
    @exclusivity(unchecked) private var isPluginLast = false
    private var turnEnd: TurnEndHook?
    private let manualClock: (@LoopActor () -> UInt64)?

    /// A scheduler without users. It serves the queues at the end of each turn, behind the hooks that exist already.
    /// The loop keeps it alive until ``close()``: a weak reference would make every use of the others slower.
    ///
    /// - Parameter manualClock: for tests: the time in nanoseconds, in place of the machine's clocks.
    public init(manualClock: (@LoopActor () -> UInt64)? = nil) {
        self.manualClock = manualClock
        turnEnd = EventLoop.atTurnEnd { self.serve() }
    }

    /// Gives no turns from now on.
    public func close() {
        turnEnd?.remove()
        turnEnd = nil
    }

    /// The time by which shares are measured, in nanoseconds.
    public var now: UInt64 { manualClock?() ?? MonotonicInstant.now().nanoseconds }

    /// The same as of the beginning of the turn, which costs no look at a clock.
    private var turnStart: UInt64 { manualClock?() ?? EventLoop.now.nanoseconds }

    /// How long one user may keep the loop in a turn.
    public var share: UInt64 {
        if isContended { return Self.contendedShareNanoseconds }
        return hasSeveralClients || isPluginLast ? Self.quietShareNanoseconds : Self.soleShareNanoseconds
    }

    /// The same for a user. A plugin answers all clients: where they share the loop, it has as much of it as some of
    /// them together, or its answers would wait behind calls that come faster.
    public func share(of user: FairUser) -> UInt64 {
        user.isPlugin ? share &* UInt64(max(1, min(clientUsers, Self.maximumPluginShares))) : share
    }

    /// What one read may take.
    public var readBytes: Int { isContended ? Self.sharedReadBytes : .max }

    /// What one write may take.
    public var writeBytes: Int {
        if isContended { return Self.contendedWriteBytes }
        return hasSeveralClients || isPluginLast ? Self.quietWriteBytes : .max
    }

    private var isContended: Bool { contendedUntil != 0 && turnStart < contendedUntil }

    /// The user sends, or is served.
    private func note(_ user: FairUser) {
        guard lastUser !== user else { return }
        if let lastUser, hasSeveralClients || competes(user) && competes(lastUser) { beginContention() }
        lastUser = user
        isPluginLast = user.isPlugin
    }

    private func beginContention() { contendedUntil = turnStart &+ Self.contentionNanoseconds }

    /// All users but processes that answer and send nothing else: how much those send, their callers have decided.
    private func competes(_ user: FairUser) -> Bool { turnStart < user.competesUntil }

    /// The user's process has sent what is no answer. To be called with each message of the kind.
    public func noteUnasked(by user: FairUser) {
        if !competes(user), clientUsers > 0 { beginContention() }
        user.competesUntil = max(user.competesUntil, turnStart &+ Self.contentionNanoseconds)
    }

    // MARK: Users

    /// One more descriptor of the user is served. To connect counts as to send.
    public func add(_ name: FairUser.Name) -> FairUser {
        let user = user(name)
        user.members += 1
        note(user)
        return user
    }

    /// One descriptor of the user is no longer served.
    public func remove(_ user: FairUser) {
        user.members -= 1
        forgetIfIdle(user)
    }

    /// The user of this name, who may no longer have descriptors, and yet have work that waits.
    public func user(_ name: FairUser.Name) -> FairUser {
        if let known = users[name] { return known }
        let user = FairUser(name)
        users[name] = user
        countClients(1, of: user)
        return user
    }

    private func forgetIfIdle(_ user: FairUser) {
        if user.members == 0, user.queue.isEmpty {
            // Another user of the same name may have been added meanwhile.
            if users[user.name] === user {
                users[user.name] = nil
                countClients(-1, of: user)
            }
            if lastUser === user {
                lastUser = nil
                isPluginLast = false
            }
        }
    }

    private func countClients(_ change: Int, of user: FairUser) {
        if user.isPlugin { return }
        clientUsers += change
        hasSeveralClients = clientUsers > 1
    }

    // MARK: Turns

    /// Whether a descriptor of the user may be read now. Otherwise it has to wait in the queue.
    public func mayRead(_ user: FairUser) -> Bool {
        note(user)
        guard isShared else { return mayReadSole() }
        return user.queue.isEmpty && remainingShare(of: user) > 0
    }

    /// The same for the only user.
    private func mayReadSole() -> Bool {
        if soleReads == 0 { soleTurnStart = turnStart }
        soleReads &+= 1
        if soleReads & (Self.soleReadsPerLook - 1) == 0, now &- soleTurnStart >= Self.soleTurnNanoseconds {
            isSoleTurnOver = true
        }
        return !isSoleTurnOver
    }

    /// What is left of the user's share in this turn, in nanoseconds.
    public func remainingShare(of user: FairUser) -> UInt64 {
        if user.turn != turn {
            user.turn = turn
            user.spentNanoseconds = 0
        }
        let share = share(of: user)
        return share > user.spentNanoseconds ? share - user.spentNanoseconds : 0
    }

    /// The user has taken so much of this turn.
    public func charge(_ nanoseconds: UInt64, to user: FairUser) {
        _ = remainingShare(of: user)
        user.spentNanoseconds &+= nanoseconds
    }

    /// The work gets a turn behind everything else that the user has waiting.
    public func wait(_ work: any Work, of user: FairUser) {
        if user.queue.isEmpty { enqueue(user) }
        user.queue.append(work)
    }

    /// The work gets a turn before everything else that the user has waiting.
    public func waitFirst(_ work: any Work, of user: FairUser) {
        if user.queue.isEmpty { enqueue(user) }
        user.queue.prepend(work)
    }

    private func enqueue(_ user: FairUser) {
        guard !user.isWaiting else { return }
        user.isWaiting = true
        waiting.append(user)
        // The next turn follows without blocking.
        if waiting.count == 1 { EventLoop.post {} }
    }

    /// Serves the queues for a share: at the end of each turn, after all clients whose input was read have been
    /// answered.
    private func serve() {
        turn &+= 1
        soleReads = 0
        isSoleTurnOver = false
        if !isContended { contendedUntil = 0 }
        guard !waiting.isEmpty else { return }
        let start = now
        let share = share
        // Work that waits again while it is served is not served again in this turn: the others' input comes first.
        var count = waiting.reduce(0) { $0 + $1.queue.count }
        while count > 0, let user = waiting.popFirst() {
            count -= 1
            user.isWaiting = false
            guard let work = user.queue.popFirst() else { continue }
            if isShared { note(user) }
            work.takeTurn()
            if user.queue.isEmpty { forgetIfIdle(user) } else { enqueue(user) }
            if now &- start >= share { break }
        }
        // Another turn follows without blocking: for what still waits, and for what was said to others, whose output
        // may have been written in this turn already.
        EventLoop.post {}
    }
}

/// A user of the loop, from the first descriptor to the end of the last work.
@LoopActor
public final class FairUser {
    /// Who that is.
    public enum Name: Hashable, Sendable {
        /// All clients that are connected under this user id.
        case uid(UInt32)
        /// A process of a plugin, by its process id.
        case process(Int32)
        /// What the daemon itself does for a plugin, by the plugin's number.
        case plugin(UInt64)
    }

    /// Who it is.
    public let name: Name
    /// The descriptors that are served for it.
    fileprivate var members = 0
    fileprivate var isWaiting = false
    /// The last turn in which it took anything, and how much that was.
    @exclusivity(unchecked) fileprivate var turn: UInt64 = 0
    @exclusivity(unchecked) fileprivate var spentNanoseconds: UInt64 = 0
    @exclusivity(unchecked) fileprivate var queue = Deque<any FairScheduler.Work>()

    /// Until when it counts as one who sends unasked.
    @exclusivity(unchecked) fileprivate var competesUntil: UInt64
    fileprivate let isPlugin: Bool

    fileprivate init(_ name: Name) {
        self.name = name
        isPlugin = if case .uid = name { false } else { true }
        competesUntil = if case .process = name { 0 } else { .max }
    }
}
