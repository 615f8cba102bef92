// The default paths, which depend on the user that runs the daemon.
import Glibc

/// The part of the process's environment that determines the defaults. A parameter, so that tests need not change their
/// own environment.
struct ConfigurationEnvironment: Sendable {
    var variables: [String: String]
    var userID: UInt32
    /// The user's home directory.
    var homeDirectory: String
    /// The directory to which relative paths of flags refer.
    var workingDirectory: String

    /// Returns the environment of this process. Must be called at launch, before other threads can change it.
    static func current() -> ConfigurationEnvironment {
        var variables: [String: String] = [:]
        // `environ` is null-terminated, and valid until the environment changes.
        var next = environ
        while let entry = next.pointee {
            let text = String(cString: entry)
            if let equals = text.firstIndex(of: "=") {
                variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
            next += 1
        }
        let user = getpwuid(getuid())
        let home = variables["HOME"] ?? user.map { String(cString: $0.pointee.pw_dir) }
        let directory = getcwd(nil, 0)
        defer { free(directory) }
        return ConfigurationEnvironment(
            variables: variables, userID: geteuid(), homeDirectory: home ?? "/",
            workingDirectory: directory.map { String(cString: $0) } ?? "/")
    }

    /// The path of `bridge.sock`: in systemd's runtime directory, else in the usual directory of this user's sockets.
    var defaultSocketPath: String {
        let directory: String
        if let given = directories("RUNTIME_DIRECTORY") {
            directory = given
        } else if isRoot {
            directory = "/run/trestle"
        } else if let given = base("XDG_RUNTIME_DIR") {
            directory = given + "/trestle"
        } else {
            directory = "/tmp/trestle-\(userID)"
        }
        return directory + "/bridge.sock"
    }

    /// systemd's state directory, else the usual directory of this user's state.
    var defaultStateDirectory: String {
        if let given = directories("STATE_DIRECTORY") { return given }
        if isRoot { return "/var/lib/trestle" }
        return (base("XDG_STATE_HOME") ?? homeDirectory + "/.local/state") + "/trestle"
    }

    /// The default configuration file.
    var defaultConfigurationFile: String {
        let directory: String
        if let given = directories("CONFIGURATION_DIRECTORY") {
            directory = given
        } else if isRoot {
            directory = "/etc/trestle"
        } else {
            directory = (base("XDG_CONFIG_HOME") ?? homeDirectory + "/.config") + "/trestle"
        }
        return directory + "/trestled.toml"
    }

    /// The default directory of policy rules: beside the configuration file.
    var defaultPolicyDirectory: String { defaultConfigurationFile.parentFolder + "/policy.d" }

    /// The directory of plugins that a user installs for their own daemon; `nil` for a system-wide daemon.
    var ownPluginDirectory: String? {
        guard !isRoot, directories("STATE_DIRECTORY") == nil else { return nil }
        return (base("XDG_DATA_HOME") ?? homeDirectory + "/.local/share") + "/trestle/plugins"
    }

    private var isRoot: Bool { userID == 0 }

    /// Returns the first of the directories in a variable of systemd, which are separated by colons.
    private func directories(_ variable: String) -> String? {
        variables[variable]?.split(separator: ":").first.map(String.init)
    }

    /// Returns the base directory of an XDG variable. A path that is not absolute is ignored, as the specification
    /// requires.
    private func base(_ variable: String) -> String? {
        variables[variable].flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
}
