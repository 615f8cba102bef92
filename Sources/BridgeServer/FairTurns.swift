import EventLoop
import TaskRuntime

/// Whose input is read when. While all who are connected are of one user, whoever has something is read at once. Where there
/// are several, each user's input is handled for a short while in a turn of the loop; what is beyond that waits in the
/// user's line, and of the lines one connection after the other is served, user by user, for a short while again. So a call
/// of somebody else waits for no more than such a while, from however many connections the others flood the daemon.
///
/// `@exclusivity(unchecked)`, here on what every read touches: one thread uses it, and no access to it lasts while anything
/// else of it is called.
@LoopActor
final class FairTurns {
    /// How long a user's input is handled in one turn, and how long the lines are, together: some ten small calls, of which
    /// each has to be written to as well. Shorter turns would cost more, for each looks at all descriptors.
    static let shareNanoseconds: UInt64 = 20_000
    /// What is read at once from one connection then: what is read has to wait here, and longer than where it was.
    static let sharedReadBytes = 8 * 1024

    /// Whether there are several users.
    @exclusivity(unchecked) private(set) var isShared = false
    private var users: [UInt32: ServedUser] = [:]
    /// Those whose connections wait, the next one first.
    @exclusivity(unchecked) private var waiting: [ServedUser] = []
    @exclusivity(unchecked) private var turn: UInt64 = 1

    /// A connection of this user is there from now on.
    func add(_ uid: UInt32) -> ServedUser {
        let user = users[uid] ?? ServedUser(uid: uid)
        users[uid] = user
        user.connections += 1
        isShared = users.count > 1
        return user
    }

    /// It is gone.
    func remove(_ user: ServedUser) {
        user.connections -= 1
        if user.connections == 0 { users[user.uid] = nil }
        isShared = users.count > 1
    }

    /// Whether a connection of the user may be read now. Where it may not, it has to wait.
    func mayRead(_ user: ServedUser) -> Bool {
        guard isShared else { return true }
        if user.turn != turn {
            user.turn = turn
            user.spentNanoseconds = 0
        }
        return user.line.isEmpty && user.spentNanoseconds < Self.shareNanoseconds
    }

    /// So much of the turn went to the user.
    func charge(_ nanoseconds: UInt64, to user: ServedUser) { user.spentNanoseconds &+= nanoseconds }

    /// The connection is served when its turn comes: ``Connection/takeTurn()``.
    func wait(_ connection: Connection, of user: ServedUser) {
        if user.line.isEmpty { waiting.append(user) }
        user.line.append(connection)
        // The next turn follows without blocking.
        if waiting.count == 1, user.line.count == 1 { EventLoop.post {} }
    }

    /// Serves those who wait, for a while: at the end of each turn, after everybody else has been answered.
    func serve() {
        turn &+= 1
        guard !waiting.isEmpty else { return }
        let start = MonotonicInstant.now().nanoseconds
        // Whoever waits again while being served is not served again in this turn: the others' input comes first.
        var count = waiting.reduce(0) { $0 + $1.line.count }
        repeat {
            count -= 1
            let user = waiting.removeFirst()
            let connection = user.line.removeFirst()
            if !user.line.isEmpty { waiting.append(user) }
            connection.takeTurn()
            connection.writeOutput()
        } while count > 0 && !waiting.isEmpty
            && MonotonicInstant.now().nanoseconds &- start < Self.shareNanoseconds
        if !waiting.isEmpty { EventLoop.post {} }
    }
}

/// A user who is connected.
@LoopActor
final class ServedUser {
    let uid: UInt32
    var connections = 0
    /// The last turn in which it was read, and how much of that it took.
    @exclusivity(unchecked) var turn: UInt64 = 0
    @exclusivity(unchecked) var spentNanoseconds: UInt64 = 0
    @exclusivity(unchecked) var line = ConnectionLine()

    init(uid: UInt32) { self.uid = uid }
}

/// Connections that wait, the first of them first.
struct ConnectionLine {
    private var connections: [Connection] = []
    private var start = 0

    var isEmpty: Bool { start == connections.count }
    var count: Int { connections.count - start }

    mutating func append(_ connection: Connection) { connections.append(connection) }

    /// The line must not be empty.
    mutating func removeFirst() -> Connection {
        let first = connections[start]
        start += 1
        // Each is moved once at the most for every one that is taken.
        if start * 2 > connections.count {
            connections.removeFirst(start)
            start = 0
        }
        return first
    }
}
