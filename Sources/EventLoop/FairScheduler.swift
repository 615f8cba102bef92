internal import DequeModule

/// Shares the loop between users. A user is one of these: all connections of one user id, one process of a plugin, or
/// the work of the daemon for one plugin.
///
/// While there is one user, input is read immediately. A plugin is a user only while it takes turns: most plugins do
/// nothing until they are called. If there are several users, the input of each is handled for a share of time in a
/// turn; the rest waits in the user's queue. At the end of each turn the queues are served user by user, again for a
/// share. So a call of another user waits for about one share, however much one user sends. The share is long while
/// only one user sends, shorter while a plugin's process answers that user and sends nothing else, and short as soon as
/// another user sends.
///
/// `@exclusivity(unchecked)`: docs/architecture.md explains why.
@LoopActor
public final class FairScheduler {
    /// Work that waits for its user's turn.
    @LoopActor
    public protocol Work: AnyObject {
        /// Runs for about ``FairScheduler/share``. Work that is not finished waits again.
        func takeTurn()
    }

    /// The share while several users send: about ten small calls with their answers. A shorter share costs more,
    /// because each turn checks all descriptors. Two users who each keep 64 calls in flight on 200 connections get 6 %
    /// fewer answers than with 20 µs (12 µs: 20 % fewer), and a call beside such a user has a p99 of 2.3 × the quiet
    /// one (20 µs: 3.1 ×; 12 µs: 2.1 ×). Intel Xeon, 2026-11-30; the p99 is that of `bench --only flood`.
    nonisolated static let contendedShareNanoseconds: UInt64 = 15_000
    /// The share while other users are connected and send nothing, and that of a process that answers the only user.
    /// The first call of another user waits for it; later calls do not.
    nonisolated static let quietShareNanoseconds: UInt64 = 200_000
    /// The maximum number of shares of a plugin.
    nonisolated static let maximumPluginShares = 8
    /// The time for which a user counts as sending.
    nonisolated static let contentionNanoseconds: UInt64 = 10_000_000
    /// The share of the only user: enough for most reads, and short enough for timers and the watchdog.
    nonisolated static let soleShareNanoseconds: UInt64 = 1_000_000
    /// The time for which input of the only user is read in a turn; the rest waits in the queue. Timers and new users
    /// wait for it.
    nonisolated static let soleTurnNanoseconds: UInt64 = 2_000_000
    /// The number of reads of the only user after which the clock is read; a power of two.
    nonisolated static let soleReadsPerLook = 8
    /// The maximum size of one read from one descriptor while several users send.
    private static let sharedReadBytes = 8 * 1024
    /// The maximum size of one write to one descriptor: the bytes that the kernel copies in a share, while several
    /// users send and while the others are quiet.
    private static let contendedWriteBytes = 64 * 1024
    private static let quietWriteBytes = 512 * 1024

    /// Whether there are several users.
    public var isShared: Bool { hasSeveralClients || isPluginLast || isContended }
    /// Whether clients of several user ids are connected. Private, because another module that accesses a stored
    /// property checks exclusivity each time.
    @exclusivity(unchecked) private var hasSeveralClients = false
    /// The number of users that are clients.
    private var clientUsers = 0
    private var users: [FairUser.Name: FairUser] = [:]
    /// The users with waiting work, the next one first.
    @exclusivity(unchecked) private var waiting = Deque<FairUser>()
    @exclusivity(unchecked) private var turn: UInt64 = 1
    /// The reads of the only user in this turn, the time of the first, and whether the turn has reached its maximum
    /// time.
    @exclusivity(unchecked) private var soleReads = 0
    @exclusivity(unchecked) private var soleTurnStart: UInt64 = 0
    @exclusivity(unchecked) private var isSoleTurnOver = false
    /// The user that was served last, and the time until which several users count as sending; 0 if they do not.
    @exclusivity(unchecked) private var lastUser: FairUser?
    @exclusivity(unchecked) private var contendedUntil: UInt64 = 0
    /// Whether the last user was a plugin. Connected clients then send nothing.
    @exclusivity(unchecked) private var isPluginLast = false
    private var turnEnd: TurnEndHook?
    private let manualClock: (@LoopActor () -> UInt64)?

    /// Creates a scheduler without users. It serves the queues at the end of each turn, after the hooks that exist
    /// already. The loop keeps it alive until ``close()``: a weak reference would make every access to the other
    /// properties slower.
    ///
    /// - Parameter manualClock: For tests: returns the time in nanoseconds, in place of the machine's clocks.
    public init(manualClock: (@LoopActor () -> UInt64)? = nil) {
        self.manualClock = manualClock
        turnEnd = EventLoop.atTurnEnd { self.serve() }
    }

    /// Stops giving turns.
    public func close() {
        turnEnd?.remove()
        turnEnd = nil
    }

    /// The time for the measurement of shares, in nanoseconds.
    public var now: UInt64 { manualClock?() ?? MonotonicInstant.now().nanoseconds }

    /// The same at the beginning of the turn, without reading a clock.
    private var turnStart: UInt64 { manualClock?() ?? EventLoop.now.nanoseconds }

    /// The time for which one user may occupy the loop in a turn, in nanoseconds.
    public var share: UInt64 {
        if isContended { return Self.contendedShareNanoseconds }
        return hasSeveralClients || isPluginLast ? Self.quietShareNanoseconds : Self.soleShareNanoseconds
    }

    /// Returns the share of a user. A plugin answers all clients: it has as much time as some of them together.
    /// Otherwise its answers would wait behind calls that arrive faster.
    public func share(of user: FairUser) -> UInt64 {
        user.isPlugin ? share &* UInt64(max(1, min(clientUsers, Self.maximumPluginShares))) : share
    }

    /// The maximum size of one read in bytes.
    public var readBytes: Int { isContended ? Self.sharedReadBytes : .max }

    /// The maximum size of one write in bytes.
    public var writeBytes: Int {
        if isContended { return Self.contendedWriteBytes }
        return hasSeveralClients || isPluginLast ? Self.quietWriteBytes : .max
    }

    @inline(__always)
    private var isContended: Bool { contendedUntil != 0 && isStillContended }

    private var isStillContended: Bool { turnStart < contendedUntil }

    /// Records that the user sends, or is served.
    private func note(_ user: FairUser) {
        guard lastUser !== user else { return }
        if let lastUser, hasSeveralClients || competes(user) && competes(lastUser) { beginContention() }
        lastUser = user
        isPluginLast = user.isPlugin
    }

    private func beginContention() { contendedUntil = turnStart &+ Self.contentionNanoseconds }

    /// Whether the user competes with others. A process that only answers does not: its callers have decided how much
    /// it sends.
    private func competes(_ user: FairUser) -> Bool { turnStart < user.competesUntil }

    /// Records that the user's process has sent a message that is not an answer. Must be called for each such message.
    public func noteUnasked(by user: FairUser) {
        if !competes(user), clientUsers > 0 { beginContention() }
        user.competesUntil = max(user.competesUntil, turnStart &+ Self.contentionNanoseconds)
    }

    // MARK: Users

    /// Adds a descriptor of the user. Connecting counts as sending.
    public func add(_ name: FairUser.Name) -> FairUser {
        let user = user(name)
        user.members += 1
        note(user)
        return user
    }

    /// Removes a descriptor of the user.
    public func remove(_ user: FairUser) {
        user.members -= 1
        forgetIfIdle(user)
    }

    /// Returns the user with this name. It may have no descriptors any more but still have waiting work.
    public func user(_ name: FairUser.Name) -> FairUser {
        if let known = users[name] { return known }
        let user = FairUser(name)
        users[name] = user
        countClients(1, of: user)
        return user
    }

    private func forgetIfIdle(_ user: FairUser) {
        if user.members == 0, user.queue.isEmpty {
            // Another user with the same name may have been added in the meantime.
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

    /// Whether a descriptor of the user may be read now. Otherwise it must wait in the queue.
    public func mayRead(_ user: FairUser) -> Bool {
        note(user)
        guard isShared else { return mayReadSole() }
        return user.queue.isEmpty && remainingShare(of: user) > 0
    }

    /// Whether the only user may be read now.
    private func mayReadSole() -> Bool {
        if soleReads == 0 { soleTurnStart = turnStart }
        soleReads &+= 1
        if soleReads & (Self.soleReadsPerLook - 1) == 0, now &- soleTurnStart >= Self.soleTurnNanoseconds {
            isSoleTurnOver = true
        }
        return !isSoleTurnOver
    }

    /// Returns the rest of the user's share in this turn, in nanoseconds.
    public func remainingShare(of user: FairUser) -> UInt64 {
        if user.turn != turn {
            user.turn = turn
            user.spentNanoseconds = 0
        }
        let share = share(of: user)
        return share > user.spentNanoseconds ? share - user.spentNanoseconds : 0
    }

    /// Charges time of this turn to the user.
    public func charge(_ nanoseconds: UInt64, to user: FairUser) {
        _ = remainingShare(of: user)
        user.spentNanoseconds &+= nanoseconds
    }

    /// Queues work behind all waiting work of the user.
    public func wait(_ work: any Work, of user: FairUser) {
        if user.queue.isEmpty { enqueue(user) }
        user.queue.append(work)
    }

    /// Queues work before all waiting work of the user.
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
        // Work that waits again while it is served is not served again in this turn: the other users' input comes
        // first.
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
        // Another turn follows without blocking: for work that still waits, and for messages to other users, whose
        // output may have been written in this turn already.
        EventLoop.post {}
    }
}

/// A user of the loop, from the first descriptor to the end of the last work.
@LoopActor
public final class FairUser {
    /// The identity of a user.
    public enum Name: Hashable, Sendable {
        /// All clients that are connected with this user id.
        case uid(UInt32)
        /// A process of a plugin, by its process id.
        case process(Int32)
        /// The work of the daemon itself for a plugin, by the plugin's number.
        case plugin(UInt64)
    }

    /// The identity of the user.
    public let name: Name
    /// The number of descriptors that are served for it.
    fileprivate var members = 0
    fileprivate var isWaiting = false
    /// The last turn in which it used time, and the used time.
    @exclusivity(unchecked) fileprivate var turn: UInt64 = 0
    @exclusivity(unchecked) fileprivate var spentNanoseconds: UInt64 = 0
    @exclusivity(unchecked) fileprivate var queue = Deque<any FairScheduler.Work>()

    /// The time until which it counts as competing.
    @exclusivity(unchecked) fileprivate var competesUntil: UInt64
    fileprivate let isPlugin: Bool

    fileprivate init(_ name: Name) {
        self.name = name
        isPlugin = if case .uid = name { false } else { true }
        competesUntil = if case .process = name { 0 } else { .max }
    }
}
