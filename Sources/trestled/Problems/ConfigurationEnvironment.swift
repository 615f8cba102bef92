// Where things are by default, given who runs the daemon.
import Glibc

/// What of the process's surroundings decides defaults. Handed in, so that tests need not change their own.
struct ConfigurationEnvironment: Sendable {
    var variables: [String: String]
    var userID: UInt32
    /// The user's home directory.
    var homeDirectory: String
    /// Where relative paths of flags begin.
    var workingDirectory: String

    /// The surroundings of this process. At launch, before other threads may change them.
    static func current() -> ConfigurationEnvironment {
        var variables: [String: String] = [:]
        // `environ` is null-terminated and valid as long as the environment is not changed meanwhile.
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

    /// `bridge.sock`, in systemd's runtime directory or where this user's sockets belong.
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

    /// systemd's state directory, or where this user's state belongs.
    var defaultStateDirectory: String {
        if let given = directories("STATE_DIRECTORY") { return given }
        if isRoot { return "/var/lib/trestle" }
        return (base("XDG_STATE_HOME") ?? homeDirectory + "/.local/state") + "/trestle"
    }

    /// The configuration file where none is named.
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

    /// The directory of rules where none is named: beside the configuration file.
    var defaultPolicyDirectory: String { defaultConfigurationFile.parentFolder + "/policy.d" }

    /// Where a user installs plugins for that user's own daemon; nil: this is the machine's.
    var ownPluginDirectory: String? {
        guard !isRoot, directories("STATE_DIRECTORY") == nil else { return nil }
        return (base("XDG_DATA_HOME") ?? homeDirectory + "/.local/share") + "/trestle/plugins"
    }

    private var isRoot: Bool { userID == 0 }

    /// The first of the directories that systemd names in a variable, separated by colons.
    private func directories(_ variable: String) -> String? {
        variables[variable]?.split(separator: ":").first.map(String.init)
    }

    /// A base directory by its XDG variable; one that is not absolute does not count, as that specification says.
    private func base(_ variable: String) -> String? {
        variables[variable].flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
}
