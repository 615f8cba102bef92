import BridgeJSON
import BridgeMessage
import Logging
import Synchronization

@testable import TaskRuntime

/// A lane that works when a test calls it.
final class ManualLane: WorkLane {
    private var waiting: [(uid: UInt32, work: () -> Void)] = []
    /// For whom work waits, in order.
    var uids: [UInt32] { waiting.map(\.uid) }

    func run<Value: Sendable>(
        for uid: UInt32, _ work: @escaping @Sendable () -> Value, then done: @escaping (Value) -> Void
    ) {
        waiting.append((uid, { done(work()) }))
    }

    func runNext() { waiting.removeFirst().work() }

    /// Until nothing waits. Returns how much there was.
    @discardableResult
    func runAll() -> Int {
        var count = 0
        while !waiting.isEmpty {
            runNext()
            count += 1
        }
        return count
    }
}

/// A connection without a socket.
final class FakeTransport: SessionTransport {
    private(set) var isToBeClosed = false
    /// How often output was to be written.
    private(set) var writes = 0
    /// How often input that had to wait was let go on.
    private(set) var releases = 0
    func inputMayContinue() { releases += 1 }
    /// How often it was to be read on in spite of the daemon's end.
    private(set) var readsOn = 0
    func readOn() { readsOn += 1 }
    func writeOutput() { writes += 1 }
    func closeWhenWritten() { isToBeClosed = true }
    /// How many descriptors the client has not received; nil: it cannot get any.
    var unread: Int? = 0
    func unreadDescriptors() -> Int? { unread }
}

/// A plugin's host whose answers are the test's.
final class FakeHost: TaskHost {
    struct Started {
        var work: PluginWork
        var handle: CallHandle
        var options: String
    }

    let isolation = "none"
    private(set) var started: [Started] = []
    private(set) var cancelled: [(CallHandle, CancelReason)] = []
    private(set) var changes: [(SessionChange, UInt64)] = []
    /// Its processes, where a test has any.
    var streamHolders: [StreamHolder] = []
    /// Called for each piece of work, where a test answers at once.
    var onStart: ((Started) -> Void)?

    func perform(_ work: PluginWork, for call: Call, options: UnsafeRawBufferPointer) {
        let item = Started(work: work, handle: call.handle, options: String(decoding: options, as: UTF8.self))
        started.append(item)
        onStart?(item)
    }

    /// Called where work is to stop.
    var onCancel: ((CallHandle) -> Void)?

    func cancel(_ call: CallHandle, reason: CancelReason) {
        cancelled.append((call, reason))
        onCancel?(call)
    }
    func notify(_ change: SessionChange, _ session: Session) { changes.append((change, session.number)) }

    private(set) var givenUp: [String] = []
    func giveUp(because reason: String) { givenUp.append(reason) }
}

/// A client of the runtime in a test: sends lines, reads what came back.
final class FakeClient {
    let session: Session
    let transport = FakeTransport()
    private unowned let bench: Bench

    convenience init(_ bench: Bench, uid: UInt32) {
        self.init(bench, PeerIdentity(uid: uid, gid: uid, pid: 1))
    }

    init(_ bench: Bench, _ peer: PeerIdentity) {
        self.bench = bench
        session = bench.runtime.open(peer, transport: transport)
    }

    func send(_ line: String) {
        let bytes = Array(line.utf8) + Array(repeating: 0, count: MessageSplitter.paddingBytes)
        bytes.withUnsafeBytes {
            let text = UnsafeRawBufferPointer(rebasing: $0[..<line.utf8.count])
            if let item = bench.decoder.item(of: .line(text)) {
                bench.runtime.receive(item, from: session)
            } else {
                let answers = bench.runtime.openBatch(isRPC: bench.decoder.isRPCBatch, of: session)
                _ = bench.decoder.decodeBatch { item in
                    bench.runtime.receive(item, from: session)
                    return session.takesMessages
                }
                if let answers { bench.runtime.close(answers, of: session) }
            }
        }
    }

    /// The messages since the last time, and the output as if the client had read all of it.
    func read() -> [JSON] {
        let text = String(decoding: session.output.copy(), as: UTF8.self)
        session.output.removeAll()
        bench.runtime.refill(session)
        return text.split(separator: "\n").map { (try? JSON(parsing: String($0))) ?? .string("no JSON: \($0)") }
    }

    /// The one message since the last time.
    func readOne() -> JSON? {
        let messages = read()
        return messages.count == 1 ? messages[0] : nil
    }
}

extension JSON {
    /// The error code of a callback.
    var errorCode: String? { self["error"]?["code"]?.stringValue }
}

/// A log whose lines a test reads.
struct LogOfTest: LogHandler {
    final class Lines: Sendable {
        private let lines = Mutex<[String]>([])

        var all: [String] { lines.withLock { $0 } }
        func append(_ line: String) { lines.withLock { $0.append(line) } }
    }

    let lines = Lines()
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.append("\(event.level): \(event.message)") }
}

/// A runtime on a fake clock, with one plugin whose tasks are called `work`, `one` (one call at once), `slow` (no
/// deadline) and `quick` (a deadline of 50 ms).
final class Bench {
    let clock = ManualRuntimeClock()
    let decoder = MessageDecoder(urlSchemes: ["jxaction"])
    let runtime: TaskRuntime
    let lane: ManualLane?
    let host = FakeHost()
    private(set) var instance: PluginInstance! = nil  // set before init returns

    static let daemonUID: UInt32 = 900

    init(
        limits: RuntimeLimits = RuntimeLimits(), extraTasks: [TaskDescription] = [], lane: ManualLane? = nil,
        log: any LogHandler = SwiftLogNoOpLogHandler()
    ) {
        self.lane = lane
        runtime = TaskRuntime(
            limits: limits, policy: Policy(daemonUID: Self.daemonUID),
            daemon: DaemonDescription(version: "1.2.3", pid: 77), clock: clock,
            lane: lane, log: Logger(label: "test", factory: { _ in log }))
        clock.runtime = runtime
        instance = add(
            "worker",
            tasks: [
                TaskDescription(name: "work", optionBytes: .max), TaskDescription(name: "one", concurrency: 1),
                TaskDescription(name: "slow", deadline: .none),
                TaskDescription(name: "quick", deadline: .after(.milliseconds(50))),
            ] + extraTasks, host)
    }

    func add(
        _ name: String, tasks: [TaskDescription], _ host: FakeHost, interceptors: [InterceptorDescription] = []
    ) -> PluginInstance {
        var manifest = PluginManifest(
            name: name, version: "1.0", tasks: tasks,
            events: [EventSummary(name: "work.done", summary: "Work is done.", isPublic: false)],
            workers: [])
        manifest.interceptors = interceptors
        do {
            let instance = try runtime.add(manifest, path: "/plugins/\(name).so", host: host)
            try runtime.open(instance)
            return instance
        } catch {
            fatalError("the test's own plugin was refused: \(error)")
        }
    }

    func client(uid: UInt32 = 0) -> FakeClient { FakeClient(self, uid: uid) }

    /// Has the plugin answer.
    func reply(_ index: Int, _ result: String) {
        Array(result.utf8).withUnsafeBytes { instance.reply(host.started[index].handle, $0) }
    }

    func progress(_ index: Int, _ value: String) {
        Array(value.utf8).withUnsafeBytes { instance.progress(host.started[index].handle, $0) }
    }
}

/// Jobs of a runtime in a test: a share for each user in turn, as the server does.
final class FakeTurns {
    private let bench: Bench
    /// The users whose jobs wait.
    private var waiting: [UserAccount] = []
    var waitingUsers: Int { waiting.count }
    private static let share: UInt64 = 20_000

    init(_ bench: Bench) {
        self.bench = bench
        bench.runtime.onSteps = { [weak self] in self?.waiting.append($0) }
        bench.runtime.turnShare = { Self.share }
    }

    /// A look at the clock takes a tenth of a share from now on.
    func slow() { bench.clock.tick = .microseconds(2) }

    /// Runs the jobs that wait. Returns the number of shares.
    func runJobs() -> Int {
        var shares = 0
        while !waiting.isEmpty {
            let account = waiting.removeFirst()
            shares += 1
            if bench.runtime.runSteps(of: account, forNanoseconds: Self.share) { waiting.append(account) }
        }
        return shares
    }

    /// Runs the jobs of the user whose turn it is, for a share.
    func runShare() {
        guard !waiting.isEmpty else { return }
        let account = waiting.removeFirst()
        if bench.runtime.runSteps(of: account, forNanoseconds: Self.share) { waiting.append(account) }
    }

    /// Gives the client's user shares until something has been written for the client: at most a hundred.
    func runJobs(untilOutputOf client: FakeClient) {
        for _ in 0..<100 where client.session.output.isEmpty {
            _ = bench.runtime.runSteps(of: client.session.account, forNanoseconds: Self.share)
        }
    }
}
