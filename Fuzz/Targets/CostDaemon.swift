import BridgeJSON
@testable import BridgeMessage
import BridgeServer
import Dispatch
import EventLoop
import Glibc
import Logging
@testable import TaskRuntime

/// A populated daemon, created once: its loop is that of this process. Used by the fuzzer's thread.
final class CostDaemon: Sendable {
    static let shared = CostDaemon()

    private let path: String
    private let loopClock: clockid_t
    /// The number of sessions without those of the sequence.
    private let population: Int
    /// The time limit of a play. The daemon still handles messages sent before a hang-up. That may take a minute, and
    /// is no longer measured.
    private static let timeout: UInt64 = 180_000_000_000
    /// The loop's CPU time of a play, in nanoseconds, after which the clients hang up. The messages until then are
    /// judged. Many small messages with long pages as answers would take minutes.
    private static let maximumNanoseconds: UInt64 = 5_000_000_000

    private init() {
        path = "/tmp/trestle-cost-\(getpid()).sock"
        loopClock = Self.onLoop {
            var clock = clockid_t()
            pthread_getcpuclockid(pthread_self(), &clock)
            return clock
        }
        population = Self.onLoop { [path] in
            let core = CostCore(path: path)
            CostCore.shared = core
            return core.runtime.sessionCount
        }
        // The population's calls proceed in steps.
        while !Self.onLoop({ CostCore.shared?.isPopulated == true }) {}
    }

    /// Runs a function on the loop, and waits for it.
    private static func onLoop<Value: Sendable>(_ body: @escaping @LoopActor @Sendable () -> Value) -> Value {
        let done = DispatchSemaphore(value: 0)
        // Unsafe in form only: written before the signal, read after it.
        nonisolated(unsafe) var value: Value?
        EventLoop.post {
            value = body()
            done.signal()
        }
        done.wait()
        guard let value else { fatalError("the loop has signalled and done nothing") }
        return value
    }

    /// Plays a sequence.
    ///
    /// - Throws: If the daemon does not finish it.
    func play(_ sequence: CostSequence) throws(Violation) -> Cost {
        let before = Self.onLoop {
            CostCore.longestTurn = 0
            CostCore.speed = MachineSpeed()
            return (bytes: CostSession.receivedBytes, deliveries: CostSession.deliveries)
        }
        let start = loopNanoseconds
        Self.onLoop { CostCore.speed.measure() }
        var clients: [CostClient] = []
        var goneBytes = 0
        for _ in 0..<CostSequence.clients { clients.append(try CostClient(to: path)) }
        for step in sequence.steps where loopNanoseconds - start < Self.maximumNanoseconds {
            switch step {
            case .line(let client, let bytes):
                clients[client].queue(bytes)
                clients[client].queueFence()
                try pump(clients, until: start + Self.maximumNanoseconds)
            case .comeBack(let client):
                goneBytes += clients[client].receivedBytes
                clients[client] = try CostClient(to: path)
            }
        }
        let ownBytes = clients.reduce(goneBytes) { $0 + $1.receivedBytes }
        clients = []
        try awaitEnd()
        Self.onLoop { CostCore.speed.measure() }
        return Self.onLoop { [loopNanoseconds] in
            Cost(
                nanoseconds: CostCore.speed.adjusted(loopNanoseconds - start - CostCore.speed.spentNanoseconds),
                longestTurn: CostCore.longestTurn,
                sentBytes: ownBytes + CostSession.receivedBytes - before.bytes,
                deliveries: CostSession.deliveries - before.deliveries)
        }
    }

    /// The interval at which the machine's speed is measured, in nanoseconds.
    private static let speedInterval: UInt64 = 20_000_000

    private func pump(_ clients: [CostClient], until end: UInt64) throws(Violation) {
        let start = DispatchTime.now().uptimeNanoseconds
        var lastMeasured = start
        while !clients.allSatisfy(\.isDone), loopNanoseconds < end {
            if DispatchTime.now().uptimeNanoseconds - lastMeasured > Self.speedInterval {
                Self.onLoop { CostCore.speed.measure() }
                lastMeasured = DispatchTime.now().uptimeNanoseconds
            }
            var waiting = clients.map { pollfd(fd: $0.descriptor, events: $0.events, revents: 0) }
            poll(&waiting, nfds_t(waiting.count), 1000)
            for client in clients { client.pump() }
            try require(
                DispatchTime.now().uptimeNanoseconds - start < Self.timeout, "a line is not done after three minutes")
        }
    }

    /// Waits until all sessions of the sequence have ended, and the others have read all output: none of it counts any
    /// more.
    private func awaitEnd() throws(Violation) {
        let start = DispatchTime.now().uptimeNanoseconds
        while Self.onLoop({ CostCore.shared?.runtime.sessionCount }) != population {
            usleep(200)
            try require(DispatchTime.now().uptimeNanoseconds - start < Self.timeout, "a session does not end")
        }
        while Self.onLoop({ CostCore.shared?.isRead }) != true {
            usleep(200)
            try require(DispatchTime.now().uptimeNanoseconds - start < Self.timeout, "output is not written")
        }
        let heldBytes = Self.onLoop { CostCore.shared?.runtime.quotas.queuedBytes ?? 0 }
        try require(heldBytes == 0, "\(heldBytes) bytes are still counted when nothing is held")
    }

    private var loopNanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(loopClock, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

/// The daemon's core on the loop, and the sessions of the population.
@LoopActor
private final class CostCore {
    static var shared: CostCore?
    static var longestTurn: UInt64 = 0
    static var speed = MachineSpeed()

    let runtime: TaskRuntime
    private let server: BridgeServer
    private var sessions: [CostSession] = []

    #if DEBUG
    /// Tests only play: a small population is enough.
    private static let scale = 16
    #else
    private static let scale = 1
    #endif
    /// The user of the population's patterns, tasks and retained events: as many as quotas allow one user.
    private static let populatingUID: UInt32 = 65_531

    init(path: String) {
        let clock = LoopClock()
        let log = Logger(label: "fuzz", factory: { _ in SwiftLogNoOpLogHandler() })
        let rule = PolicyRule(.allow, PolicyVerb.allCases, file: "fuzz", line: 1)
        runtime = TaskRuntime(
            limits: RuntimeLimits(), policy: Policy(daemonUID: 1, rules: [rule]),
            daemon: DaemonDescription(version: "1.2.3", pid: 77), clock: clock, lane: LoopLane(), log: log)
        clock.attach(runtime)
        server = BridgeServer(runtime: runtime, limits: ServerLimits(), log: log)
        server.urlSchemes = ["jxaction"]
        unlink(path)
        do {
            try server.listen(path: path, mode: 0o666)
            try addPlugin()
        } catch {
            fatalError("the daemon cannot be made: \(error)")
        }
        EventLoop.onSlowTurn = { Self.longestTurn = max(Self.longestTurn, $0.cpuTime.wholeNanoseconds) }
        populate()
    }

    private func addPlugin() throws(BridgeError) {
        let host = AnsweringHost()
        let schema: JSON = ["type": "object", "properties": ["a": ["type": "integer"]]]
        let manifest = PluginManifest(
            name: "worker", version: "1.0",
            tasks: [
                TaskDescription(name: "Echo", optionBytes: .max),
                TaskDescription(name: "checked", schemas: TaskSchemas(options: schema)),
            ],
            events: [], workers: [])
        let instance = try runtime.add(manifest, path: "/plugins/worker.so", host: host)
        host.instance = instance
        try runtime.open(instance)
    }

    // MARK: The population

    private func populate() {
        let operator_ = add(uid: 0)
        operator_.send("bridge.monitor", #"{"payloadBytes":262144}"#)
        for number in 0..<64 / Self.scale {
            add(uid: Self.populatingUID).send(
                "bridge.subscribe", #"{"events":[\#(Self.list(number) { "\"p.\($0)*\"" })]}"#)
        }
        for number in 0..<4 / min(4, Self.scale) {
            let descriptions = Self.list(number) {
                #""t.\#($0)":{"options":{"type":"object","properties":{"a":{"type":"integer"},"b":{"enum":["x","y"]}}}}"#
            }
            add(uid: Self.populatingUID).send(
                "bridge.register",
                #"{"tasks":[\#(Self.list(number) { "\"t.\($0)\"" })],"descriptions":{\#(descriptions)}}"#)
        }
        let publisher = add(uid: Self.populatingUID)
        for number in 0..<256 / Self.scale {
            publisher.send("bridge.publish", #"{"event":"r.\#(number)","data":1,"retain":true}"#)
        }
        for _ in 0..<900 / Self.scale {
            add(uid: UInt32(CostClient.uid)).send("bridge.subscribe", #"{"events":["crowd"]}"#)
        }
        runtime.writeOutput()
    }

    /// Whether all calls of the population are done.
    var isPopulated: Bool { sessions.allSatisfy(\.isDone) }

    /// Whether the population has read all output.
    var isRead: Bool { sessions.allSatisfy(\.isRead) }

    /// The maximum number of items of one kind that a session may have.
    private static func list(_ number: Int, _ item: (Int) -> String) -> String {
        (number * 256..<(number + 1) * 256).map(item).joined(separator: ",")
    }

    private func add(uid: UInt32) -> CostSession {
        let session = CostSession(runtime, uid: uid)
        sessions.append(session)
        return session
    }
}

/// A session without a socket, which reads all output immediately.
private final class CostSession: SessionTransport {
    /// The number of bytes received by all of them.
    @LoopActor static var receivedBytes = 0
    /// The number of deliveries to all of them.
    @LoopActor static var deliveries = 0

    private var session: Session?
    private let runtime: TaskRuntime

    init(_ runtime: TaskRuntime, uid: UInt32) {
        self.runtime = runtime
        session = runtime.open(PeerIdentity(uid: uid, gid: uid, pid: 1), transport: self)
    }

    var isDone: Bool { session?.waitsForJobs != true }

    var isRead: Bool { session?.output.isEmpty != false }

    func send(_ task: String, _ options: String) {
        guard let session else { return }
        var splitter = MessageSplitter(maximumLineBytes: runtime.limits.messageBytes)
        let decoder = MessageDecoder()
        withPadding(Array("{\"task\":\"\(task)\",\"options\":\(options)}\n".utf8)) { bytes in
            var taken = 0
            while let line = splitter.nextLine(of: bytes, from: &taken) {
                if let item = decoder.item(of: line) { runtime.receive(item, from: session) }
            }
        }
    }

    func writeOutput() {
        guard let session else { return }
        // Events may wait although no output is unread, as in a connection.
        if session.output.isEmpty { runtime.refill(session) }
        while !session.output.isEmpty {
            LoopActor.assumeIsolated(passing: session.output.bytes.count) {
                Self.receivedBytes += $0
                Self.deliveries += 1
            }
            session.output.removeFirst(session.output.bytes.count)
            runtime.refill(session)
        }
        if session.isCounted { runtime.countQueued(session) }
    }

    func closeWhenWritten() {}
}

/// A plugin's host that answers each call with its options.
private final class AnsweringHost: TaskHost {
    let isolation = "none"
    weak var instance: PluginInstance?

    func perform(_ work: PluginWork, for call: Call, options: UnsafeRawBufferPointer) {
        instance?.reply(call.handle, options, isChecked: true)
    }

    func cancel(_ call: CallHandle, reason: CancelReason) {}

    func notify(_ change: SessionChange, _ session: Session) {}
}
