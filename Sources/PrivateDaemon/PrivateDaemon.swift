public import EventLoop
import Glibc

/// A daemon that this process has started for itself.
///
/// It ends with ``stop(timeout:)``, and with this process, however that ends.
@LoopActor
public final class PrivateDaemon {
    /// How it is started.
    public struct Settings: Sendable {
        /// The program.
        public var daemon: String
        /// Another configuration than the folder's own.
        public var configurationPath: String?
        /// Another socket than the folder's own.
        public var socketPath: String?
        /// The least severe lines of the log.
        public var logLevel = "info"
        /// What its environment has besides this process's.
        public var environment: [String: String] = [:]

        /// The rest as documented.
        public init(daemon: String) { self.daemon = daemon }
    }

    /// Its process id.
    public nonisolated let pid: Int32
    /// What it wrote to standard output, a line each, at most 100: it has nothing to say there, and a plugin in its
    /// process had better not.
    public private(set) var outputLines: [String] = []

    private static let maximumOutputLines = 100
    private let process: ChildProcess
    private var streams: [LineStream] = []
    private let hear: @LoopActor (DaemonLogLine) -> Void
    private var isReady = false
    private var isStopRequested = false
    private var complaints: [String] = []
    private let readiness = AsyncSignal<Void>()

    /// Starts a daemon and waits until it takes connections.
    ///
    /// - Parameters:
    ///   - folder: where everything of it is; its owner removes it, once the daemon has ended.
    ///   - hear: gets each line of its log.
    /// - Throws: ``PrivateDaemonError`` where it ends instead, with what it says; ``SystemError`` where it cannot be
    ///   started.
    public static func start(
        _ settings: Settings, in folder: PrivateFolder, _ hear: @escaping @LoopActor (DaemonLogLine) -> Void = { _ in }
    ) async throws -> PrivateDaemon {
        var options = ChildProcess.Options(
            file: settings.daemon,
            arguments: [
                "--config", settings.configurationPath ?? folder.configurationPath,
                "--socket", settings.socketPath ?? folder.socketPath,
                "--state-dir", folder.statePath, "--plugin-dir", folder.pluginPath, "--log-format", "json",
                "--log-level", settings.logLevel, "--end-with-parent",
            ])
        if !settings.environment.isEmpty {
            options.environment = Self.ownEnvironment.merging(settings.environment) { $1 }
        }
        options.standardInput = .null
        options.standardOutput = .pipe
        options.standardError = .pipe
        // Signals from the terminal are for this process, which sees to the daemon's end.
        options.isSessionLeader = true
        let daemon = PrivateDaemon(try ChildProcess.spawn(options), hear)
        do {
            try await daemon.awaitReadiness()
        } catch {
            await daemon.stop()
            throw error
        }
        return daemon
    }

    private init(_ process: ChildProcess, _ hear: @escaping @LoopActor (DaemonLogLine) -> Void) {
        self.process = process
        self.hear = hear
        pid = process.pid
        streams = [
            process.standardError.map { LineStream($0) { [weak self] in self?.take($0) } },
            process.standardOutput.map { LineStream($0) { [weak self] in self?.takeOutput($0) } },
        ].compactMap { $0 }
        Task { @LoopActor [weak self] in
            _ = await process.exitStatus()
            self?.ended()
        }
    }

    private static var ownEnvironment: [String: String] {
        var variables: [String: String] = [:]
        // `environ` is null-terminated, and nothing in these programs changes the environment.
        var next = environ
        while let entry = next.pointee {
            let parts = String(cString: entry).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
            next += 1
        }
        return variables
    }

    private func take(_ text: String) {
        let line = DaemonLogLine(text)
        hear(line)
        if line.level == "error" { complaints.append(line.message) }
        guard !isReady, line.message.hasPrefix("ready: ") else { return }
        isReady = true
        readiness.resumeAll(())
    }

    private func takeOutput(_ text: String) {
        if outputLines.count < Self.maximumOutputLines { outputLines.append(text) }
    }

    private func ended() {
        for stream in streams { stream.finish() }
        streams = []
        readiness.resumeAll(())
    }

    private func awaitReadiness() async throws {
        if !isReady, !streams.isEmpty { _ = await readiness.wait() }
        try Task.checkCancellation()
        guard !isReady else { return }
        throw PrivateDaemonError(
            description: complaints.isEmpty
                ? "the daemon ended before it was ready, without a message" : complaints.joined(separator: "\n"))
    }

    /// Whether its process has not ended.
    public var isRunning: Bool { !streams.isEmpty }

    /// Asks it to end in order, and does not wait.
    public func beginStop() {
        // A second signal would have it end immediately.
        guard !isStopRequested else { return }
        isStopRequested = true
        process.kill(SIGTERM)
    }

    /// Waits for its end.
    public func exitStatus() async -> ExitStatus { await process.exitStatus() }

    /// Ends it in order, or by SIGKILL where that takes too long; once it has ended already, does nothing. Not cut
    /// short where the Swift task is cancelled: nothing may stay behind.
    ///
    /// - Returns: how it ended.
    @discardableResult
    public func stop(timeout: Duration = .seconds(30)) async -> ExitStatus {
        beginStop()
        let timer = LoopTimer { [process] in process.kill(SIGKILL) }
        timer.schedule(after: timeout)
        let status = await process.exitStatus()
        timer.close()
        ended()
        return status
    }
}

/// Why there is no daemon.
public struct PrivateDaemonError: Error, Sendable, CustomStringConvertible {
    /// What the daemon said.
    public let description: String
}
