/// How the daemon was started, as plugin processes see it.
public struct LaunchOptions: Sendable, Equatable {
    /// The command line, the program's name first.
    public var arguments: [String]
    /// Where the daemon keeps what must outlive it.
    public var stateDirectory: String

    /// Options.
    public init(arguments: [String], stateDirectory: String) {
        self.arguments = arguments
        self.stateDirectory = stateDirectory
    }
}
