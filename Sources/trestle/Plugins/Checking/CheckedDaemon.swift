import BridgeClient
import BridgeJSON
import EventLoop
import PrivateDaemon

/// A daemon with the checked plugin, a client of it, and the relevant parts of its log.
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

    /// Starts the daemon. The caller must stop it.
    static func start(_ settings: PrivateDaemon.Settings, in folder: PrivateFolder) async throws -> CheckedDaemon {
        let ears = CheckedLog()
        var settings = settings
        // Answers to ended calls are logged at the level debug.
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

    /// Connects another client after the session of the previous one was closed.
    ///
    /// - Returns: Whether it is connected; false if the daemon has ended.
    func connectAgain() async throws -> Bool {
        await client.close()
        do { client = try await Self.connect(to: socketPath) } catch {
            try Task.checkCancellation()
            return false
        }
        return true
    }

    /// Whether its process is running.
    var isRunning: Bool { daemon.isRunning }
    /// Returns the number of late answers so far: answers to calls of a task that ended before their work did.
    func lateAnswers(of task: String) -> Int { ears.lateAnswers[task, default: 0] }
    /// The task that is currently called.
    var calledTask: String? {
        get { ears.calledTask }
        set { ears.calledTask = newValue }
    }
    /// The number of surplus answers so far: answers to calls that were already answered or never existed.
    var surplusAnswers: Int { ears.surplusAnswers }
    /// Returns the number of surplus answers that belong to a task: the first one to the same call arrived while the
    /// task was called.
    func surplusAnswers(of task: String) -> Int { ears.surplusAnswersOfTask[task, default: 0] }
    /// The lines on the daemon's own standard output.
    var outputLines: [String] { daemon.outputLines }
    /// Returns the lines of the log that contain a text.
    func lines(saying text: String) -> [String] { ears.lines.filter { $0.contains(text) } }

    /// Waits until a number of late answers have arrived.
    ///
    /// - Returns: Whether they have.
    func hasLateAnswers(_ count: Int, of task: String, within timeout: Duration) async -> Bool {
        await ears.waits(for: { $0.lateAnswers[task, default: 0] >= count }, within: timeout)
    }

    /// Waits until the log, which arrives on another channel than answers, has reported each answer dropped so far.
    func hearDroppedAnswers(within timeout: Duration) async throws {
        let dropped = try await client.callJSON("bridge.status")["droppedReplies"]?.int64Value ?? 0
        _ = await ears.waits(
            for: { $0.surplusAnswers + $0.lateAnswers.values.reduce(0, +) >= Int(dropped) }, within: timeout)
    }

    /// Waits until more surplus answers have arrived than `count`.
    func hasSurplusAnswers(beyond count: Int, within timeout: Duration) async -> Bool {
        await ears.waits(for: { $0.surplusAnswers > count }, within: timeout)
    }

    /// Requests its end without waiting.
    func beginStop() { daemon.beginStop() }

    /// Stops it and returns its exit status.
    func stop() async -> ExitStatus {
        let status = await daemon.stop()
        await client.close()
        return status
    }
}

/// The relevant parts of a log.
@LoopActor
private final class CheckedLog {
    private static let maximumLines = 10_000
    private(set) var lines: [String] = []
    private(set) var lateAnswers: [String: Int] = [:]
    var calledTask: String?
    private(set) var surplusAnswers = 0
    private(set) var surplusAnswersOfTask: [String: Int] = [:]
    /// The tasks of calls with surplus answers, by the plugin's identifier of the call.
    private var answeredTasks: [String: String] = [:]
    private let waiting = AsyncSignal<Void>()

    nonisolated init() {}

    func take(_ line: DaemonLogLine) {
        if line.message.hasPrefix("a reply was dropped") {
            // The daemon knows the task of a call that it has ended itself, but not that of an answered call.
            if let task = line.fields["task"]?.stringValue {
                lateAnswers[task, default: 0] += 1
            } else {
                noteSurplus(line.fields["answered"]?.stringValue)
            }
            waiting.resumeAll(())
        }
        if lines.count < Self.maximumLines { lines.append(line.message) }
    }

    /// Counts a surplus answer. A plugin that answers a call twice may do so again while another task is called.
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
