import Foundation
import Glibc

/// What a test could not do, in a sentence.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// A running `trestled`, a process of its own with a socket and a state of its own. One test's; blocking and plain, so
/// that it cannot share a fault with the code that it tests.
final class DaemonProcess {
    /// Where it listens.
    let socketPath: String

    /// Its folder, which is removed when this goes.
    private let folder: String
    private let process = Process()
    private let errors = Pipe()

    /// The folder of the programs and libraries that were built along with the tests.
    static var buildFolder: URL {
        // The test runner itself lies there.
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    }

    /// Starts a daemon with all plugins that were built, and waits for it to listen.
    init() throws {
        // Short, because a socket's path has 107 bytes at the most.
        var template = Array("/tmp/trestle-docs-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure("no folder can be made in /tmp") }
        folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        socketPath = folder + "/bridge.sock"
        let configuration = folder + "/trestled.toml"
        try Data().write(to: URL(filePath: configuration))
        process.executableURL = Self.buildFolder.appending(path: "trestled")
        process.arguments = ["--config", configuration, "--socket", socketPath, "--state-dir", folder + "/state"]
        process.standardInput = FileHandle.nullDevice
        process.standardError = errors
        try process.run()
        try awaitReady()
    }

    deinit {
        if process.isRunning {
            process.terminate()
            process.waitUntilExit()
        }
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// The daemon says when it listens. What it logs later fits into the pipe.
    private func awaitReady() throws {
        var log = ""
        while !log.contains("ready: ") {
            let more = errors.fileHandleForReading.availableData
            guard !more.isEmpty else { throw Failure("the daemon has ended:\n\(log)") }
            log += String(decoding: more, as: UTF8.self)
        }
    }

    /// A new client.
    func connect() throws -> LineClient { try LineClient(socketPath) }

    /// Ends it in order and waits for it.
    ///
    /// - Returns: Its exit status.
    func stop() -> Int32 {
        process.terminate()
        process.waitUntilExit()
        return process.terminationStatus
    }
}
