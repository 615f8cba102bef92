import Testing

@testable import trestled

@Suite("Flags override the file, and the file overrides the defaults")
struct ConfigurationLayersTests {
    private func overrides(_ values: [(key: String, text: String)]) -> ConfigurationOverrides {
        var overrides = ConfigurationOverrides()
        for (key, text) in values { overrides.set(key, text) }
        return overrides
    }

    @Test("A flag's value overrides the file's")
    func flagsBeatTheFile() throws {
        let flags = overrides([("log_level", "debug"), ("limits.sessions", "5"), ("drain_timeout", "1s")])
        let read = try configuration("log_level = \"error\"\ncall_timeout = \"9s\"", overrides: flags)
        #expect(read.logLevel == .debug)
        #expect(read.limits.sessions == 5)
        #expect(read.drainTimeout == .seconds(1))
        #expect(read.callTimeout == .seconds(9))
        #expect(read.stopTimeout == .seconds(5))
    }

    @Test("A flag that was not given changes nothing")
    func absentFlags() throws {
        var overrides = ConfigurationOverrides()
        overrides.set("socket", nil)
        overrides.set("plugin_dir", [])
        #expect(try configuration("socket = \"/a\"", overrides: overrides).socketPath == "/a")
    }

    @Test("Relative paths of flags start at the working directory, and a repeated flag makes a list")
    func paths() throws {
        var overrides = ConfigurationOverrides()
        overrides.set("socket", "run/s")
        overrides.set("state_dir", "/state")
        overrides.set("plugin_dir", ["p", "/q"])
        let read = try configuration("", overrides: overrides)
        #expect(read.socketPath == "/base/run/s")
        #expect(read.stateDirectory == "/state")
        #expect(read.pluginSearch.named == ["/base/p", "/q"])
    }

    @Test("Paths become absolute and lose redundant parts, also the path of the rules")
    func wholePaths() {
        for (path, whole) in [
            ("t.toml", "/base/t.toml"), ("./t.toml", "/base/t.toml"), ("a/.//t.toml", "/base/a/t.toml"),
            ("../t.toml", "/base/../t.toml"), ("/etc//./t.toml", "/etc/t.toml"), (".", "/base"),
        ] {
            #expect(path.wholePath(from: "/base") == whole)
        }
        for (file, rules) in [
            ("t.toml", "/base/policy.d"), ("./c/t.toml", "/base/c/policy.d"), ("/t.toml", "/policy.d"),
        ] {
            let source = ConfigurationSource(
                file: file, overrides: ConfigurationOverrides(), environment: environment(),
                executable: "/opt/trestle/bin/trestled")
            #expect(source.defaults.policyDirectory == rules)
        }
    }

    @Test("A flag's size may be a number or have a unit")
    func sizes() throws {
        #expect(
            try configuration("", overrides: overrides([("limits.unread_bytes", "8192")])).limits.unreadBytes == 8_192)
        #expect(
            try configuration("", overrides: overrides([("limits.unread_bytes", "8KiB")])).limits.unreadBytes == 8_192)
    }

    @Test("An invalid flag is reported by its name, together with the mistakes in the file")
    func wrongFlags() throws {
        let flags = overrides([("log_level", "loud"), ("limits.sessions", "many"), ("sockt", "/x"), ("socket", "")])
        let lines = try refusals("nothing = 1", overrides: flags)
        #expect(lines.count == 5)
        #expect(lines.first?.hasPrefix("t.toml:1:1: nothing: unknown key") == true)
        #expect(lines.contains { $0.hasPrefix("--log-level: expected one of \"error\", ") })
        #expect(
            lines.contains(
                "--limits-sessions: expected a number of sessions from 1 to 1000000; got the string \"many\""))
        #expect(
            lines.contains { $0.hasPrefix("--sockt: there is no setting 'sockt'; did you mean 'socket'? (known: ") })
        #expect(lines.contains("--socket: expected an absolute path as a string; got the string \"\""))
    }

    @Test("A later problem is reported with the origin of the setting")
    func laterProblems() throws {
        var flags = overrides([("state_dir", "/x")])
        flags.set("plugin_dir", "/y", flag: "-p")
        let read = try configuration("\nsocket = \"/a\"\n[plugins]\ndisabled = [\"a\",\n\"b\"]\n", overrides: flags)
        #expect(read.problem(with: "socket", "it is in use").description == "t.toml:2:10: socket: it is in use")
        #expect(
            read.problem(with: "plugins.disabled", index: 1, "unknown").description
                == "t.toml:5:1: plugins.disabled[1]: unknown")
        #expect(read.problem(with: "state_dir", "it is full").description == "--state-dir: it is full")
        #expect(read.problem(with: "plugin_dir", index: 0, "gone").description == "-p: gone")
        #expect(
            read.problem(with: "limits.sessions", "too many").description
                == "the default configuration: limits.sessions: too many")
    }
}

@Suite("The configuration file that is read")
struct ConfigurationFileTests {
    private func load(_ file: String?, _ variables: [String: String] = [:]) throws(ConfigurationErrors) -> Configuration
    {
        try ConfigurationSource(
            file: file, environment: environment(variables), executable: "/opt/trestle/bin/trestled"
        )
        .load()
    }

    @Test("A named file that does not exist is an error")
    func namedAndAbsent() {
        let errors = #expect(throws: ConfigurationErrors.self) { try load("/nowhere/t.toml") }
        #expect(errors?.description == "/nowhere/t.toml: cannot be read: No such file or directory")
    }

    @Test("A missing default file is accepted")
    func defaultAndAbsent() throws {
        let read = try load(nil, ["CONFIGURATION_DIRECTORY": "/nowhere"])
        #expect(read.file == nil)
        var defaults = Configuration(environment: environment(), executable: "/opt/trestle/bin/trestled")
        // The folder of rules is beside the missing file.
        defaults.policyDirectory = "/nowhere/policy.d"
        defaults.policy.publicGroup = AccountNames.system.gid("trestle")
        #expect(read == defaults)
    }

    @Test("An existing default file is read, and so is a named file")
    func present() throws {
        try withFiles(["trestled.toml": "log_level = \"info\"\n"]) { directory in
            let read = try load(nil, ["CONFIGURATION_DIRECTORY": directory])
            #expect(read.logLevel == .info)
            #expect(read.file == directory + "/trestled.toml")
            #expect(try load(directory + "/trestled.toml").logLevel == .info)
        }
    }

    @Test("A file that is not TOML or cannot be read is an error")
    func defaultAndWrong() throws {
        try withFiles(["trestled.toml": "a = \n"]) { directory in
            let errors = #expect(throws: ConfigurationErrors.self) {
                try load(nil, ["CONFIGURATION_DIRECTORY": directory])
            }
            #expect(errors?.description.hasPrefix(directory + "/trestled.toml:1:") == true)
        }
        let errors = #expect(throws: ConfigurationErrors.self) { try load("/") }
        #expect(errors?.description == "/: cannot be read: Is a directory")
    }
}
