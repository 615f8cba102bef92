public import BridgeJSON

/// What a plugin's process is started with.
public struct PluginProcessCommand: Sendable, Equatable {
    /// What it may use; nil: as much as the daemon may.
    public struct Limits: Sendable, Equatable {
        /// Its address space, in bytes.
        public var memoryBytes: UInt64?
        /// Files and sockets that are open.
        public var descriptors: UInt64?
        /// Processes of its user.
        public var processes: UInt64?

        /// Limits.
        public init(memoryBytes: UInt64? = nil, descriptors: UInt64? = 256, processes: UInt64? = nil) {
            self.memoryBytes = memoryBytes
            self.descriptors = descriptors
            self.processes = processes
        }
    }

    /// The file that the plugin is known by: its manifest, or its library.
    public var path: String
    /// The plugin's name, where the file has it; else the process says it.
    public var name: String?
    /// The program and its arguments.
    public var arguments: [String]
    /// What its environment has besides what every process's has.
    public var environment: [String: String]
    /// Where it starts.
    public var directory: String
    /// What it may use.
    public var limits: Limits
    /// Its processes; nil: it has one, for all calls.
    public var pool: PoolSettings?
    /// What the file says of the plugin, as a manifest does; an object.
    public var manifest: JSON

    /// A command.
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
