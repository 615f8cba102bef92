import Testing

@testable import trestled

@Suite("The search for plugin libraries")
struct ConfigurationPluginSearchTests {
    private func withFiles(_ files: [String], _ body: (_ root: String) throws -> Void) throws {
        try trestledTests.withFiles(Dictionary(uniqueKeysWithValues: files.map { ($0, "") }), body)
    }

    @Test("uses the directory plugins beside the executable first")
    func besideExecutable() throws {
        try withFiles(["bin/trestled", "bin/plugins/b.so", "bin/plugins/a.so", "bin/libXPlugin.so"]) { root in
            let libraries = try PluginSearch.beside(executable: root + "/bin/trestled").libraries()
            #expect(libraries == ["\(root)/bin/plugins/a.so", "\(root)/bin/plugins/b.so"])
        }
    }

    @Test("uses lib/trestle/plugins of the installation next, also if plugins contains no library")
    func installation() throws {
        try withFiles(["bin/plugins/README", "lib/trestle/plugins/a.so"]) { root in
            let libraries = try PluginSearch.beside(executable: root + "/bin/trestled").libraries()
            #expect(libraries == ["\(root)/bin/../lib/trestle/plugins/a.so"])
        }
    }

    @Test("uses the executable's own directory last, where only the names of plugins count")
    func buildFolder() throws {
        let files = ["libEchoPlugin.so", "libTaskKit.so", "libEchoPlugin.so.d", "EchoPlugin.so", "libAlertPlugin.so"]
        try withFiles(files) { root in
            let libraries = try PluginSearch.beside(executable: root + "/trestled").libraries()
            #expect(libraries == ["\(root)/libAlertPlugin.so", "\(root)/libEchoPlugin.so"])
        }
    }

    @Test("finds no plugins if none of them exists, without an error")
    func none() throws {
        #expect(try PluginSearch.beside(executable: "/nowhere/trestled").libraries().isEmpty)
    }

    @Test("uses all libraries of named directories in order, and none beside the executable")
    func named() throws {
        try withFiles(["z/b.so", "z/.hidden.so", "z/notes.txt", "a/a.so", "bin/libXPlugin.so"]) { root in
            var search = PluginSearch.beside(executable: root + "/bin/trestled")
            search.named = ["\(root)/z", "\(root)/a"]
            let libraries = try search.libraries()
            #expect(libraries == ["\(root)/z/b.so", "\(root)/a/a.so"])
        }
    }

    @Test("lists the plugins of local directories and their folders after the daemon's own")
    func local() throws {
        let files = [
            "bin/trestled", "lib/trestle/plugins/a.so", "lib/trestle/local-plugins/z.so",
            "lib/trestle/local-plugins/Greet/libGreetPlugin.so", "lib/trestle/local-plugins/.Greet.x/libGreetPlugin.so",
            "lib/trestle/local-plugins/scan/scan.plugin.toml", "lib/trestle/local-plugins/scan/speedups.so",
            "lib/trestle/local-plugins/scan/deep/other.plugin.toml", "own/b.so",
        ]
        try withFiles(files) { root in
            let search = PluginSearch.beside(executable: root + "/bin/trestled", ownLocal: root + "/own")
            let local = "\(root)/lib/trestle/local-plugins"
            let libraries = try search.libraries()
            #expect(
                libraries == [
                    "\(root)/bin/../lib/trestle/plugins/a.so", "\(root)/own/b.so", "\(local)/z.so",
                    "\(local)/Greet/libGreetPlugin.so", "\(local)/scan/scan.plugin.toml",
                ])
        }
    }

    @Test("uses /usr/local for an installation in /usr, and a directory of the user for a user's own daemon")
    func localDirectories() {
        #expect(
            PluginSearch.beside(executable: "/usr/bin/trestled").local == ["/usr/local/lib/trestle/local-plugins"])
        #expect(
            PluginSearch.beside(executable: "/opt/x/bin/trestled").local == ["/opt/x/lib/trestle/local-plugins"])
        #expect(environment().ownPluginDirectory == "/home/ada/.local/share/trestle/plugins")
        #expect(environment(["XDG_DATA_HOME": "/d"]).ownPluginDirectory == "/d/trestle/plugins")
        #expect(environment(["STATE_DIRECTORY": "/var/lib/trestle"]).ownPluginDirectory == nil)
        #expect(environment(userID: 0).ownPluginDirectory == nil)
    }

    @Test("uses only named local directories if plugin_dir is named")
    func localBesideNamed() throws {
        try withFiles(["a/a.so", "lib/trestle/local-plugins/b.so", "c/c.so"]) { root in
            var search = PluginSearch.beside(executable: root + "/bin/trestled")
            search.named = ["\(root)/a"]
            var libraries = try search.libraries()
            #expect(libraries == ["\(root)/a/a.so"])
            search.local = ["\(root)/c", "\(root)/nowhere"]
            libraries = try search.libraries()
            #expect(libraries == ["\(root)/a/a.so", "\(root)/c/c.so"])
            search.local = ["\(root)/a/a.so"]
            let failure = #expect(throws: PluginSearch.Failure.self) { try search.libraries() }
            #expect(failure?.key == "local_plugin_dir" && failure?.index == 0)
        }
    }

    @Test("reports a named directory that cannot be read with its index in the list")
    func namedAndAbsent() throws {
        try withFiles(["a/a.so"]) { root in
            var search = PluginSearch.beside(executable: "/nowhere/trestled")
            search.named = ["\(root)/a", "/nowhere"]
            let failure = #expect(throws: PluginSearch.Failure.self) { try search.libraries() }
            let reason = "the directory /nowhere cannot be read: No such file or directory"
            #expect(failure == PluginSearch.Failure(index: 1, reason: reason))
        }
    }
}
