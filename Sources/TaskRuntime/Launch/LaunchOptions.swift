/// The start options of the daemon, for plugins.
public struct LaunchOptions: Sendable, Equatable {
    /// The command line, beginning with the program's name.
    public var arguments: [String]
    /// The directory of the daemon's persistent state.
    public var stateDirectory: String

    /// Creates the options.
    public init(arguments: [String], stateDirectory: String) {
        self.arguments = arguments
        self.stateDirectory = stateDirectory
    }
}
