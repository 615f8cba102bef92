import BridgeJSON
import Glibc
import TestSupport
import Testing

private let isRoot = geteuid() == 0

@Suite("Files that contain code or grant rights", .blocking)
struct TrustedFileTests {
    /// A uid that is another user on every machine.
    private static let nobody: uid_t = 65_534

    /// Returns why the only plugin of a directory is refused; `nil` if it is running.
    private func refusal(_ folder: String, _ configuration: String = "") throws -> String? {
        try withDaemon(configuration, pluginDirectory: folder) { daemon in
            let plugin = try #require(try daemon.connect().result("bridge.plugins")["plugins"]?[0])
            #expect(plugin["state"] == (plugin["error"] == nil ? "running" : "refused"))
            return plugin["error"]?.stringValue
        }
    }

    /// Returns the error for a path that other users may write.
    private func writable(_ path: String, _ name: String = "it") -> String {
        "everybody may write \(name); remove that permission: chmod o-w \(path)"
    }

    // MARK: Plugins

    @Test(
        "A library below a directory that others may write is not loaded, in any isolation",
        arguments: ["none", "process"])
    func directories(isolation: String) throws {
        let folder = try TemporaryFolder()
        for name in ["a", "a/b"] { mkdir(folder.file(name), 0o755) }
        let library = try PluginInC().build(in: folder)
        rename(library, folder.file("a/b/specimen.so"))
        let configuration = "[plugins.specimen]\nisolation = \"\(isolation)\""
        #expect(try refusal(folder.file("a/b"), configuration) == nil)
        for name in ["a", "a/b"] {
            let directory = folder.file(name)
            chmod(directory, 0o777)
            #expect(
                try refusal(folder.file("a/b"), configuration)
                    == writable(directory, "the directory \(directory) on the way to it"))
            chmod(directory, 0o1777)
            #expect(
                try refusal(folder.file("a/b"), configuration) == nil, "nobody takes another's file from a sticky one")
            chmod(directory, 0o755)
        }
    }

    @Test(
        "A library that its group may write is not loaded", .enabled(if: isRoot, "only root can give a group")
    )
    func group() throws {
        let folder = try TemporaryFolder()
        let library = try PluginInC().build(in: folder)
        chown(library, 0, Self.nobody)
        chmod(library, 0o775)
        #expect(
            try refusal(folder.path)
                == "the group 65534 may write it, and other users may be its members; remove that permission: "
                + "chmod g-w \(library)")
    }

    @Test(
        "A symbolic link of another user to a valid library is refused, a link of the daemon's user is not",
        .enabled(if: isRoot, "only root can give one away"), arguments: ["none", "process"])
    func links(isolation: String) throws {
        let (folder, plugins) = (try TemporaryFolder(), try TemporaryFolder())
        let library = try PluginInC().build(in: folder)
        let link = plugins.file("specimen.so")
        symlink(library, link)
        let configuration = "[plugins.specimen]\nisolation = \"\(isolation)\""
        #expect(try refusal(plugins.path, configuration) == nil)
        lchown(link, Self.nobody, 0)
        #expect(
            try refusal(plugins.path, configuration)?.hasPrefix("the link \(link) to it belongs to uid 65534; ") == true
        )
    }

    @Test("A plugin process is not started if others may write its manifest, or a file that this names")
    func manifests() throws {
        let folder = try TemporaryFolder()
        try PluginInPython().write(to: folder)
        #expect(try refusal(folder.path) == nil)
        for name in ["specimen.plugin.toml", "specimen.py"] {
            let path = folder.file(name)
            let mode: mode_t = name.hasSuffix("py") ? 0o755 : 0o644
            chmod(path, mode | 0o002)
            #expect(try refusal(folder.path) == "\(path): \(writable(path))")
            chmod(path, mode)
        }
    }

    @Test("A plugin process is not started if others may replace its program, by its path or by PATH")
    func programs() throws {
        let (folder, programs) = (try TemporaryFolder(), try TemporaryFolder())
        try PluginInPython().write(to: folder)
        rename(folder.file("specimen.py"), programs.file("specimen"))
        let manifest = contents(of: folder.file("specimen.plugin.toml"))
        let commands = [
            "command = [\"\(programs.path)/specimen\"]",
            "command = [\"specimen\"]\nenvironment = { PATH = \"\(programs.path):/usr/bin:/bin\" }",
        ]
        for command in commands {
            try folder.write(
                manifest.replacing("command = [\"./specimen.py\"]", with: command), to: "specimen.plugin.toml")
            chmod(programs.path, 0o755)
            #expect(try refusal(folder.path) == nil)
            chmod(programs.path, 0o777)
            #expect(
                try refusal(folder.path) == "\(programs.path)/specimen: "
                    + writable(programs.path, "the directory \(programs.path) on the way to it"))
        }
    }

    @Test("A plugin that is loaded later is checked in the same way")
    func late() throws {
        let folder = try TemporaryFolder()
        let library = try PluginInC().build(in: folder)
        chmod(library, 0o777)
        try withDaemon { daemon in
            let client = try daemon.connect()
            let error = try client.call("bridge.plugin.load", ["path": .string(library)])["error"]
            #expect(error?["code"] == "plugin.unavailable")
            #expect(error?["message"]?.stringValue?.contains(writable(library)) == true, "\(error?.text ?? "")")
            chmod(library, 0o755)
            _ = try client.result("bridge.plugin.load", ["path": .string(library)])
            #expect(try client.result("specimen") == "specimen")
        }
    }

    // MARK: The configuration

    @Test("A configuration that others may write fails the start and the check")
    func configuration() throws {
        let home = try DaemonHome("log_level = \"info\"")
        let file = home.folder.file("trestled.toml")
        chmod(file, 0o666)
        let daemon = try DaemonProcess(in: home)
        #expect(try daemon.wait() == .exited(78))
        #expect(daemon.log.contains("\(file): \(writable(file))"))
        home.arguments = ["--check-config"]
        let check = try DaemonProcess(in: home)
        #expect(try check.wait() == .exited(78))
        chmod(file, 0o644)
        chmod(home.folder.path, 0o777)
        let other = try DaemonProcess(in: home)
        #expect(try other.wait() == .exited(78))
        #expect(other.log.contains("the directory \(home.folder.path) on the way to it"))
        chmod(home.folder.path, 0o755)
    }

    @Test(
        "A configuration of another user fails the start", .enabled(if: isRoot, "only root can give one away"))
    func foreignConfiguration() throws {
        let home = try DaemonHome("log_level = \"info\"")
        chown(home.folder.file("trestled.toml"), Self.nobody, 0)
        let daemon = try DaemonProcess(in: home)
        #expect(try daemon.wait() == .exited(78))
        #expect(daemon.log.contains("trestled.toml: it belongs to uid 65534; it must belong to root"))
    }

    @Test("A configuration that others may write fails a reload, and nothing changes")
    func reload() throws {
        let home = try DaemonHome("socket_mode = \"0600\"")
        let file = home.folder.file("trestled.toml")
        try withDaemon(in: home) { daemon throws in
            let client = try daemon.connect()
            try home.write(configuration: "socket_mode = \"0666\"")
            chmod(file, 0o666)
            let error = try client.call("bridge.reload")["error"]
            #expect(error?["code"] == "configuration.invalid", "\(error?.text ?? "")")
            var status = stat()
            #expect(lstat(home.socketPath, &status) == 0 && status.st_mode & 0o777 == 0o600)
            chmod(file, 0o644)
            _ = try client.result("bridge.reload")
            #expect(lstat(home.socketPath, &status) == 0 && status.st_mode & 0o777 == 0o666)
        }
    }

    @Test("A pipe is accepted as a configuration without this check")
    func pipe() throws {
        let program = Paths.program("trestled")
        let script = "echo 'log_level = \"info\"' | \"$0\" --config /dev/stdin --check-config"
        let check = try run("/bin/sh", ["-c", script, program], environment: DaemonHome().environment)
        #expect(check.output.hasPrefix("valid: "), "\(check.errors)")
    }
}
