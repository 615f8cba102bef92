import BridgeJSON
import Glibc
import TestSupport
import Testing

private let isRoot = geteuid() == 0

@Suite("The state directory", .blocking)
struct StateTests {
    /// A uid that is another user on every machine.
    private static let nobody: uid_t = 65_534

    private func mode(of path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    /// Returns the modes of everything below a folder, by path.
    private func modes(in folder: String) throws -> [String: String] {
        let listing = try run("/usr/bin/find", [folder, "-mindepth", "1", "-printf", "%P %m\n"]).output
        return listing.split(separator: "\n").reduce(into: [:]) { modes, line in
            let parts = line.split(separator: " ")
            if parts.count == 2 { modes[String(parts[0])] = String(parts[1]) }
        }
    }

    /// Starts a daemon that must refuse to start. Returns its log.
    private func refusal(_ home: DaemonHome) throws -> String {
        let daemon = try DaemonProcess(in: home)
        #expect(try daemon.wait() == .exited(1))
        #expect(!exists(home.socketPath))
        return daemon.log
    }

    /// Creates a home with a state directory of this mode, with these files.
    private func home(_ mode: mode_t, _ files: [String: mode_t] = [:]) throws -> DaemonHome {
        let home = try DaemonHome()
        mkdir(home.statePath, 0o700)
        for (name, mode) in files {
            try home.folder.write("", to: "state/\(name)")
            chmod("\(home.statePath)/\(name)", mode)
        }
        chmod(home.statePath, mode)
        return home
    }

    @Test("belongs only to its user, with its whole content, whatever the umask is")
    func mask() throws {
        let home = try DaemonHome()
        let plugins = try TemporaryFolder()
        var process = PluginInPython()
        process.call = """
            folder = m["options"]
            os.mkdir(folder)
            open(folder + "/file", "w").close()
            say({"callbackId": id, "result": 1})
            """
        try process.write(to: plugins)
        for plugin in ["Persistence", "Login", "Cookies"] {
            symlink(Paths.program("lib\(plugin)Plugin.so"), plugins.file("lib\(plugin)Plugin.so"))
        }
        home.arguments += ["--plugin-dir", plugins.path]
        let daemon = try SpawnedProcess(
            "/bin/sh", ["-c", "umask 000; exec \"$0\" \"$@\"", Paths.program("trestled")] + home.commandLine,
            environment: home.environment, errors: .file(home.logPath))
        let client = try Wire.awaiting(home, daemon)
        #expect(try client.result("specimen", .string(home.statePath + "/specimen")) == 1)
        _ = try client.result("login.users.add", ["user": "ada", "password": "correct horse"])
        _ = try client.result("persistence.create", ["table": "t", "record": ["a": 1]])
        _ = try client.result("cookies.set", ["cookie": ["name": "a", "host": "a.example"]])
        // The file of the import exists until its stream ends.
        let stream = try client.result("bridge.stream.new")["stream"]
        try client.send(["task": "persistence.import", "options": ["stream": stream ?? nil]])
        try client.result("bridge.ping") { _ in
            (try? self.modes(in: home.statePath))?.contains { $0.key.contains("transfer") } == true
        }
        let modes = try modes(in: home.statePath)
        let names = [
            "records.sqlite", "records.sqlite-wal", "records.sqlite-shm", "accounts.sqlite", "cookies.sqlite",
            "cookies.sqlite-wal", "cookies.sqlite.changed", "lock",
        ]
        for name in names {
            #expect(modes[name] == "600", "\(name): \(modes)")
        }
        #expect(modes.contains { $0.key.hasPrefix("records.sqlite.transfer-") && $0.value == "600" }, "\(modes)")
        #expect(modes["specimen"] == "700" && modes["specimen/file"] == "600", "\(modes)")
        #expect(mode(of: home.statePath) == 0o700)
        #expect(mode(of: home.socketPath) == 0o600 && mode(of: home.socketPath + ".lock") == 0o600)
        daemon.signal(SIGTERM)
        #expect(try daemon.wait() == .exited(0))
        #expect(try self.modes(in: home.statePath).values.allSatisfy { $0 == "600" || $0 == "700" })
    }

    @Test("that was open to other users is closed to them, with its whole content")
    func closed() throws {
        let home = try home(0o777, ["lock": 0o666, "records.sqlite": 0o644, "records.sqlite.before-restore-1": 0o640])
        mkdir(home.statePath + "/plugin", 0o755)
        try withDaemon(in: home) { daemon throws in
            #expect(try daemon.connect().result("Echo", 1) == 1)
            #expect(mode(of: home.statePath) == 0o700)
            let modes = try modes(in: home.statePath)
            #expect(modes["plugin"] == "700" && modes.values.allSatisfy { $0 == "600" || $0 == "700" }, "\(modes)")
        }
        let empty = try self.home(0o755)
        try withDaemon(in: empty) { _ in #expect(mode(of: empty.statePath) == 0o700) }
    }

    @Test("that contains other files is not closed to other users, and the daemon does not start")
    func shared() throws {
        let home = try home(0o755, ["precious": 0o644])
        #expect(
            try refusal(home).contains(
                "keep state in \(home.statePath): other users may read it, and it contains files that are not the "
                    + "daemon's; give the daemon a directory of its own with --state-dir, or restrict access: "
                    + "chmod 0700"
            ))
        #expect(mode(of: home.statePath) == 0o755 && mode(of: home.statePath + "/precious") == 0o644)
    }

    @Test("is refused if it is a symbolic link, with or without a slash at its end")
    func link() throws {
        let home = try DaemonHome()
        mkdir(home.folder.file("elsewhere"), 0o700)
        let link = home.statePath
        symlink(home.folder.file("elsewhere"), link)
        for path in [link, link + "/"] {
            home.statePath = path
            #expect(
                try refusal(home).contains(
                    "keep state in \(link): it is a symbolic link; name the directory that it leads to with --state-dir"
                ))
        }
        #expect(!exists(home.folder.file("elsewhere/lock")))
    }

    @Test("is accepted if it is a symbolic link of systemd, as with DynamicUser=", .enabled(if: isRoot, "root's link"))
    func linkOfServiceManager() throws {
        let home = try DaemonHome()
        mkdir(home.folder.file("private"), 0o700)
        mkdir(home.folder.file("private/state"), 0o700)
        symlink("private/state", home.statePath)
        try withDaemon(in: home) { _ in #expect(exists(home.folder.file("private/state/lock"))) }
    }

    @Test("is refused if it belongs to another user", .enabled(if: isRoot, "only root can give one away"))
    func foreign() throws {
        let home = try home(0o700)
        chown(home.statePath, Self.nobody, 0)
        #expect(
            try refusal(home).contains(
                "keep state in \(home.statePath): it belongs to uid 65534, and has to belong to the daemon's user, "
                    + "uid 0: chown 0 \(home.statePath)"))
    }

    @Test("is refused if other users can replace it")
    func writableAround() throws {
        let home = try home(0o700)
        chmod(home.folder.path, 0o777)
        #expect(
            try refusal(home).contains(
                "keep state in \(home.statePath): everybody may write the directory \(home.folder.path) on the way to "
                    + "it; remove that permission: chmod o-w \(home.folder.path)"))
    }

    @Test(
        "is refused if one of its files is a symbolic link, whose target stays unchanged",
        arguments: ["lock", "accounts.sqlite", "records.sqlite", "records.sqlite-wal"])
    func linkedFile(name: String) throws {
        let home = try home(0o700)
        let precious = try home.folder.write("precious", to: "precious")
        chmod(precious, 0o644)
        symlink(precious, "\(home.statePath)/\(name)")
        #expect(
            try refusal(home).contains(
                "keep state in \(home.statePath)/\(name): it is a symbolic link; replace it with the file itself"))
        #expect(contents(of: precious) == "precious" && mode(of: precious) == 0o644)
    }

    @Test(
        "is refused if one of its files belongs to another user",
        .enabled(if: isRoot, "only root can give one away"))
    func foreignFile() throws {
        let home = try home(0o700, ["accounts.sqlite": 0o600])
        let path = home.statePath + "/accounts.sqlite"
        chown(path, Self.nobody, 0)
        #expect(try refusal(home).contains("keep state in \(path): it belongs to uid 65534"))
    }
}

extension Wire {
    /// Connects to a daemon that is starting, as soon as it listens.
    static func awaiting(_ home: DaemonHome, _ process: SpawnedProcess) throws -> Wire {
        let deadline = Deadline()
        while true {
            if let wire = try? home.connect() { return wire }
            if process.hasEnded(within: 2) || deadline.isOver {
                throw TestFailure("the daemon does not get ready: \(home.log)")
            }
        }
    }
}
