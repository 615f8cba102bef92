import Glibc
import TestSupport
import Testing

/// The paths of a daemon. They outlive it, so that another daemon can start with them.
final class DaemonHome {
    let folder: TemporaryFolder
    var socketPath: String
    var statePath: String
    /// The path of the daemon's program. Plugins beside it count as installed with the daemon.
    var program = Paths.program("trestled")
    /// The value of the flag for the log level; `nil` if the configuration determines the level.
    var logLevel: String? = "debug"
    /// Flags in addition to those for socket, state and log.
    var arguments: [String]
    /// Environment variables in addition to PATH, as NAME=VALUE.
    var environment: [String]

    /// - Parameters:
    ///   - configuration: The content of the configuration file; empty for no file.
    ///   - pluginDirectory: The directory of the plugins; `nil` for the built plugins beside the daemon.
    init(_ configuration: String = "", pluginDirectory: String? = nil, arguments: [String] = []) throws {
        folder = try TemporaryFolder()
        socketPath = folder.file("s")
        statePath = folder.file("state")
        self.arguments = arguments
        // These also prevent that the configuration of the machine is read.
        environment = ["HOME=\(folder.path)", "CONFIGURATION_DIRECTORY=\(folder.path)"]
        if let pluginDirectory { self.arguments += ["--plugin-dir", pluginDirectory] }
        if !configuration.isEmpty { try folder.write(configuration, to: "trestled.toml") }
    }

    var logPath: String { folder.file("log") }
    var log: String { contents(of: logPath) }

    /// All flags.
    var commandLine: [String] {
        ["--socket", socketPath, "--state-dir", statePath] + (logLevel.map { ["--log-level", $0] } ?? []) + arguments
    }

    func connect() throws -> Wire {
        do {
            return try Wire(path: socketPath)
        } catch {
            throw TestFailure("nobody answers at \(socketPath): \(String(cString: strerror(error.code)))")
        }
    }
}

/// A daemon process for one test.
final class DaemonProcess {
    let home: DaemonHome
    private let process: SpawnedProcess

    /// Starts the daemon without waiting until it is ready.
    init(in home: DaemonHome) throws {
        self.home = home
        process = try SpawnedProcess(
            home.program, home.commandLine, environment: home.environment, output: .file(home.logPath),
            errors: .file(home.logPath))
    }

    var pid: pid_t { process.pid }
    var log: String { home.log }

    /// Waits until the daemon accepts connections.
    func awaitReady() throws {
        let deadline = Deadline()
        while (try? home.connect()) == nil {
            // Between two attempts, waits briefly for the end of the process, which may occur instead.
            if process.hasEnded(within: 2) { throw TestFailure("the daemon ended: \(try process.wait())") }
            if deadline.isOver { throw TestFailure("the daemon does not get ready") }
        }
    }

    func connect() throws -> Wire { try home.connect() }
    func signal(_ number: Int32) { process.signal(number) }
    /// Waits for the end of the process.
    func wait() throws -> ProcessEnd { try process.wait() }
    var hasEnded: Bool { process.hasEnded(within: 0) }

    /// Sends SIGTERM and waits for the end of the process.
    func stop() throws -> ProcessEnd {
        signal(SIGTERM)
        return try wait()
    }
}

/// Runs `body` with a daemon that accepts connections. A daemon that still runs afterwards must exit with 0 after
/// SIGTERM.
func withDaemon<R>(in home: DaemonHome, _ body: (DaemonProcess) throws -> R) throws -> R {
    let daemon = try DaemonProcess(in: home)
    do {
        try daemon.awaitReady()
        let result = try body(daemon)
        if !daemon.hasEnded { #expect(try daemon.stop() == .exited(0), "\(daemon.log)") }
        return result
    } catch {
        throw TestFailure("\(error)\nThe daemon's log:\n\(daemon.log.suffix(8_192))")
    }
}

/// Runs `body` with a daemon in a new home.
func withDaemon<R>(
    _ configuration: String = "", pluginDirectory: String? = nil, _ body: (DaemonProcess) throws -> R
) throws -> R {
    try withDaemon(in: DaemonHome(configuration, pluginDirectory: pluginDirectory), body)
}

extension DaemonProcess {
    /// Returns the number of open descriptors of the daemon.
    func descriptorCount() throws -> Int {
        guard let directory = opendir("/proc/\(pid)/fd") else { throw TestFailure("/proc cannot be read") }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        return count
    }

    /// Waits until the daemon has at most the specified number of open descriptors. Calls of `client` take turns of its
    /// loop meanwhile.
    func awaitDescriptors(_ maximum: Int, _ client: Wire) throws {
        let deadline = Deadline()
        while try descriptorCount() > maximum {
            if deadline.isOver { throw TestFailure("the daemon has \(try descriptorCount()) descriptors open") }
            _ = try client.result("bridge.ping")
        }
    }
}
