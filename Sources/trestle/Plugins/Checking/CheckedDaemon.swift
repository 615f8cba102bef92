import BridgeClient
import BridgeJSON
import EventLoop
import PrivateDaemon

/// A daemon with the plugin that is checked, a client of it, and what its log has said.
@LoopActor
final class CheckedDaemon {
    private(set) var client: Bridge
    private let daemon: PrivateDaemon
    private let socketPath: String
    private let ears: CheckedLog

    private init(_ daemon: PrivateDaemon, _ client: Bridge, _ socketPath: String, _ ears: CheckedLog) {
        self.daemon = daemon
        self.client = client
        self.socketPath = socketPath
        self.ears = ears
    }

    /// Starts it. The caller that starts it also stops it.
    static func start(_ settings: PrivateDaemon.Settings, in folder: PrivateFolder) async throws -> CheckedDaemon {
        let ears = CheckedLog()
        var settings = settings
        // Answers that no one waits for are logged at the level debug.
        settings.logLevel = "debug"
        let daemon = try await PrivateDaemon.start(settings, in: folder) { ears.take($0) }
        do {
            return CheckedDaemon(daemon, try await connect(to: folder.socketPath), folder.socketPath, ears)
        } catch {
            await daemon.stop()
            throw error
        }
    }

    private static func connect(to path: String) async throws -> Bridge {
        try await Bridge.connectOnce(to: path)
    }

    /// Takes another client, once the session of the one that there was has been closed.
    ///
    /// - Returns: whether there is one; there is none where the daemon has ended.
    func connectAgain() async throws -> Bool {
        await client.close()
        do { client = try await Self.connect(to: socketPath) } catch {
            try Task.checkCancellation()
            return false
        }
        return true
    }

    /// Whether its process has not ended.
    var isRunning: Bool { daemon.isRunning }
    /// How many answers have come so far for calls of a task that had ended before their work did.
    func lateAnswers(of task: String) -> Int { ears.lateAnswers[task, default: 0] }
    /// The task whose calls are made at present.
    var calledTask: String? {
        get { ears.calledTask }
        set { ears.calledTask = newValue }
    }
    /// How many answers have come so far for calls that had been answered, or that never were.
    var surplusAnswers: Int { ears.surplusAnswers }
    /// How many of them belong to a task: the first one to the same call came while it was called.
    func surplusAnswers(of task: String) -> Int { ears.surplusAnswersOfTask[task, default: 0] }
    /// What was written to the daemon's own standard output.
    var outputLines: [String] { daemon.outputLines }
    /// Lines of the log that say this.
    func lines(saying text: String) -> [String] { ears.lines.filter { $0.contains(text) } }

    /// Waits until so many answers have come late.
    ///
    /// - Returns: whether they have.
    func hasLateAnswers(_ count: Int, of task: String, within timeout: Duration) async -> Bool {
        await ears.waits(for: { $0.lateAnswers[task, default: 0] >= count }, within: timeout)
    }

    /// Waits until the log, which comes another way than answers do, has said of each answer that was dropped so far.
    func hearDroppedAnswers(within timeout: Duration) async throws {
        let dropped = try await client.callJSON("bridge.status")["droppedReplies"]?.int64Value ?? 0
        _ = await ears.waits(
            for: { $0.surplusAnswers + $0.lateAnswers.values.reduce(0, +) >= Int(dropped) }, within: timeout)
    }

    /// Waits until more answers than those have come that no one is owed.
    func hasSurplusAnswers(beyond count: Int, within timeout: Duration) async -> Bool {
        await ears.waits(for: { $0.surplusAnswers > count }, within: timeout)
    }

    /// Has it end, and does not wait.
    func beginStop() { daemon.beginStop() }

    /// Ends it.
    func stop() async -> ExitStatus {
        let status = await daemon.stop()
        await client.close()
        return status
    }
}

/// What a log has said.
@LoopActor
private final class CheckedLog {
    private static let maximumLines = 10_000
    private(set) var lines: [String] = []
    private(set) var lateAnswers: [String: Int] = [:]
    var calledTask: String?
    private(set) var surplusAnswers = 0
    private(set) var surplusAnswersOfTask: [String: Int] = [:]
    /// The tasks of calls that were answered too often, by what the plugin knows the call by.
    private var answeredTasks: [String: String] = [:]
    private let waiting = AsyncSignal<Void>()

    nonisolated init() {}

    func take(_ line: DaemonLogLine) {
        if line.message.hasPrefix("a reply was dropped") {
            // The daemon knows the task of a call that it has ended itself. What has been answered it has forgotten.
            if let task = line.fields["task"]?.stringValue {
                lateAnswers[task, default: 0] += 1
            } else {
                noteSurplus(line.fields["answered"]?.stringValue)
            }
            waiting.resumeAll(())
        }
        if lines.count < Self.maximumLines { lines.append(line.message) }
    }

    /// A plugin that answers a call twice may do so again when another task is called.
    private func noteSurplus(_ call: String?) {
        surplusAnswers += 1
        guard let call, let task = answeredTasks[call] ?? calledTask else { return }
        if answeredTasks.count < Self.maximumLines { answeredTasks[call] = task }
        surplusAnswersOfTask[task, default: 0] += 1
    }

    func waits(for isThere: (CheckedLog) -> Bool, within timeout: Duration) async -> Bool {
        var isOver = false
        let timer = LoopTimer { [waiting] in
            isOver = true
            waiting.resumeAll(())
        }
        timer.schedule(after: timeout)
        defer { timer.close() }
        while !isThere(self), !isOver, !Task.isCancelled { _ = await waiting.wait() }
        return isThere(self)
    }
}
