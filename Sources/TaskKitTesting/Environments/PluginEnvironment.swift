/// Where a plugin runs while it is tested.
public enum PluginEnvironment: String, CaseIterable, Sendable, CustomStringConvertible {
    /// In the test's own process, from its own code: the daemon's runtime without a socket. Always to be had, the
    /// fastest, and the one in which a debugger sees the plugin.
    case inProcess
    /// In a process of its own: the built library, loaded by `trestle-plugin-host`, as the daemon does with plugins
    /// that did not come with it. The runtime is the test's.
    case isolated
    /// In a daemon: the built library, in a `trestled` that the test starts, or in one that runs already.
    case live

    /// All environments.
    public static let all = Self.allCases

    /// In words.
    public var description: String {
        switch self {
        case .inProcess: "in the test's process"
        case .isolated: "in a process of its own"
        case .live: "in a daemon"
        }
    }
}
