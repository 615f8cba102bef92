import BridgeJSON
import BridgeMessage
import Logging
import Synchronization
import Testing

@testable import TaskRuntime

/// A lane that runs work only when a test calls it.
final class ManualLane: WorkLane {
    private var waiting: [(uid: UInt32, work: () -> Void)] = []
    /// The users whose work waits, in order.
    var uids: [UInt32] { waiting.map(\.uid) }

    func run<Value: Sendable>(
        for uid: UInt32, _ work: @escaping @Sendable () -> Value, then done: @escaping (Value) -> Void
    ) {
        waiting.append((uid, { done(work()) }))
    }

    func runNext() { waiting.removeFirst().work() }

    /// Runs work until none waits. Returns the number of pieces of work.
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
    /// The number of requests to write output.
    private(set) var writes = 0
    /// The number of times that waiting input was released.
    private(set) var releases = 0
    func inputMayContinue() { releases += 1 }
    /// The number of requests to continue reading while the daemon drains.
    private(set) var readsOn = 0
    func readOn() { readsOn += 1 }
    func writeOutput() { writes += 1 }
    func closeWhenWritten() { isToBeClosed = true }
    /// The number of descriptors that the client has not received; `nil` if it cannot receive any.
    var unread: Int? = 0
    func unreadDescriptors() -> Int? { unread }
}

/// The host of a plugin. The test makes its answers.
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
    /// The plugin's processes; empty if the test has none.
    var streamHolders: [StreamHolder] = []
    /// Called for each piece of work, so that a test can answer at once.
    var onStart: ((Started) -> Void)?

    func perform(_ work: PluginWork, for call: Call, options: UnsafeRawBufferPointer) {
        let item = Started(work: work, handle: call.handle, options: String(decoding: options, as: UTF8.self))
        started.append(item)
        onStart?(item)
    }

    /// Called when work must stop.
    var onCancel: ((CallHandle) -> Void)?

    func cancel(_ call: CallHandle, reason: CancelReason) {
        cancelled.append((call, reason))
        onCancel?(call)
    }
    func notify(_ change: SessionChange, _ session: Session) { changes.append((change, session.number)) }

    private(set) var abandoned: [String] = []
    func abandon(because reason: String) { abandoned.append(reason) }
}

/// A client of the runtime in a test. It sends lines and reads the messages that it receives.
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

    /// Returns the messages since the last time, and empties the output as if the client had read all of it.
    func read() -> [JSON] {
        let text = String(decoding: session.output.copy(), as: UTF8.self)
        session.output.removeAll()
        bench.runtime.refill(session)
        return text.split(separator: "\n").map { (try? JSON(parsing: String($0))) ?? .string("no JSON: \($0)") }
    }

    /// Returns the only message since the last time; `nil` if there is none or more than one.
    func readOne() -> JSON? {
        let messages = read()
        return messages.count == 1 ? messages[0] : nil
    }
}

extension JSON {
    /// The error code of a callback; `nil` if it has no error.
    var errorCode: String? { self["error"]?["code"]?.stringValue }
}

/// A log that stores its lines for a test.
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

/// A runtime on a manual clock, with one plugin and its tasks `work`, `one` (one call at a time), `slow` (no deadline)
/// and `quick` (a deadline of 50 ms).
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

    /// Creates a client that subscribes to events.
    func subscriber(_ patterns: String...) -> FakeClient {
        let client = client()
        let list = patterns.map { "\"\($0)\"" }.joined(separator: ",")
        client.send(#"{"task":"bridge.subscribe","options":{"events":[\#(list)]},"callbackId":"s"}"#)
        #expect(client.readOne()?["result"]?["events"]?.arrayValue?.count == patterns.count)
        return client
    }

    /// Answers a started call as the plugin.
    func reply(_ index: Int, _ result: String) {
        Array(result.utf8).withUnsafeBytes { instance.reply(host.started[index].handle, $0) }
    }

    func progress(_ index: Int, _ value: String) {
        Array(value.utf8).withUnsafeBytes { instance.progress(host.started[index].handle, $0) }
    }
}

/// Runs the jobs of a test's runtime: one share for each user in turn, as the server does.
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

    /// Makes each reading of the clock take a tenth of a share from now on.
    func slow() { bench.clock.tick = .microseconds(2) }

    /// Runs all waiting jobs. Returns the number of shares.
    func runJobs() -> Int {
        var shares = 0
        while !waiting.isEmpty {
            let account = waiting.removeFirst()
            shares += 1
            if bench.runtime.runSteps(of: account, forNanoseconds: Self.share) { waiting.append(account) }
        }
        return shares
    }

    /// Runs the jobs of the next user for one share.
    func runShare() {
        guard !waiting.isEmpty else { return }
        let account = waiting.removeFirst()
        if bench.runtime.runSteps(of: account, forNanoseconds: Self.share) { waiting.append(account) }
    }

    /// Runs the jobs of the client's user for at most a hundred shares, until the client has output.
    func runJobs(untilOutputOf client: FakeClient) {
        for _ in 0..<100 where client.session.output.isEmpty {
            _ = bench.runtime.runSteps(of: client.session.account, forNanoseconds: Self.share)
        }
    }
}
