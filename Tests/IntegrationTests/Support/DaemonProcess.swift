import Glibc
import TestSupport
import Testing

/// The paths of a daemon, which outlive it: one may be started on them again.
final class DaemonHome {
    let folder: TemporaryFolder
    var socketPath: String
    var statePath: String
    /// The daemon's file: what lies beside it came with it.
    var program = Paths.program("trestled")
    /// The flag for the log; nil: there is none, and the configuration decides.
    var logLevel: String? = "debug"
    /// Flags beside those for socket, state and log.
    var arguments: [String]
    /// Variables of the environment, beside PATH: NAME=VALUE.
    var environment: [String]

    /// - Parameters:
    ///   - configuration: what its configuration file says; empty: there is none.
    ///   - pluginDirectory: where its plugins are; nil: beside the daemon, as they were built.
    init(_ configuration: String = "", pluginDirectory: String? = nil, arguments: [String] = []) throws {
        folder = try TemporaryFolder()
        socketPath = folder.file("s")
        statePath = folder.file("state")
        self.arguments = arguments
        // Also so that the machine's own configuration is not read.
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

/// A daemon of its own for one test.
final class DaemonProcess {
    let home: DaemonHome
    private let process: SpawnedProcess

    /// Starts the daemon and does not wait for anything.
    init(in home: DaemonHome) throws {
        self.home = home
        process = try SpawnedProcess(
            home.program, home.commandLine, environment: home.environment, output: .file(home.logPath),
            errors: .file(home.logPath))
    }

    var pid: pid_t { process.pid }
    var log: String { home.log }

    /// Waits until it takes connections.
    func awaitReady() throws {
        let deadline = Deadline()
        while (try? home.connect()) == nil {
            // Between two attempts its end is waited for: that is one event that may come instead.
            if process.hasEnded(within: 2) { throw TestFailure("the daemon ended: \(try process.wait())") }
            if deadline.isOver { throw TestFailure("the daemon does not get ready") }
        }
    }

    func connect() throws -> Wire { try home.connect() }
    func signal(_ number: Int32) { process.signal(number) }
    /// Waits for its end.
    func wait() throws -> ProcessEnd { try process.wait() }
    var hasEnded: Bool { process.hasEnded(within: 0) }

    /// Asks it to end, and waits.
    func stop() throws -> ProcessEnd {
        signal(SIGTERM)
        return try wait()
    }
}

/// Runs `body` with a daemon that takes connections. One that still runs afterwards must end in order when it is asked
/// to.
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

/// The same with new paths.
func withDaemon<R>(
    _ configuration: String = "", pluginDirectory: String? = nil, _ body: (DaemonProcess) throws -> R
) throws -> R {
    try withDaemon(in: DaemonHome(configuration, pluginDirectory: pluginDirectory), body)
}

extension DaemonProcess {
    /// How many descriptors it has open.
    func descriptorCount() throws -> Int {
        guard let directory = opendir("/proc/\(pid)/fd") else { throw TestFailure("/proc cannot be read") }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        return count
    }

    /// Waits until it has no more open than so many, while a client's calls take turns of its loop.
    func awaitDescriptors(_ maximum: Int, _ client: Wire) throws {
        let deadline = Deadline()
        while try descriptorCount() > maximum {
            if deadline.isOver { throw TestFailure("the daemon has \(try descriptorCount()) descriptors open") }
            _ = try client.result("bridge.ping")
        }
    }
}
