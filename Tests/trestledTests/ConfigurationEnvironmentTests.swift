import Testing

@testable import trestled

@Suite("Default paths")
struct ConfigurationEnvironmentTests {
    @Test(
        "The socket is in systemd's runtime directory, else root's, else the session's, else in /tmp",
        arguments: [
            (["RUNTIME_DIRECTORY": "/run/x:/run/y", "XDG_RUNTIME_DIR": "/run/user/1"], 0, "/run/x/bridge.sock"),
            (["RUNTIME_DIRECTORY": "/run/x"], 1000, "/run/x/bridge.sock"),
            (["XDG_RUNTIME_DIR": "/run/user/0"], 0, "/run/trestle/bridge.sock"),
            (["RUNTIME_DIRECTORY": "", "XDG_RUNTIME_DIR": "/run/user/1"], 1, "/run/user/1/trestle/bridge.sock"),
            (["XDG_RUNTIME_DIR": ""], 1000, "/tmp/trestle-1000/bridge.sock"),
            ([:], 1000, "/tmp/trestle-1000/bridge.sock"),
        ])
    func socket(variables: [String: String], user: UInt32, path: String) {
        #expect(environment(variables, userID: user).defaultSocketPath == path)
    }

    @Test(
        "The state is in systemd's directory, else root's, else the user's",
        arguments: [
            (["STATE_DIRECTORY": "/var/lib/a:/var/lib/b"], 1000, "/var/lib/a"),
            (["XDG_STATE_HOME": "/s"], 0, "/var/lib/trestle"),
            (["XDG_STATE_HOME": "/s"], 1000, "/s/trestle"),
            (["XDG_STATE_HOME": "relative"], 1000, "/home/ada/.local/state/trestle"),
            ([:], 1000, "/home/ada/.local/state/trestle"),
        ])
    func state(variables: [String: String], user: UInt32, path: String) {
        #expect(environment(variables, userID: user).defaultStateDirectory == path)
    }

    @Test(
        "The configuration file is in systemd's directory, else root's, else the user's",
        arguments: [
            (["CONFIGURATION_DIRECTORY": "/etc/x", "XDG_CONFIG_HOME": "/c"], 1000, "/etc/x/trestled.toml"),
            (["XDG_CONFIG_HOME": "/c"], 0, "/etc/trestle/trestled.toml"),
            (["XDG_CONFIG_HOME": "/c"], 1000, "/c/trestle/trestled.toml"),
            ([:], 1000, "/home/ada/.config/trestle/trestled.toml"),
        ])
    func file(variables: [String: String], user: UInt32, path: String) {
        #expect(environment(variables, userID: user).defaultConfigurationFile == path)
    }

    @Test("The environment of this process is complete")
    func current() {
        let current = ConfigurationEnvironment.current()
        #expect(current.variables["PATH"]?.isEmpty == false)
        #expect(current.homeDirectory.hasPrefix("/"))
        #expect(current.workingDirectory.hasPrefix("/"))
    }
}
