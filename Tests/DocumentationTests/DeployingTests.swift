import BridgeJSON
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("docs/deploying.md", .serialized, .timeLimit(.minutes(30)))
struct DeployingTests {
    @Test(
        "Every command and every file of the page has the described result",
        .enabled(if: Program.exists("make") && Program.exists("python3"), "needs make and Python"))
    func follow() throws {
        let blocks = try Page("docs/deploying.md").blocks
        #expect(blocks.count > 12)
        let machine = try Machine()
        for block in blocks {
            do { try machine.follow(block) } catch { throw TestFailure("line \(block.line): \(error)") }
        }
        try machine.stop()
    }
}

/// A machine with an installed Trestle as described on the page. Its directories are in a folder of the test, and the
/// user that runs the test represents root. Blocking.
///
/// A block `sh` is run, `sh restart` restarts the daemon, `sh no` is for other machines; `text` is the output of the
/// previous command; `toml PATH` is appended to a file.
private final class Machine {
    private let installed: InstalledFolder
    private let place: TemporaryFolder
    private var daemon: SpawnedProcess?
    private var printed = ""

    init() throws {
        let build = DaemonProcess.buildFolder.path(percentEncoded: false)
        installed = try InstalledFolder(build: build, package: Page.root.path(percentEncoded: false))
        place = try TemporaryFolder()
        for name in ["work", "etc", "etc/policy.d"] { mkdir(place.file(name), 0o755) }
        try place.write("", to: "etc/trestled.toml")
        try start()
    }

    deinit { try? stop() }

    private func start() throws {
        daemon = try SpawnedProcess(
            installed.file("bin/trestled"),
            [
                "--config", place.file("etc/trestled.toml"), "--socket", place.file("s"), "--state-dir",
                place.file("state"),
            ], environment: environment, output: .file(place.file("log")), errors: .file(place.file("log")))
        let deadline = Deadline()
        while try run("trestle call bridge.ping >/dev/null 2>&1 && echo there || true") != "there\n" {
            if deadline.isOver {
                throw TestFailure("the daemon does not get ready:\n\(contents(of: place.file("log")))")
            }
        }
    }

    func stop() throws {
        guard let daemon else { return }
        self.daemon = nil
        daemon.signal(SIGTERM)
        let end = try daemon.wait()
        guard end == .exited(0) else { throw TestFailure("the daemon ended with \(end)") }
    }

    func follow(_ block: Page.Block) throws {
        let words = block.info.split(separator: " ").map(String.init)
        switch (words.first, words.dropFirst().first) {
        case ("sh", nil): printed = try run(block.text)
        case ("sh", "restart"):
            guard block.text == "sudo systemctl restart trestle" else { throw TestFailure("it restarts nothing") }
            try stop()
            try start()
        case ("sh", "no"), ("toml", nil): break
        case ("text", nil):
            let last = printed.split(separator: "\n").last.map(String.init) ?? ""
            guard try JSON(parsing: last) == JSON(parsing: here(block.text)) else {
                throw TestFailure("instead came:\n\(printed)")
            }
        case ("toml", let path?):
            let name = path.replacing("/etc/trestle/", with: "etc/")
            try place.write(contents(of: place.file(name)) + block.text + "\n", to: name)
        default: throw TestFailure("it is not said what is to be done with a block of \(block.info)")
        }
    }

    /// Returns the text with the directories of this machine.
    private func here(_ text: String) -> String {
        text.replacing("/usr/local/lib/trestle/local-plugins", with: installed.localPlugins)
    }

    private var environment: [String] {
        let own = ProcessInfo.processInfo.environment
        return own.merging(
            ["PATH": "\(installed.file("bin")):\(own["PATH"] ?? "")", "TRESTLE_SOCKET": place.file("s")]
        ) { $1 }.map { "\($0.key)=\($0.value)" }
    }

    /// Runs a script without `sudo`: for the daemon, the user that runs the test is the administrator.
    private func run(_ text: String) throws -> String {
        // A question about rights is also answered by the exit status.
        let script = here(text).replacing("sudo ", with: "").replacing(" image/", with: " \(place.file("image"))/")
        let run = try TestSupport.run(
            "/bin/sh", ["-ec", script], environment: environment, folder: place.file("work"), timeout: .seconds(120))
        guard run.end == .exited(0) else {
            throw TestFailure("\(text) ended with \(run.end):\n\(run.output)\(run.errors)")
        }
        return run.output
    }
}
