import Foundation
import Glibc
import TestSupport

/// A running `trestled`, a process of its own with a socket and a state of its own. One test's; blocking and plain, so
/// that it cannot share a fault with the code that it tests.
final class DaemonProcess {
    /// Where it listens.
    let socketPath: String

    private let folder: TemporaryFolder
    private let process: SpawnedProcess
    /// Where its log comes. What it logs once it is ready fits into the socket.
    private let log: Int32

    /// The folder of the programs and libraries: that which `TRESTLE_BIN` names, else that of the tests' own build.
    static var buildFolder: URL {
        if let named = ProcessInfo.processInfo.environment["TRESTLE_BIN"] { return URL(filePath: named) }
        // The test runner itself lies there.
        return URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    }

    /// Starts a daemon with all plugins that were built, and waits for it to listen.
    init() throws {
        folder = try TemporaryFolder()
        socketPath = folder.file("bridge.sock")
        let ends = try connectedPair()
        defer { close(ends.theirs) }
        log = ends.ours
        // Plugins that somebody installed beside the programs are none of the test's.
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

    /// The daemon says when it listens.
    private func awaitReady() throws {
        let lines = SocketLineReader(log)
        var said = ""
        while !said.contains("ready: ") {
            guard let line = try lines.line() else { throw TestFailure("the daemon has ended:\n\(said)") }
            said += String(decoding: line, as: UTF8.self) + "\n"
        }
    }

    /// A new client.
    func connect() throws -> LineClient { try LineClient(socketPath) }

    /// Ends it in order and waits for it.
    func stop() throws -> ProcessEnd {
        process.signal(SIGTERM)
        return try process.wait()
    }
}
