import Foundation
import Glibc
import TestSupport

/// A running `trestled` process with its own socket and state, for one test. Blocking and simple, so that it does not
/// share faults with the code under test.
final class DaemonProcess {
    /// The path of the socket.
    let socketPath: String

    private let folder: TemporaryFolder
    private let process: SpawnedProcess
    /// The socket that receives the log. The log lines after the start fit into its buffer.
    private let log: Int32

    /// The folder of the programs and libraries: the value of `TRESTLE_BIN`, or the build folder of the tests.
    static var buildFolder: URL {
        if let named = ProcessInfo.processInfo.environment["TRESTLE_BIN"] { return URL(filePath: named) }
        // The test runner is in this folder.
        return URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    }

    /// Starts a daemon with all built plugins and waits until it listens.
    init() throws {
        folder = try TemporaryFolder()
        socketPath = folder.file("bridge.sock")
        let ends = try connectedPair()
        defer { close(ends.theirs) }
        log = ends.ours
        // The test does not load plugins that are installed beside the programs.
        let configuration = "local_plugin_dir = \"\(folder.file("local-plugins"))\"\n"
        process = try SpawnedProcess(
            Self.buildFolder.appending(path: "trestled").path,
            [
                "--config", folder.write(configuration, to: "trestled.toml"), "--socket", socketPath, "--state-dir",
                folder.file("state"),
            ], environment: ProcessInfo.processInfo.environment.map { "\($0.key)=\($0.value)" },
            errors: .descriptor(ends.theirs))
        try awaitReady()
    }

    deinit {
        process.signal(SIGTERM)
        _ = try? process.wait()
        close(log)
    }

    /// Waits for the log line that reports readiness.
    private func awaitReady() throws {
        let lines = SocketLineReader(log)
        var said = ""
        while !said.contains("ready: ") {
            guard let line = try lines.line() else { throw TestFailure("the daemon has ended:\n\(said)") }
            said += String(decoding: line, as: UTF8.self) + "\n"
        }
    }

    /// Connects a new client.
    func connect() throws -> LineClient { try LineClient(socketPath) }

    /// Sends SIGTERM and waits for the end of the process.
    func stop() throws -> ProcessEnd {
        process.signal(SIGTERM)
        return try process.wait()
    }
}
