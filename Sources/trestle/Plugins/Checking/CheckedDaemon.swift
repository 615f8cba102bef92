import BridgeClient
import BridgeJSON
import EventLoop
import PrivateDaemon

/// A daemon with the plugin that is checked, a client of it, and what its log has said.
@LoopActor
final class CheckedDaemon {
    let client: BridgeClient
    private let daemon: PrivateDaemon
    private let ears: CheckedLog

    private init(_ daemon: PrivateDaemon, _ client: BridgeClient, _ ears: CheckedLog) {
        self.daemon = daemon
        self.client = client
        self.ears = ears
    }

    /// Starts it. Whoever starts it stops it.
    static func start(_ settings: PrivateDaemon.Settings, in folder: PrivateFolder) async throws -> CheckedDaemon {
        let ears = CheckedLog()
        var settings = settings
        // Answers that come to nobody are told where somebody debugs.
        settings.logLevel = "debug"
        let daemon = try await PrivateDaemon.start(settings, in: folder) { ears.take($0) }
        do {
            let client = try await BridgeClient.connect(to: folder.socketPath, as: "trestle", version: Trestle.version)
            return CheckedDaemon(daemon, client, ears)
        } catch {
            await daemon.stop()
            throw error
        }
    }

    /// Whether its process has not ended.
    var isRunning: Bool { daemon.isRunning }
    /// How many answers have come so far for calls that had ended, or that never were.
    var strayAnswers: Int { ears.strayAnswers }
    /// How many answers there may still be, to calls that ended before their work did.
    private(set) var owedAnswers = 0
    /// An answer did not come in time; it may come yet.
    func noteOwedAnswer() { owedAnswers += 1 }
    /// What was written to the daemon's own standard output.
    var outputLines: [String] { daemon.outputLines }
    /// Lines of the log that say this.
    func lines(saying text: String) -> [String] { ears.lines.filter { $0.contains(text) } }

    /// Waits until so many such answers have come.
    ///
    /// - Returns: whether they have.
    func hasStrayAnswers(_ count: Int, within patience: Duration) async -> Bool {
        await ears.hasStrayAnswers(count, within: patience)
    }

    /// Tells it to end, and goes on.
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
    private static let mostLines = 10_000
    private(set) var lines: [String] = []
    private(set) var strayAnswers = 0
    private let waiting = WaitingList<Void>()

    nonisolated init() {}

    func take(_ line: DaemonLogLine) {
        if line.message.hasPrefix("a reply was dropped") {
            strayAnswers += 1
            waiting.resumeAll(())
        }
        if lines.count < Self.mostLines { lines.append(line.message) }
    }

    func hasStrayAnswers(_ count: Int, within patience: Duration) async -> Bool {
        var isOver = false
        let timer = LoopTimer { [waiting] in
            isOver = true
            waiting.resumeAll(())
        }
        timer.schedule(after: patience)
        defer { timer.close() }
        while strayAnswers < count, !isOver, !Task.isCancelled { _ = await waiting.wait() }
        return strayAnswers >= count
    }
}
