import BridgeJSON
import Glibc
import TestSupport
import Testing

@Suite("trestle plugin install", .blocking)
struct PluginInstallTests {
    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    private func edit(_ path: String, _ old: String, _ new: String) throws {
        let text = contents(of: path)
        #expect(text.contains(old))
        // Writes the file in place, so that its permissions stay.
        let descriptor = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
        defer { close(descriptor) }
        let bytes = Array(text.replacing(old, with: new).utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count else { throw TestFailure("\(path) is not written") }
    }

    private func names(in prefix: InstalledPrefix) throws -> [String] {
        try run("/bin/ls", ["-A", prefix.localPlugins]).output.split(separator: "\n").map(String.init)
    }

    private let missing: JSON = "task.not_found"

    @Test("A plugin process is installed, finds trestle_bridge, survives a restart, and is uninstalled")
    func pluginProcess() throws {
        let prefix = try InstalledPrefix()
        let project = try prefix.newPlugin("python")
        #expect(!contents(of: project + "/greet.plugin.toml").contains("PYTHONPATH"))
        mkdir(project + "/__pycache__", 0o700)
        mkdir(project + "/data", 0o700)
        _ = try run("/bin/sh", ["-c", "umask 077; echo x >\"$0\"/data/x; ln -s x \"$0\"/data/link", project])
        let path = prefix.localPlugins + "/greet"
        try withDaemon(in: prefix.home) { daemon in
            // With this umask the daemon's user could not read the files.
            let command = "umask 077; exec \"$0\" --socket \"$1\" plugin install \"$2\""
            let installed = try run(
                "/bin/sh", ["-c", command, prefix.file("bin/trestle"), prefix.home.socketPath, project])
            #expect(installed.end == .exited(0), "\(installed.errors)")
            #expect(installed.errors.contains("Building: make"))
            let answer = try JSON(parsing: installed.output)
            #expect(answer["name"] == "greet" && answer["path"] == .string("\(path)/greet.plugin.toml"), "\(answer)")
            #expect(try daemon.connect().result("greet", ["who": "World"]) == ["greeting": "Hello, World"])
            #expect(try daemon.connect().result("Echo", 1) == 1)
        }
        #expect(mode(prefix.localPlugins) == 0o755 && mode(path) == 0o755 && mode(path + "/data") == 0o755)
        #expect(mode(path + "/greet.plugin.toml") == 0o644 && mode(path + "/data/x") == 0o644)
        #expect(mode(path + "/greet_plugin.py") == 0o755)
        #expect(exists(path + "/data/link") && !exists(path + "/__pycache__") && !exists(path + "/.gitignore"))
        try withDaemon(in: prefix.home) { daemon in
            #expect(try daemon.connect().result("greet", ["who": "Ada"]) == ["greeting": "Hello, Ada"])
            let removed = try prefix.trestle(["plugin", "uninstall", "greet"])
            #expect(removed.end == .exited(0), "\(removed.errors)")
            #expect(try daemon.connect().call("greet")["error"]?["code"] == missing)
            #expect(try names(in: prefix) == [])
        }
        try withDaemon(in: prefix.home) { daemon throws in
            #expect(try daemon.connect().call("greet")["error"]?["code"] == missing)
        }
    }

    @Test("A library is built and replaced without a restart; an invalid version is refused and the old one stays")
    func library() throws {
        let prefix = try InstalledPrefix()
        let project = try prefix.newPlugin("c")
        try withDaemon(in: prefix.home) { daemon in
            let first = try prefix.trestle(["plugin", "install", project])
            #expect(first.end == .exited(0), "\(first.errors)")
            let client = try daemon.connect()
            let plugins = try client.result("bridge.plugins")
            #expect(plugins["localDirectory"] == .string(prefix.localPlugins))
            let plugin = plugins["plugins"]?.arrayValue?.first { $0["name"] == "greet" }
            #expect(plugin?["isolation"] == "process", "\(plugin ?? nil)")
            #expect(plugin?["path"] == .string("\(prefix.localPlugins)/Greet/libGreetPlugin.so"))

            try edit(project + "/greet.c", "Hello", "Hi")
            #expect(try prefix.trestle(["plugin", "install", project]).end == .exited(0))
            #expect(try client.result("greet", ["who": "World"])["greeting"] == "Hi, World")

            try edit(project + "/greet.c", "TRESTLE_ABI,", "TRESTLE_ABI + 1,")
            let refused = try prefix.trestle(["plugin", "install", project])
            #expect(refused.end == .exited(1) && refused.errors.contains("version 3 of the plugin interface"))
            try edit(project + "/greet.c", "TRESTLE_ABI + 1,", "TRESTLE_ABI; no C,")
            let broken = try prefix.trestle(["plugin", "install", project])
            #expect(broken.end == .exited(1) && broken.errors.contains("the build failed"), "\(broken.errors)")
            #expect(try client.result("greet", ["who": "World"])["greeting"] == "Hi, World")
            #expect(try names(in: prefix) == ["Greet"])
        }
        try withDaemon(in: prefix.home) { daemon in
            #expect(try daemon.connect().result("greet", ["who": "World"])["greeting"] == "Hi, World")
            // A path determines the name as well.
            let removed = try prefix.trestle(["plugin", "uninstall", project])
            #expect(removed.end == .exited(0), "\(removed.errors)")
            #expect(try names(in: prefix) == [])
        }
    }

    @Test("An invalid first version leaves no files")
    func nothingStays() throws {
        let prefix = try InstalledPrefix()
        let project = try prefix.newPlugin("sh")
        try edit(project + "/greet.plugin.toml", "summary", "sumary")
        try withDaemon(in: prefix.home) { daemon in
            let refused = try prefix.trestle(["plugin", "install", project])
            #expect(refused.end == .exited(1) && refused.errors.contains("sumary"), "\(refused.errors)")
            #expect(try names(in: prefix) == [])
        }
    }

    @Test("load reports that it does not survive a restart, install replaces it, and a second load suggests reload")
    func loadedForNow() throws {
        let prefix = try InstalledPrefix()
        let project = try prefix.newPlugin("python")
        try withDaemon(in: prefix.home) { daemon in
            let loaded = try prefix.trestle(["plugin", "load", project])
            #expect(loaded.end == .exited(0), "\(loaded.errors)")
            #expect(loaded.errors.contains("until the daemon ends; `trestle plugin install \(project)`"))
            for path in [project, project + "/greet.plugin.toml"] {
                let again = try prefix.trestle(["plugin", "load", path])
                #expect(again.end == .exited(1))
                #expect(again.errors.contains("the plugin greet is already loaded, from \(project)/greet.plugin.toml"))
                #expect(again.errors.contains("`trestle plugin reload greet`"))
            }
            let foreign = try prefix.trestle(["plugin", "uninstall", "greet"])
            #expect(foreign.end == .exited(1) && foreign.errors.contains("`trestle plugin unload greet`"))

            let installed = try prefix.trestle(["plugin", "install", project])
            #expect(installed.end == .exited(0), "\(installed.errors)")
            let plugins = try daemon.connect().result("bridge.plugins")["plugins"]?.arrayValue ?? []
            let paths = plugins.filter { $0["name"] == "greet" && $0["state"] == "running" }.map { $0["path"] }
            #expect(paths == [.string("\(prefix.localPlugins)/greet/greet.plugin.toml")])
            // A plugin that loads at the next start as well gets no note.
            let known = try prefix.trestle(["plugin", "unload", "greet"])
            #expect(known.end == .exited(0), "\(known.errors)")
            let path = prefix.localPlugins + "/greet/greet.plugin.toml"
            let back = try prefix.trestle(["plugin", "load", path])
            #expect(back.end == .exited(0) && !back.errors.contains("note:"), "\(back.errors)")
        }
    }

    @Test("A refused plugin is listed by name and can be reloaded after a fix")
    func refused() throws {
        let prefix = try InstalledPrefix()
        let project = try prefix.newPlugin("python")
        let directory = prefix.localPlugins
        let copied = try prefix.trestle(["plugin", "install", project, "--directory", directory])
        #expect(copied.end == .exited(0) && copied.output.contains("\(directory)/greet/"), "\(copied.errors)")
        try edit(directory + "/greet/greet.plugin.toml", "command", "comand")
        try withDaemon(in: prefix.home) { daemon in
            let client = try daemon.connect()
            let plugin = try client.result("bridge.plugins")["plugins"]?.arrayValue?.first { $0["name"] == "greet" }
            #expect(plugin?["state"] == "refused", "\(plugin ?? nil)")
            let again = try prefix.trestle(["plugin", "reload", "greet"])
            #expect(again.end == .exited(1) && again.errors.contains("comand"), "\(again.errors)")
            try edit(directory + "/greet/greet.plugin.toml", "comand", "command")
            let fixed = try prefix.trestle(["plugin", "reload", "greet"])
            #expect(fixed.end == .exited(0), "\(fixed.errors)")
            #expect(try client.result("greet", ["who": "World"]) == ["greeting": "Hello, World"])
            let states = try client.result("bridge.plugins")["plugins"]?.arrayValue?.map { $0["state"] }
            #expect(states == ["running", "running"])
        }
        let removed = try prefix.trestle(["plugin", "uninstall", "greet", "--directory", directory])
        #expect(removed.end == .exited(0), "\(removed.errors)")
        #expect(try names(in: prefix) == [])
    }

    @Test("uninstall refuses plugins that it did not install, and warns about sections left in the configuration")
    func uninstalling() throws {
        let prefix = try InstalledPrefix()
        let project = try prefix.newPlugin("python")
        try prefix.home.write(
            configuration: "local_plugin_dir = \"\(prefix.file("own"))\"\n[plugins.greet]\npool = { max = 2 }\n")
        let directory = prefix.file("own")
        _ = try prefix.trestle(["plugin", "install", project, "--directory", directory])
        try withDaemon(in: prefix.home) { _ in
            for name in ["echo", "gret", "..", "."] {
                let refused = try prefix.trestle(["plugin", "uninstall", name])
                #expect(refused.end != .exited(0) && refused.errors.count > 40, "\(name): \(refused.errors)")
            }
            #expect(exists(directory + "/greet/greet.plugin.toml"))
            let removed = try prefix.trestle(["plugin", "uninstall", "greet"])
            #expect(removed.end == .exited(0) && removed.errors.contains("[plugins.greet]"), "\(removed.errors)")
            #expect(!exists(directory + "/greet"))
        }
    }

    @Test("A plugin_dir without the daemon's own plugins is logged, and install requires local_plugin_dir")
    func pluginDirectory() throws {
        let prefix = try InstalledPrefix()
        let empty = try TemporaryFolder()
        try prefix.home.write(configuration: "plugin_dir = \"\(empty.path)\"\n")
        let warning = "the plugins that came with the daemon, in \(prefix.file("lib/trestle/plugins")), are not loaded"
        try withDaemon(in: prefix.home) { daemon in
            try daemon.awaitLog(warning, daemon.connect())
            let project = try prefix.newPlugin("sh")
            let refused = try prefix.trestle(["plugin", "install", project])
            #expect(refused.end == .exited(1) && refused.errors.contains("local_plugin_dir"), "\(refused.errors)")
        }
        let both = "plugin_dir = [\"\(empty.path)\", \"\(prefix.file("lib/trestle/plugins"))\"]\n"
        try prefix.home.write(configuration: both)
        try withDaemon(in: prefix.home) { daemon throws in
            #expect(try daemon.connect().result("Echo", 1) == 1)
        }
        let file = prefix.home.folder.file("trestled.toml")
        let checked = try run(prefix.file("bin/trestled"), ["--check-config", "--config", file])
        #expect(checked.end == .exited(0) && !checked.errors.contains(warning), "\(checked.errors)")
    }

    @Test(
        "Root builds a project as its owner", .enabled(if: geteuid() == 0, "only root builds as somebody else"))
    func buildsAsOwner() throws {
        let prefix = try InstalledPrefix()
        let project = try prefix.newPlugin("sh")
        try edit(project + "/Makefile", "all: ;", "all: ; id -u >builder; id -G >>builder; echo $$HOME >>builder")
        _ = try run("/bin/chown", ["-R", "65534:65534", project])
        let checked = try prefix.trestle(["plugin", "install", project, "--directory", prefix.localPlugins])
        #expect(checked.end == .exited(0), "\(checked.errors)")
        let builder = contents(of: project + "/builder").split(separator: "\n")
        #expect(builder.prefix(2) == ["65534", "65534"] && builder.last != "/root", "\(builder)")
        var status = stat()
        #expect(lstat(prefix.localPlugins + "/greet/greet.sh", &status) == 0 && status.st_uid == 0)
    }
}
