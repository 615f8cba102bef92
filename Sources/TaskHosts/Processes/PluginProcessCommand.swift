public import BridgeJSON

/// The command that starts a plugin's process.
public struct PluginProcessCommand: Sendable, Equatable {
    /// The resource limits of the process; `nil` for the daemon's own limit.
    public struct Limits: Sendable, Equatable {
        /// The maximum address space, in bytes.
        public var memoryBytes: UInt64?
        /// The maximum number of open files and sockets.
        public var descriptors: UInt64?
        /// The maximum number of processes of its user.
        public var processes: UInt64?

        /// Creates limits.
        public init(memoryBytes: UInt64? = nil, descriptors: UInt64? = 256, processes: UInt64? = nil) {
            self.memoryBytes = memoryBytes
            self.descriptors = descriptors
            self.processes = processes
        }
    }

    /// The file that identifies the plugin: its manifest or its library.
    public var path: String
    /// The plugin's name; `nil` if the file does not contain it and the process sends it.
    public var name: String?
    /// The program and its arguments.
    public var arguments: [String]
    /// The environment variables besides those of every process.
    public var environment: [String: String]
    /// The working directory.
    public var directory: String
    /// The resource limits.
    public var limits: Limits
    /// The settings of its pool; `nil` if one process gets all calls.
    public var pool: PoolSettings?
    /// The members of the manifest that the file contains; an object.
    public var manifest: JSON

    /// Creates a command.
    public init(
        path: String, name: String?, arguments: [String], environment: [String: String] = [:], directory: String,
        limits: Limits = Limits(), pool: PoolSettings? = nil, manifest: JSON = .object([:])
    ) {
        self.path = path
        self.name = name
        self.arguments = arguments
        self.environment = environment
        self.directory = directory
        self.limits = limits
        self.pool = pool
        self.manifest = manifest
    }
}
