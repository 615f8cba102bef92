import Foundation
import Glibc
import TestSupport
import Testing

// `scripts/newcomer` runs this test: the last command installs a plugin beside the programs, where all other tests
// would load it.
@Suite(
    "README.md, typed from top to bottom", .serialized, .timeLimit(.minutes(30)),
    .enabled(if: ProcessInfo.processInfo.environment["TRESTLE_NEWCOMER"] != nil, "scripts/newcomer runs it"))
struct ReadmeWalkTests {
    @Test("Each command for sending a message and for writing a plugin works as written")
    func walk() throws {
        let page = try Page("README.md")
        let terminals = try Terminals()
        for heading in ["Send a message", "Write a plugin"] {
            let blocks = try page.blocks(under: heading).filter { $0.info == "sh" }
            #expect(!blocks.isEmpty)
            for (offset, line) in blocks.flatMap({ block in block.lines.enumerated().map { (block.line + $0, $1) } }) {
                do { try terminals.type(line) } catch { throw TestFailure("README.md:\(offset + 1): \(error)") }
            }
        }
        #expect(try terminals.type("trestle call greet who=World").contains("Hello, World"))
        try terminals.type("trestle plugin uninstall greet")
        try terminals.close()
    }
}

/// Terminals of one user, with their own folder and home. A line of the page has set the variables in them. Blocking.
private final class Terminals {
    private let folder: TemporaryFolder
    private var setting = ""
    private var daemon: StayingCommand?

    init() throws {
        folder = try TemporaryFolder()
        mkdir(folder.file("home"), 0o700)
    }

    /// Types a line. Returns its output. A command that keeps running is interrupted when it is ready, except the
    /// daemon, which later lines need.
    @discardableResult
    func type(_ line: String) throws -> String {
        let line = here(line)
        switch line {
        case _ where line.hasPrefix("export "):
            setting = line
        case _ where line.hasPrefix("trestled "):
            daemon = try stay(line)
            try daemon?.says("…ready: …")
        case _ where line.hasPrefix("trestle plugin dev "):
            let development = try stay(line)
            try development.says("Running: …")
            try development.interrupt()
        default:
            return try run(line)
        }
        return ""
    }

    /// Stops the daemon.
    func close() throws { try daemon?.interrupt([.exited(0)]) }

    private func stay(_ line: String) throws -> StayingCommand {
        try StayingCommand(["-c", "\(setting)\nexec \(line)"], environment: environment, in: folder.path)
    }

    private func run(_ line: String) throws -> String {
        let run = try TestSupport.run(
            "/bin/sh", ["-ec", "\(setting)\n\(line)"], environment: environment, folder: folder.path,
            timeout: .seconds(600))
        guard run.end == .exited(0) else {
            throw TestFailure("\(line) ended with \(run.end):\n\(run.output)\(run.errors)")
        }
        return run.output
    }

    /// Returns the line with the programs and the socket of this run, without `sudo`: the daemon belongs to the user.
    private func here(_ line: String) -> String {
        line.replacing("$PWD/.build/release", with: DaemonProcess.buildFolder.path(percentEncoded: false))
            .replacing("/tmp/trestle/", with: "\(folder.path)/").replacing("sudo ", with: "")
    }

    private var environment: [String] {
        ["HOME=\(folder.file("home"))", "PATH=\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")"]
    }
}
