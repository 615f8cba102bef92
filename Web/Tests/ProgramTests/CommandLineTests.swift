import TestSupport
import Testing

@Suite(
    "The command line of trestle-web", .enabled(if: exists(PackageFolder.container), "needs trestle-web, built"))
struct CommandLineTests {
    private func run(_ arguments: String..., environment: [String] = []) throws -> ProgramRun {
        try TestSupport.run(PackageFolder.container, arguments, environment: environment)
    }

    @Test("--help has examples and the exit statuses") func help() throws {
        let help = try run("--help")
        #expect(help.end == .exited(0))
        for text in ["EXAMPLES", "EXIT STATUS", "--print-config", "--screenshot"] {
            #expect(help.output.contains(text), "\(text)")
        }
    }

    @Test("--version equals the daemon's version") func version() throws {
        let daemon = try TestSupport.run("\(PackageFolder.programs)/trestled", ["--version"])
        #expect(try run("--version").output == daemon.output && !daemon.output.isEmpty)
    }

    @Test("--print-config sample prints a valid profile; an invalid one ends with 78 and a line for each mistake")
    func profiles() throws {
        let home = try TemporaryFolder()
        let environment = ["HOME=\(home.path)"]
        let made = try TestSupport.run("/bin/mkdir", ["-p", home.file(".config/trestle/web")])
        #expect(made.end == .exited(0))
        let sample = try run("--print-config", "sample")
        try home.write(sample.output, to: ".config/trestle/web/good.toml")
        #expect(try run("--profile", "good", "--check-config", environment: environment).end == .exited(0))

        try home.write("windo = 1\nallow = 2\n", to: ".config/trestle/web/bad.toml")
        let bad = try run("--profile", "bad", "--check-config", environment: environment)
        #expect(bad.end == .exited(78))
        #expect(bad.errors.contains("bad.toml:1:1: windo:") && bad.errors.contains("bad.toml:2:1: allow:"))
        #expect(try run("--profile", "none", "--check-config", environment: environment).end == .exited(78))
    }

    @Test("--print-desktop prints the desktop file of a profile, and requires a profile") func desktop() throws {
        let home = try TemporaryFolder()
        let environment = ["HOME=\(home.path)"]
        let made = try TestSupport.run("/bin/mkdir", ["-p", home.file(".config/trestle/web")])
        #expect(made.end == .exited(0))
        try home.write("[desktop]\nschemes = [\"notes\"]\n", to: ".config/trestle/web/notes.toml")
        let printed = try run("--profile", "notes", "--print-desktop", environment: environment)
        #expect(printed.end == .exited(0) && printed.output.contains("\nMimeType=x-scheme-handler/notes;\n"))
        #expect(try run("--print-desktop", environment: environment).end == .exited(64))
    }

    @Test("an invalid bridge origin, a page outside the bounds and --dev with --kiosk are refused")
    func refused() throws {
        #expect(try run("--bridge", "https://a.example/x", "https://a.example/").end == .exited(64))
        #expect(try run("file:///etc/passwd").end == .exited(78))
        #expect(try run("--dev", "--kiosk", "https://a.example/").end == .exited(64))
        #expect(try run().end == .exited(64))
    }

    @Test("without a display it ends with 69 and the reason") func display() throws {
        let ended = try run("https://a.example/")
        #expect(ended.end == .exited(69))
        #expect(ended.errors.contains("there is no display"))
    }
}
