import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("trestle cookies", .blocking)
struct CookiesCommandTests {
    private static let file = """
        # Netscape HTTP Cookie File
        #HttpOnly_.a.example\tTRUE\t/\tTRUE\t0\tid\t7
        b.example\tFALSE\t/x\tFALSE\t0\tb\t1

        """

    private func withCookies(_ body: (DaemonProcess) throws -> Void) throws {
        try withDaemon { daemon in
            let run = try daemon.home.trestle("cookies", "import", input: Self.file)
            #expect(run.end == .exited(0), "\(run.errors)")
            #expect(try JSON(parsing: run.output)["imported"] == 2)
            try body(daemon)
        }
    }

    private func names(_ run: ProgramRun) throws -> [String] {
        try run.output.split(separator: "\n").compactMap { try JSON(parsing: String($0))["name"]?.stringValue }
    }

    @Test("Imported cookies are exported unchanged, to standard output or to a file with mode 0600")
    func roundTrip() throws {
        try withCookies { daemon in
            let home = daemon.home
            #expect(try home.trestle("cookies", "export").output == Self.file)
            let folder = try TemporaryFolder()
            let file = folder.file("cookies.txt")
            let run = try home.trestle("cookies", "export", file, "--domain", "a.example")
            #expect(run.end == .exited(0) && run.output == "", "\(run.errors)")
            #expect(contents(of: file).contains("id\t7") && !contents(of: file).contains("b.example"))
            var status = stat()
            #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
            let refused = try home.trestle("cookies", "export", file)
            #expect(refused.end == .exited(64) && refused.errors.contains("--force"), "\(refused.errors)")
            let json = try home.trestle("cookies", "export", "--file-format", "json").output
            let copy = try home.trestle(
                "cookies", "import", "--file-format", "json", "--profile", "copy", input: json)
            #expect(try JSON(parsing: copy.output)["imported"] == 2)
            #expect(try home.trestle("cookies", "export", "--file-format", "json", "--profile", "copy").output == json)
        }
    }

    @Test("Lines that are not cookies are reported with their numbers, and the others are imported")
    func refused() throws {
        try withDaemon { daemon in
            let run = try daemon.home.trestle("cookies", "import", input: Self.file + "none\n")
            #expect(run.end == .exited(0), "\(run.errors)")
            let result = try JSON(parsing: run.output)
            #expect(result["imported"] == 2 && result["refused"] == [["line": 4, "reason": "columns"]])
        }
    }

    @Test("list omits values unless --values is given, and prints lines of JSON or, with --text, a table")
    func list() throws {
        try withCookies { daemon in
            let home = daemon.home
            let plain = try home.trestle("cookies", "list")
            #expect(try names(plain).sorted() == ["b", "id"])
            #expect(!plain.output.contains("\"value\""))
            let values = try home.trestle("cookies", "ls", "--values", "--domain", "b.example")
            #expect(try JSON(parsing: values.output)["value"] == "1")
            #expect(try names(home.trestle("cookies", "list", "--url", "https://a.example/")) == ["id"])
            let table = try home.trestle("cookies", "list", "--text").output
            #expect(table.contains(".a.example  /     id    Secure, HttpOnly"), "\(table)")
            #expect(try home.trestle("cookies", "list", "--profile", "other").output == "")
        }
    }

    @Test("clear removes the matching cookies, or all, and requires one of these choices")
    func clear() throws {
        try withCookies { daemon in
            let home = daemon.home
            let unsaid = try home.trestle("cookies", "clear")
            #expect(unsaid.end == .exited(64) && unsaid.errors.contains("--all"), "\(unsaid.errors)")
            let one = try home.trestle("cookies", "clear", "--domain", "b.example")
            #expect(one.end == .exited(0) && one.output == "{\"removed\":1}\n", "\(one.errors)")
            #expect(try names(home.trestle("cookies", "list")) == ["id"])
            #expect(try home.trestle("cookies", "clear", "--all").output == "{\"removed\":1}\n")
            let again = try home.trestle("cookies", "clear", "--all")
            #expect(again.end == .exited(0) && again.output == "{\"removed\":0}\n", "\(again.errors)")
        }
    }

    @Test("On a terminal clear shows the number of cookies and removes them if the user confirms")
    func confirmation() throws {
        try withCookies { daemon in
            for (answer, left) in [("n", 2), ("", 2), ("y", 0)] {
                let terminal = try PseudoTerminal(rows: 24, columns: 80)
                let arguments = ["--socket", daemon.home.socketPath, "cookies", "clear", "--all"]
                let run = try terminal.run(Paths.program("trestle"), arguments)
                _ = try terminal.read(until: "Remove 2 cookies? [y/N] ")
                terminal.type("\(answer)\n")
                #expect(try run.wait() == .exited(0))
                #expect(try names(daemon.home.trestle("cookies", "list")).count == left)
            }
        }
    }

    @Test("An error names the plugin that a daemon lacks")
    func missing() throws {
        try withDaemon("[plugins]\ndisabled = [\"cookies\"]\n") { daemon in
            let run = try daemon.home.trestle("cookies", "list")
            #expect(run.end == .exited(1) && run.errors.contains("no plugin cookies"), "\(run.errors)")
        }
    }
}
