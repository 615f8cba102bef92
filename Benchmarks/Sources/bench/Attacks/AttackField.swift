import CEpoll
import Glibc

/// A daemon under attack, the attacker's connections and the victim.
final class AttackField {
    /// Two users that are neither root nor the daemon's user. The user database need not contain them.
    static let victimUID: UInt32 = 64_001
    static let attackerUID: UInt32 = 64_002

    /// The time limit of every step. If the daemon takes longer, it counts as unresponsive, and the attack's row ends.
    static let limitSeconds = 20.0

    let server: Server
    private(set) var connections: [AttackConnection] = []
    private var byDescriptor: [Int32: AttackConnection] = [:]
    /// The epoll set of all connections. A `poll` of a thousand descriptors is one long system call, which would delay
    /// the victim on the same core.
    private let ready: Int32
    private(set) var victim: Victim?
    private let bench: Bench
    private let loopStatistics: String

    init(_ bench: Bench, _ settings: DaemonSettings) throws {
        self.bench = bench
        ready = cepoll_make()
        server = try bench.startDaemon(settings)
        let threads = "/proc/\(server.pid)/task"
        guard
            let loop = try ChildProcess(["ls", threads]).finish().split(separator: "\n").first(where: {
                readFile("\(threads)/\($0)/comm") == "loop\n"
            })
        else { throw Failure("the daemon has no thread that is called loop") }
        loopStatistics = "\(threads)/\(loop)/schedstat"
    }

    static var isRoot: Bool { geteuid() == 0 }

    /// Opens another connection, as the attacker or as the user that runs this program.
    func connect(asOperator: Bool = false) throws -> AttackConnection {
        let connection = try AttackConnection(
            to: server.socket, uid: Self.isRoot && !asOperator ? Self.attackerUID : nil, isOperator: asOperator)
        guard cepoll_add(ready, connection.descriptor) == 0 else { throw Failure("epoll: \(lastError())") }
        connections.append(connection)
        byDescriptor[connection.descriptor] = connection
        return connection
    }

    func close(_ closing: [AttackConnection]) {
        for connection in closing {
            byDescriptor[connection.descriptor] = nil
            connection.close()
        }
        connections.removeAll { $0.isClosed }
    }

    func startVictim(_ call: Victim.Call, isRealTime: Bool = false) throws {
        let uid = Self.isRoot ? Self.victimUID : 0
        victim = try Victim(bench, call, of: server, uid: uid, isRealTime: isRealTime)
        try wait(seconds: 0.3)
    }

    /// The CPU time of the loop thread so far, in nanoseconds.
    var loopNanoseconds: UInt64 {
        readFile(loopStatistics).split(separator: " ").first.flatMap { UInt64($0) } ?? 0
    }

    // MARK: Messages

    /// Opens sessions of the attacker that subscribe to these events.
    func subscribe(_ sessions: Int, to events: String...) throws {
        let names = events.map { "\"\($0)\"" }.joined(separator: ",")
        for _ in 0..<sessions {
            try ask(try connect(), callLine("bridge.subscribe", "{\"events\":[\(names)]}"))
        }
    }

    /// Sends a line, and returns the beginning of the answer.
    @discardableResult
    func ask(_ connection: AttackConnection, _ line: String) throws -> String {
        try strike(connection, Array((line + "\n").utf8))
        return connection.lastAnswer
    }

    /// Sends bytes and waits for that number of answers.
    func strike(_ connection: AttackConnection, _ bytes: [UInt8], answers: Int = 1) throws {
        try strike([connection], bytes, answers: answers)
    }

    /// Sends the same bytes on each connection, and waits until each has that number of answers.
    func strike(_ connections: [AttackConnection], _ bytes: [UInt8], answers: Int = 1) throws {
        let wanted = connections.map { $0.answers + answers }
        for connection in connections { connection.queue(bytes) }
        try pump {
            zip(connections, wanted).allSatisfy { $0.isClosed || !$0.hasUnsent && $0.answers >= $1 }
        }
    }

    /// Writes and reads on all connections until the condition holds.
    func pump(until isDone: () -> Bool) throws {
        let end = monotonicNanoseconds() + UInt64(Self.limitSeconds * 1e9)
        var found = [Int32](repeating: 0, count: 256)
        for connection in connections { connection.write() }
        while !isDone() {
            if Interruption.hasCome { throw Failure("interrupted") }
            guard monotonicNanoseconds() < end else { throw AttackTimeout() }
            let count = Int(cepoll_wait(ready, &found, Int32(found.count), 2))
            for descriptor in found.prefix(count) {
                guard let connection = byDescriptor[descriptor] else { continue }
                connection.read()
                // Bytes for which there was no room before, and answers to received calls.
                connection.write()
            }
            victim?.listen()
        }
    }

    func wait(seconds: Double) throws {
        let end = monotonicNanoseconds() + UInt64(max(0, seconds) * 1e9)
        try pump { monotonicNanoseconds() >= end }
    }

    /// Waits until the daemon has no work for the attacker: no bytes arrive, and its loop is nearly idle.
    func settle() throws {
        let slice = 0.02
        let end = monotonicNanoseconds() + UInt64(Self.limitSeconds * 1e9)
        while monotonicNanoseconds() < end {
            let (nanoseconds, bytes) = (loopNanoseconds, receivedBytes)
            try wait(seconds: slice)
            if receivedBytes == bytes, Double(loopNanoseconds - nanoseconds) < slice * 0.25e9 { return }
        }
        throw AttackTimeout()
    }

    private var receivedBytes: Int { connections.reduce(0) { $0 + ($1.isOperator ? 0 : $1.receivedBytes) } }

    // MARK: The end

    func stop() {
        victim?.stop()
        close(connections)
        server.stop()
    }

    deinit { Glibc.close(ready) }

    /// Kills the daemon, for one that does not respond.
    func kill() {
        server.abandon()
        stop()
    }
}

/// The error of a step that took longer than ``AttackField/limitSeconds``.
struct AttackTimeout: Error {}
