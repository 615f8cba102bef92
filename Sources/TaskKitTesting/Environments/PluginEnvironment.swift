/// The environment in which a plugin runs during a test.
public enum PluginEnvironment: String, CaseIterable, Sendable, CustomStringConvertible {
    /// In the test's own process, from its own code, with the daemon's runtime but without a socket. Always available
    /// and the fastest; a debugger can inspect the plugin.
    case inProcess
    /// In a plugin process: `trestle-plugin-host` loads the built library, as the daemon does for plugins that are not
    /// part of its installation. The runtime runs in the test's process.
    case isolated
    /// In a daemon: the built library, in a `trestled` that the test starts, or in one that is already running.
    case live

    /// All environments.
    public static let all = Self.allCases

    /// The environment in words.
    public var description: String {
        switch self {
        case .inProcess: "in the test's process"
        case .isolated: "in a process of its own"
        case .live: "in a daemon"
        }
    }
}
