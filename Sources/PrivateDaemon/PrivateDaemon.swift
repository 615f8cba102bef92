public import EventLoop
import Glibc

/// A daemon that this process has started for its own use.
///
/// It ends with ``stop(timeout:)`` and also when this process ends in any way.
@LoopActor
public final class PrivateDaemon {
    /// The options of the start.
    public struct Settings: Sendable {
        /// The path of the program.
        public var daemon: String
        /// A configuration file to use instead of the folder's own; `nil` uses the folder's.
        public var configurationPath: String?
        /// A socket path to use instead of the folder's own; `nil` uses the folder's.
        public var socketPath: String?
        /// The minimum severity of log lines.
        public var logLevel = "info"
        /// Environment variables to add to this process's environment.
        public var environment: [String: String] = [:]

        /// Creates settings with the defaults for all other properties.
        public init(daemon: String) { self.daemon = daemon }
    }

    /// The process id.
    public nonisolated let pid: Int32
    /// The lines that it wrote to standard output, at most 100. The daemon writes none, and a plugin in its process
    /// should not.
    public private(set) var outputLines: [String] = []

    private static let maximumOutputLines = 100
    private let process: ChildProcess
    private var streams: [LineStream] = []
    private let hear: @LoopActor (DaemonLogLine) -> Void
    private var isReady = false
    private var isStopRequested = false
    private var complaints: [String] = []
    private let readiness = AsyncSignal<Void>()

    /// Starts a daemon and waits until it accepts connections.
    ///
    /// - Parameters:
    ///   - folder: The folder of all its files. The caller removes it after the daemon has ended.
    ///   - hear: Called with each line of its log.
    /// - Throws: ``PrivateDaemonError``, with its error messages, if it ends instead; ``SystemError`` if it cannot be
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
        // This process receives the signals of the terminal and stops the daemon itself.
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
        // `environ` is null-terminated, and these programs do not change the environment.
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
        // Used only if the daemon ends before it is ready.
        if !isReady, line.level == "error", complaints.count < Self.maximumOutputLines {
            complaints.append(line.message)
        }
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

    /// Whether its process is running.
    public var isRunning: Bool { !streams.isEmpty }

    /// Requests an orderly stop without waiting.
    public func beginStop() {
        // A second signal would end it immediately.
        guard !isStopRequested else { return }
        isStopRequested = true
        process.kill(SIGTERM)
    }

    /// Waits until it ends and returns its exit status.
    public func exitStatus() async -> ExitStatus { await process.exitStatus() }

    /// Stops it with SIGTERM, or with SIGKILL after the timeout. Does nothing if it has already ended. Ignores the
    /// cancellation of the Swift task, so that no process is left.
    ///
    /// - Returns: The exit status.
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

/// The reason why the daemon could not be started.
public struct PrivateDaemonError: Error, Sendable, CustomStringConvertible {
    /// The error messages of the daemon.
    public let description: String
}
